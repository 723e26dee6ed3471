import { UTC, type Zone } from '../../time.ts'
import { type LineFormat, type RecordFields, recordText, skipAnsi, unparsed } from '../format.ts'
import { LEVELS, levelAt } from '../read/level.ts'
import { isDigit, isStamp, readClock, readStamp, two } from '../read/stamp.ts'
import { yearsBefore } from './glog.ts'

/**
 * A timestamp, then a level word: PostgreSQL, MySQL, Redis, Elasticsearch, ClickHouse, TiDB, Cassandra, log4j,
 * Python, nginx, syslog and most of what is left. The timestamp stands at the line's start, or behind what `lead`
 * knows; days without a year are judged by `reference`.
 */
export function stampedLines(reference: number): LineFormat {
  const years = yearsBefore(reference)
  const format: LineFormat = {
    name: 'stamped',
    timed: true,
    leveled: true,
    starts: (bytes, from, to) => stampAt(bytes, from, to, UTC, years) !== null,
    time: (bytes, from, to, zone) => stampAt(bytes, from, to, zone, years)?.epoch ?? Number.NaN,
    level: (bytes, from, to) => {
      const stamp = stampAt(bytes, from, to, UTC, years)
      return stamp ? levelIn(bytes, from, to, stamp) : -1
    },
    fields: (text, zone) => stampedFields(text, zone, years),
  }
  return format
}

type Years = ReturnType<typeof yearsBefore>

interface Found {
  epoch: number
  /** Where the timestamp begins and ends. */
  at: number
  end: number
}

function stampAt(bytes: Uint8Array, from: number, to: number, zone: Zone, years: Years): Found | null {
  const at = lead(bytes, from, to)
  if (at < 0) return null
  const stamp = readStamp(bytes, at, to, zone)
  if (stamp) return { epoch: stamp.epoch, at, end: stamp.end }
  return namedMonth(bytes, at, to, zone, years)
}

/** Where the timestamp of a line must begin, or -1. */
function lead(bytes: Uint8Array, from: number, to: number): number {
  let at = skipAnsi(bytes, from, to)
  const first = bytes[at]!
  if (isDigit(first)) {
    if (isStamp(bytes, at, to)) return at
    // Redis: `1234:M 15 Nov 2026 02:10:00.123 * …`
    let end = at
    while (end < to && isDigit(bytes[end]!)) end++
    if (bytes[end] === 0x3a && bytes[end + 2] === 0x20 && end + 3 < to) return end + 3
    return accessLog(bytes, at, to)
  }
  // `[2026-…]`
  if (first === 0x5b) return skipAnsi(bytes, at + 1, to)
  if (first === 0x3c) {
    // RFC 5424 and 3164: `<34>1 2026-…`, `<34>Nov 15 …`
    const limit = Math.min(to, at + 6)
    while (at < limit && bytes[at] !== 0x3e) at++
    if (bytes[at] !== 0x3e) return -1
    return bytes[at + 1] === 0x31 && bytes[at + 2] === 0x20 ? at + 3 : at + 1
  }
  // MySQL's slow log: `# Time: 2026-…`
  if (first === 0x23) return startsWith(bytes, at, to, '# Time: ') ? at + 8 : -1
  // Cassandra: `INFO  [main] 2026-… `; Ruby: `I, [2026-… #1]  INFO -- : `
  if (bytes[at + 1] === 0x2c && bytes[at + 2] === 0x20 && bytes[at + 3] === 0x5b) return at + 4
  if (levelAt(bytes, at, to) < 0) return at
  const limit = Math.min(to - 19, at + 120)
  for (let next = at + 3; next <= limit; next++)
    if (bytes[next + 4] === 0x2d && isStamp(bytes, next, to) && !isDigit(bytes[next - 1]!)) return next
  return -1
}

/** `1.2.3.4 - - [15/Nov/2026:02:10:00 +0000] "GET …`: the offset of its day. */
function accessLog(bytes: Uint8Array, from: number, to: number): number {
  const limit = Math.min(to - 20, from + 200)
  for (let at = from; at < limit; at++)
    if (bytes[at] === 0x5b) return bytes[at + 3] === 0x2f && bytes[at + 7] === 0x2f ? at + 1 : -1
  return -1
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `Nov 15 02:10:00` (syslog), `15 Nov 2026 02:10:00.123` (Redis), `15/Nov/2026:02:10:00 +0000` (access logs). */
function namedMonth(bytes: Uint8Array, at: number, to: number, zone: Zone, years: Years): Found | null {
  if (to - at < 15) return null
  if (!isDigit(bytes[at]!)) {
    const month = monthAt(bytes, at)
    if (month === 0 || bytes[at + 3] !== 0x20) return null
    const day = dayAt(bytes, at + 4)
    const clock = bytes[at + 6] === 0x20 ? readClock(bytes, at + 7, to) : null
    if (!clock || day === 0) return null
    const { h, min, s, ms } = clock
    const epoch = years(month, day, (year) => zone.toEpoch(year, month, day, h, min, s, ms))
    return { epoch, at, end: clock.end }
  }
  const separator = bytes[at + 2]
  if ((separator !== 0x20 && separator !== 0x2f) || bytes[at + 6] !== separator || to - at < 20) return null
  const month = monthAt(bytes, at + 3)
  const clock = readClock(bytes, at + 12, to)
  if (month === 0 || !clock) return null
  const { h, min, s, ms, end } = clock
  const year = two(bytes, at + 7) * 100 + two(bytes, at + 9)
  const offset = separator === 0x2f ? offsetAt(bytes, end, to) : null
  const epoch = (offset === null ? zone : UTC).toEpoch(year, month, dayAt(bytes, at), h, min, s, ms)
  return { epoch: epoch - (offset ?? 0), at, end: offset === null ? end : end + 6 }
}

function monthAt(bytes: Uint8Array, at: number): number {
  const name = String.fromCharCode(bytes[at]! | 32, bytes[at + 1]! | 32, bytes[at + 2]! | 32)
  return MONTHS.indexOf(name) + 1
}

function dayAt(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at + 1]!)) return 0
  return isDigit(bytes[at]!) ? two(bytes, at) : bytes[at] === 0x20 ? bytes[at + 1]! - 0x30 : 0
}

function offsetAt(bytes: Uint8Array, at: number, to: number): number | null {
  const sign = bytes[at + 1]
  if (to - at < 6 || bytes[at] !== 0x20 || (sign !== 0x2b && sign !== 0x2d)) return null
  const size = (two(bytes, at + 2) * 60 + two(bytes, at + 4)) * 60_000
  return sign === 0x2d ? -size : size
}

/** Redis marks levels with a character: debug, verbose, notice, warning. */
const MARKS = new Map([
  [0x2e, 0],
  [0x2d, 0],
  [0x2a, 1],
  [0x23, 2],
])

function levelIn(bytes: Uint8Array, from: number, to: number, stamp: Found): number {
  const start = skipAnsi(bytes, from, to)
  if (stamp.at > start) {
    // Before the timestamp: Cassandra's word, Ruby's letter, syslog's number, Redis' role.
    const before = levelAt(bytes, start, stamp.at)
    if (before >= 0) return before
    if (bytes[start] === 0x3c) return priority(bytes, start, to)
    if (isDigit(bytes[start]!) && bytes[stamp.at + 2] === 0x20) return MARKS.get(bytes[stamp.end + 1]!) ?? -1
  }
  return wordAfter(bytes, stamp.end, to)
}

function priority(bytes: Uint8Array, start: number, to: number): number {
  let number = 0
  for (let at = start + 1; at < to && isDigit(bytes[at]!); at++) number = number * 10 + bytes[at]! - 0x30
  const severity = number & 7
  return severity <= 2 ? 4 : severity === 3 ? 3 : severity === 4 ? 2 : severity <= 6 ? 1 : 0
}

/**
 * The first level word among the first words after the timestamp. Messages speak of errors too: a word counts
 * when it is the very first, in brackets, or all in capitals.
 */
function wordAfter(bytes: Uint8Array, from: number, to: number): number {
  const limit = Math.min(to, from + 160)
  let at = from
  for (let words = 0; words < 8 && at < limit; ) {
    at = skipAnsi(bytes, at, to)
    if (at >= limit) return -1
    if (!isWord(bytes[at]!)) {
      at++
      continue
    }
    const start = at
    let capitals = true
    while (at < to && isWord(bytes[at]!)) {
      if (bytes[at]! >= 0x61) capitals = false
      at++
    }
    // Process ids and thread numbers are no words.
    if (isDigit(bytes[start]!)) continue
    words++
    const bracket = bytes[start - 1]
    const bracketed = bracket === 0x5b || bracket === 0x3c || bracket === 0x28 || bracket === 0x7c
    if (words === 1 || capitals || bracketed) {
      const level = at - start < 3 ? -1 : levelAt(bytes, start, to)
      if (level >= 0) return level
    }
  }
  return -1
}

function isWord(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || isDigit(byte) || byte === 0x5f
}

function startsWith(bytes: Uint8Array, at: number, to: number, text: string): boolean {
  if (to - at < text.length) return false
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
  return true
}

// Every run of spaces is bounded: two of them side by side would take quadratic time on a line of spaces.
const LEVEL_WORD =
  /^[\s\-:|]{0,8}[[<(|]?\s{0,8}([A-Za-z]{3,13}\d?)\s{0,8}[\]>)|]?(?:\s{0,8}:\s|\s{0,8}[-|]\s|\s|(?=\[))/

function stampedFields(text: string, zone: Zone, years: Years): RecordFields {
  const record = recordText(text)
  const lf = record.indexOf('\n')
  const line = lf < 0 ? record : record.slice(0, lf)
  const bytes = new TextEncoder().encode(line)
  const stamp = stampAt(bytes, 0, bytes.length, zone, years)
  if (!stamp || Number.isNaN(stamp.epoch)) return unparsed(text)
  const level = LEVELS[levelIn(bytes, 0, bytes.length, stamp)]
  let message = new TextDecoder().decode(bytes.subarray(stamp.end)).replace(/^\]?[\s:]*/, '')
  const word = LEVEL_WORD.exec(message)
  if (
    word &&
    level !== undefined &&
    LEVELS[levelAt(new TextEncoder().encode(word[1]), 0, word[1]!.length)] === level
  )
    message = message.slice(word[0].length)
  const out: RecordFields = { time: zone.format(stamp.epoch), message: message.trimStart() }
  if (level !== undefined) out.level = level
  if (lf >= 0) out.message += record.slice(lf)
  return out
}
