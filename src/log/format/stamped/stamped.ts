import { BoundedMap } from '../../../kit/limits/bounded-map.ts'
import { UTC, type Zone } from '../../time.ts'
import { dayOf } from '../../wall-clock.ts'
import { decode, type LineFormat, type RecordReader, type StampReader, skipAnsi } from '../format.ts'
import { levelAt, wordMarks } from '../read/level.ts'
import { readNamed, readTai64n, readYearless } from '../read/named.ts'
import { isDigit, isPaddedStamp, isStamp, parseStamp, readStamp, type Stamp } from '../read/stamp.ts'
import { isCapital, isWordByte } from '../read/words.ts'
import { type Reference, type Years, yearsBefore } from '../read/years.ts'
import { readBy } from '../record.ts'
import { type Piece, timePieces, zoneEnd } from '../shape.ts'
import { ProgramReader } from './header.ts'
import { PROGRAMS, type Program, SYSLOG } from './programs.ts'

/**
 * A timestamp, then a level word: PostgreSQL, MySQL, Redis, Elasticsearch, ClickHouse, TiDB, Cassandra, log4j,
 * Python, nginx, syslog and most of what is left. The timestamp stands at the line's start, or behind what `lead`
 * knows; days without a year are judged by `reference`.
 */
export function stampedLines(reference: Reference): LineFormat {
  const stampAt = stampReader(yearsBefore(reference))
  const format: LineFormat = {
    name: 'stamped',
    timed: true,
    leveled: true,
    starts: (bytes, from, to) => stampAt(bytes, from, to, UTC) !== null,
    time: (bytes, from, to, zone) => stampAt(bytes, from, to, zone)?.epoch ?? Number.NaN,
    level: (bytes, from, to) => {
      const stamp = stampAt(bytes, from, to, UTC)
      return stamp ? levelIn(bytes, from, to, stamp) : -1
    },
    shape: (bytes, from, to) => {
      const stamp = stampAt(bytes, from, to, UTC)
      if (!stamp) return null
      return (bytes[from] === PRIORITY ? priorityShape : shapeOf)(bytes, from, stamp, to)
    },
    marks: stampedMarks,
    zoneName: (bytes, from, to) => {
      const at = lead(bytes, from, to)
      return at < 0 ? null : (readStamp(bytes, at, to, UTC)?.ambiguous ?? null)
    },
    ...readBy(stampedReader(stampAt)),
  }
  return format
}

function stampReader(years: Years): StampReader {
  return (bytes, from, to, zone) => {
    if (isStamp(bytes, from, to)) return parseStamp(bytes, from, to, zone)
    const at = lead(bytes, from, to)
    if (at < 0) return null
    return (
      readStamp(bytes, at, to, zone) ??
      namedAt(bytes, at, to, zone) ??
      readYearless(bytes, at, to, (month, day, clock) =>
        years(month, day, (year) => zone.toEpoch(dayOf(year, month, day), clock)),
      )
    )
  }
}

function namedAt(bytes: Uint8Array, at: number, to: number, zone: Zone): Stamp | null {
  if (bytes[at] === 0x40) return readTai64n(bytes, at, to)
  return isDigit(bytes[at]!) ? readNamed(bytes, at, to, zone) : null
}

/** `<`, with which syslog's priority begins. */
const PRIORITY = 0x3c

/** Where the timestamp of a line must begin, or -1. */
function lead(bytes: Uint8Array, from: number, to: number): number {
  let at = skipAnsi(bytes, from, to)
  const first = bytes[at]!
  if (isDigit(first)) {
    if (isStamp(bytes, at, to) || isPaddedStamp(bytes, at, to)) return at
    // Redis: `1234:M 15 Nov 2026 02:10:00.123 * …`
    let end = at
    while (end < to && isDigit(bytes[end]!)) end++
    if (bytes[end] === 0x3a && bytes[end + 2] === 0x20 && end + 3 < to) return end + 3
    return accessLog(bytes, at, to)
  }
  // `[2026-…]`
  if (first === 0x5b) return skipAnsi(bytes, at + 1, to)
  if (first === PRIORITY) {
    // RFC 5424 and 3164: `<34>1 2026-…`, `<34>Nov 15 …`
    const limit = Math.min(to, at + 6)
    while (at < limit && bytes[at] !== 0x3e) at++
    if (bytes[at] !== 0x3e) return -1
    return bytes[at + 1] === 0x31 && bytes[at + 2] === 0x20 ? at + 3 : at + 1
  }
  // Cassandra: `INFO  [main] 2026-… `; Ruby: `I, [2026-… #1]  INFO -- : `
  if (bytes[at + 1] === 0x2c && bytes[at + 2] === 0x20 && bytes[at + 3] === 0x5b) return at + 4
  if (levelAt(bytes, at, to) < 0) {
    // `::1 - - [15/Nov/…`, `www.example.org:443 10.0.0.1 - - [15/Nov/…`
    const access = accessLog(bytes, at, to)
    return access < 0 ? at : access
  }
  const limit = Math.min(to - 19, at + 120)
  for (let next = at + 3; next <= limit; next++)
    if (bytes[next + 4] === 0x2d && isStamp(bytes, next, to) && !isDigit(bytes[next - 1]!)) return next
  return -1
}

/** `1.2.3.4 - - [15/Nov/2026:02:10:00 +0000] "GET …`: the offset of its day, or -1. */
function accessLog(bytes: Uint8Array, from: number, to: number): number {
  const limit = Math.min(to - 20, from + 200)
  for (let at = from; at < limit; at++)
    if (bytes[at] === 0x5b) return bytes[at + 3] === 0x2f && bytes[at + 7] === 0x2f ? at + 1 : -1
  return -1
}

/** Redis marks levels with a character: debug, verbose, notice, warning. */
const MARKS = new Map([
  [0x2e, 0],
  [0x2d, 0],
  [0x2a, 1],
  [0x23, 2],
])

function levelIn(bytes: Uint8Array, from: number, to: number, stamp: Stamp): number {
  return levelBefore(bytes, from, stamp) ?? wordAfter(bytes, stamp.end, to)
}

/** How far behind the time a level may be in a line whose pieces are told apart, and how long a number may be there. */
const NEAR = 80
const LONGEST_NUMBER = 20

/** The pieces of a line up to the level behind its time, or to its end if it has none. */
function shapeOf(bytes: Uint8Array, from: number, stamp: Stamp, to: number): Piece[] | null {
  const { at: start, end } = stamp
  const time = timePieces(bytes, start, end)
  const isDated = isStamp(bytes, start, to) || isPaddedStamp(bytes, start, to)
  // Before a time may be its bracket and colours.
  const isLed = isDated && (bytes[from] === 0x5b || bytes[from] === 0x1b)
  if (!time || (start > from && !isLed) || levelBefore(bytes, from, stamp) !== null) return null
  const pieces: Piece[] = [...(start > from ? [{ as: 'same' as const, to: start }] : []), ...time]
  const zone = Math.max(end, zoneEnd(bytes, time[1].to, to))
  const level = wordAfter(bytes, end, to)
  if (level < 0) {
    // The time ends here, in other lines too.
    const rest = isDated ? zone : end + 1
    return rest < to && (bytes[rest - 1] === 0x20 || bytes[rest - 1] === 0x5d)
      ? [...pieces, { as: 'same', to: rest }, { as: 'silent', to }]
      : null
  }
  const at = wordAt
  const last = wordEnd(bytes, at, to)
  if (last >= to || isWord(bytes[last]!) || !(isDated || isSyslog(bytes, end, last))) return null
  if (!isNear(bytes, end, at) || !isOpen(bytes, end, at, last)) return null
  pieces.push({ as: 'same', to: Math.max(end, Math.min(zone, at)) })
  if (zone < at) pieces.push({ as: 'numbers', to: at })
  return [...pieces, { as: 'word', at, to: last, level }]
}

/** Whether a level at bytes[at] is near enough even if all numbers before it are as long as they may be. */
function isNear(bytes: Uint8Array, from: number, at: number): boolean {
  let numbers = 0
  for (let i = from; i < at; i++) if (isDigit(bytes[i]!) && !isDigit(bytes[i - 1]!)) numbers++
  return at - from <= NEAR && at - from + LONGEST_NUMBER * numbers < LEVEL_WITHIN_BYTES
}

/** Whether the brackets before a level at bytes[at] end before it, so that the rest of the line says nothing about it. */
function isOpen(bytes: Uint8Array, from: number, at: number, last: number): boolean {
  for (let i = from; i < at; i++) {
    // Colours: `\x1b[0m`.
    const closing = bytes[i - 1] === 0x1b ? 0 : closingOf(bytes[i]!)
    if (closing === 0 || hasClosing(bytes, i, last + 1)) continue
    // A word in capitals right behind a bracket is a level, whether that ends or not.
    if (closing === 0x7d || i < at - 1 || !isCapital(bytes, at, last)) return false
  }
  return true
}

/** The pieces of a line of syslog with a priority, up to its zone: `<134>1 2026-11-15T02:10:00Z `. */
function priorityShape(bytes: Uint8Array, from: number, { at, end }: Stamp, to: number): Piece[] | null {
  const time = timePieces(bytes, at, end)
  const close = bytes.indexOf(0x3e, from)
  // Behind a zone a blank follows, so that the lines of all times end theirs in the same place.
  if (!time || !isStamp(bytes, at, to) || end === time[1].to || bytes[end] !== 0x20) return null
  return [
    { as: 'same', to: from + 1 },
    { as: 'word', at: from + 1, to: close, level: priority(bytes, from, close) },
    { as: 'same', to: at },
    ...time,
    { as: 'same', to: end + 1 },
  ]
}

function hasClosing(bytes: Uint8Array, at: number, to: number): boolean {
  const closing = bytes.indexOf(closingOf(bytes[at]!), at)
  return closing >= 0 && closing < to
}

/** Whether the first bracket of a line without a year is behind its program, and begins no time. */
function isSyslog(bytes: Uint8Array, from: number, to: number): boolean {
  const bracket = bytes.indexOf(0x5b, from)
  if (bracket < 0 || bracket + 8 > to) return false
  for (let at = bracket; at < to; at++) if (bytes[at] === 0x2f) return false
  return true
}

/** Words, syslog's priority at the beginning, and the mark of Redis' warnings. */
function stampedMarks(level: number): RegExp[] | null {
  const words = wordMarks(level)
  const redis = [...MARKS.values()].some((own) => own >= level) ? [/[0-9].#/] : []
  return words && [...words, /\n</, /[^ ]</, ...redis]
}

/** The level before the time or right after it: Cassandra's word, syslog's number, Redis' mark; null if there is none. */
function levelBefore(bytes: Uint8Array, from: number, stamp: Stamp): number | null {
  const start = skipAnsi(bytes, from, stamp.at)
  if (stamp.at <= start) return null
  const word = levelAt(bytes, start, stamp.at)
  if (word >= 0) return word
  if (bytes[start] === PRIORITY) return priority(bytes, start, stamp.at)
  return isMarked(bytes, start, stamp) ? (MARKS.get(bytes[stamp.end + 1]!) ?? -1) : null
}

/** Redis: a number and a role before the time, and a mark after it. */
function isMarked(bytes: Uint8Array, start: number, stamp: Stamp): boolean {
  return stamp.at > start && isDigit(bytes[start]!) && bytes[stamp.at + 2] === 0x20
}

function priority(bytes: Uint8Array, start: number, to: number): number {
  let number = 0
  for (let at = start + 1; at < to && isDigit(bytes[at]!); at++) number = number * 10 + bytes[at]! - 0x30
  const severity = number & 7
  return severity <= 2 ? 4 : severity === 3 ? 3 : severity === 4 ? 2 : severity <= 6 ? 1 : 0
}

/** Where the last level was that `wordAfter` found. */
let wordAt = 0

/** How far the level may be from the time, without what is in brackets, and how long that may be. */
const MAX_WORDS = 8
const LEVEL_WITHIN_BYTES = 160
const MAX_BRACKET = 512

/**
 * The first level word among the first words after the timestamp. Messages speak of errors too: a word counts when it
 * is the very first, in brackets, or all in capitals. A thread or a context in brackets counts as one word, however
 * long it is.
 */
function wordAfter(bytes: Uint8Array, from: number, to: number): number {
  let limit = Math.min(to, from + LEVEL_WITHIN_BYTES)
  let at = from
  for (let words = 0; words < MAX_WORDS && at < limit; ) {
    at = skipAnsi(bytes, at, to)
    if (at >= limit) return -1
    const close = bracketEnd(bytes, at, to)
    if (close > 0) {
      const level = bytes[at] === 0x7b ? -1 : levelInBrackets(bytes, at + 1, close)
      if (level >= 0) return level
      limit = Math.min(to, limit + close - at)
      at = close + 1
      words++
      continue
    }
    if (!isWord(bytes[at]!)) {
      at++
      continue
    }
    const start = at
    at = wordEnd(bytes, at, to)
    // Process ids and thread numbers are not words.
    if (isDigit(bytes[start]!)) continue
    words++
    const mark = bytes[start - 1]
    if (words === 1 || mark === 0x3c || mark === 0x7c || isCapital(bytes, start, at)) {
      wordAt = start
      const level = at - start < 3 ? -1 : levelAt(bytes, start, to)
      if (level >= 0) return level
    }
  }
  return -1
}

/** What closes a bracket; 0 if it is none. */
function closingOf(open: number): number {
  return open === 0x5b ? 0x5d : open === 0x28 ? 0x29 : open === 0x7b ? 0x7d : 0
}

/** The offset of what closes the bracket at bytes[at]; 0 if there is none. */
function bracketEnd(bytes: Uint8Array, at: number, to: number): number {
  const closing = closingOf(bytes[at]!)
  if (closing === 0) return 0
  const limit = Math.min(to, at + MAX_BRACKET)
  for (let end = at + 1; end < limit; end++) if (bytes[end] === closing) return end
  return 0
}

/** `[error]`, `[ INFO ]`, `[Server thread/INFO]`: the first word, or the last one in capitals. */
function levelInBrackets(bytes: Uint8Array, from: number, to: number): number {
  const first = skipAnsi(bytes, from, to)
  let start = first
  while (start < to && bytes[start] === 0x20) start++
  if (start === first || isCapital(bytes, start, wordEnd(bytes, start, to))) {
    wordAt = start
    const level = levelAt(bytes, start, to)
    if (level >= 0) return level
  }
  let end = to
  while (end > start && !isWord(bytes[end - 1]!)) end--
  let last = end
  while (last > start && isWord(bytes[last - 1]!)) last--
  wordAt = last
  return end - last >= 3 && isCapital(bytes, last, end) ? levelAt(bytes, last, end) : -1
}

function wordEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = from
  while (end < to && isWord(bytes[end]!)) end++
  return end
}

function isWord(byte: number): boolean {
  return isWordByte(byte) || byte === 0x5f
}

/** What comes before the timestamp, without the bracket that opens it and Ruby's letter. */
function beforeOf(text: string): string {
  const before = text.replace(/\[$/, '').trim()
  return /^[A-Z],$/.test(before) ? '' : before
}

/** syslog is known by its priority, by a date without a year, or by a process in the place of the message. */
function syslogOf(before: string, time: string): readonly Program[] {
  if (before.startsWith('<') || (before === '' && /^[A-Z]/.test(time))) return SYSLOG
  return before === '' && time[10] === 'T' ? SYSLOG.slice(1, 2) : []
}

/** What distinguishes the times that `syslogOf` knows; no text before a time is one of these. */
function timeKind(bytes: Uint8Array, at: number): string {
  const first = bytes[at]!
  return first >= 0x41 && first <= 0x5a ? ' A' : bytes[at + 10] === 0x54 ? ' T' : ' '
}

/** How many texts before the time are known at once, each with its patterns. */
const KNOWN = 32

function stampedReader(stampAt: StampReader): RecordReader {
  const readers = new BoundedMap<string, ProgramReader>(KNOWN)
  return (record, start, limit) => {
    const to = record.scan(start, limit)
    const { bytes } = record
    const stamp = to < 0 ? null : stampAt(bytes, start, to, record.zone)
    if (!stamp || !record.time(stamp.epoch)) return false
    const early = levelBefore(bytes, start, stamp)
    const level = early ?? wordAfter(bytes, stamp.end, to)
    const before = stamp.at === start ? '' : beforeOf(record.text(start, stamp.at))
    // The kind of its time decides, too, which programs may have written a line.
    const key = before === '' ? timeKind(bytes, stamp.at) : before
    let reader = readers.get(key)
    if (!reader) {
      const syslog = syslogOf(before, record.text(stamp.at, stamp.end))
      reader = new ProgramReader(before, [...syslog, ...PROGRAMS])
      // A part of a text keeps all of it in memory: this one is made anew.
      readers.set(before === '' ? key : beforeOf(decode(bytes, start, stamp.at)), reader)
    }
    let from = bytes[stamp.end] === 0x5d ? stamp.end + 1 : stamp.end
    for (from = record.skipBlanks(from, to); from < to && bytes[from] === 0x3a; )
      from = record.skipBlanks(from + 1, to)
    const text = record.text(from, to)
    return reader.read(record, { before, text, from, to, level, isLevelAfter: early === null })
  }
}
