import type { Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'
import { encodeLine, type LineFormat, linesOf, type RecordFields, recordText, unparsed } from '../format.ts'
import { LEVELS } from '../read/level.ts'
import { withPairs } from '../read/pairs.ts'
import { isClock, isDigit, readClock, two } from '../read/stamp.ts'
import { type Reference, yearsBefore } from '../read/years.ts'
import { type Piece, timePieces } from '../shape.ts'

/**
 * glog, klog and CockroachDB: `I1115 02:10:00.123456 12345 file.go:123] message` and
 * `I261115 02:10:00.123456 123 1@file.go:12 ⋮ [n1,s2] 34 message`. A date has two, four or no digits for its year;
 * without a year, it is the last such day before `reference` (a day of clock skew is allowed).
 */
export function glogLines(reference: Reference): LineFormat {
  const years = yearsBefore(reference)
  const format: LineFormat = {
    name: 'glog',
    timed: true,
    leveled: true,
    starts: (bytes, from, to) => dateDigits(bytes, from, to) > 0 && !isContinued(bytes, from, to),
    time(bytes, from, to, zone) {
      const digits = dateDigits(bytes, from, to)
      if (digits === 0) return Number.NaN
      const day = from + 1 + digits - 4
      const clock = readClock(bytes, from + digits + 2, to)
      if (!clock) return Number.NaN
      const { h, min, s, ms } = clock
      const month = two(bytes, day)
      const date = two(bytes, day + 2)
      const at = (year: number) => zone.toEpoch(dayOf(year, month, date), clockOf(h, min, s, ms))
      if (digits === 8) return at(two(bytes, from + 1) * 100 + two(bytes, from + 3))
      if (digits === 6) return at(2000 + two(bytes, from + 1))
      return years(month, date, at)
    },
    level: (bytes, from, to) => (dateDigits(bytes, from, to) > 0 ? LETTERS.indexOf(bytes[from]!) : -1),
    shape: shapeOf,
    marks: (level) =>
      level < WARN ? null : [...'DIWEF'].slice(level).map((letter) => new RegExp(`\\n${letter}`)),
    fields: (text, zone) => glogFields(text, zone, format),
    plan: {
      by: 'head',
      head: CLOSED_HEADER,
      within: Number.POSITIVE_INFINITY,
      mayBegin: (bytes, from, to) => format.starts(bytes, from, to),
      begins: (bytes, from, to) => format.starts(bytes, from, to),
      timeGroups: new Set(),
      time: (_, zone, { bytes, from, to }) => format.time(bytes, from, to, zone),
      levelOf: () => -1,
      levelIn: (bytes, from) => LETTERS.indexOf(bytes[from]!),
    },
  }
  return format
}

const WARN = LEVELS.indexOf('warn')
const LETTERS = [...'DIWEF'].map((letter) => letter.charCodeAt(0))

/** How many digits the date of a header has (4, 6 or 8), 0 when the line has no header. */
function dateDigits(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 15 || !LETTERS.includes(bytes[from]!)) return 0
  let digits = 0
  while (digits < 9 && isDigit(bytes[from + 1 + digits]!)) digits++
  if (digits !== 4 && digits !== 6 && digits !== 8) return 0
  const clock = from + digits + 2
  return bytes[clock - 1] === 0x20 && isClock(bytes, clock, to) ? digits : 0
}

/** The pieces of a line up to the bracket that closes its header. */
function shapeOf(bytes: Uint8Array, from: number, to: number): Piece[] | null {
  const time = dateDigits(bytes, from, to) > 0 ? timePieces(bytes, from + 1, to) : null
  const close = bytes.indexOf(0x5d, from)
  if (!time || close < 0 || close >= to || time[1].to < from + HEADER_FROM) return null
  return [
    { as: 'word', at: from, to: from + 1, level: LETTERS.indexOf(bytes[from]!) },
    ...time,
    { as: 'same', to: time[1].to + 1 },
    { as: 'text', to: close },
  ]
}

/** Where what follows the time begins at the earliest. */
const HEADER_FROM = 20

/**
 * CockroachDB repeats the header on each line of a message; `+`, `=`, `|` or `!` after the counter shows it. A pattern
 * takes three times as long, and every line of a scan is asked.
 */
function isContinued(bytes: Uint8Array, from: number, to: number): boolean {
  const limit = Math.min(to, from + 400)
  for (let at = from + HEADER_FROM; at + 3 < limit; at++) {
    // glog closes its header with a bracket, and CockroachDB has the mark before its first one.
    if (bytes[at] === 0x5d) return false
    if (bytes[at] !== 0xe2 || bytes[at + 1] !== 0x8b || bytes[at + 2] !== 0xae) continue
    at += 4
    if (bytes[at] === 0x5b) {
      while (at < limit && bytes[at] !== 0x5d) at++
      at += 2
    }
    const counter = at
    while (at < limit && isDigit(bytes[at]!)) at++
    if (at === counter || bytes[at] !== 0x20) return false
    const mark = bytes[at + 1]
    return mark === 0x2b || mark === 0x3d || mark === 0x7c || mark === 0x21
  }
  return false
}

const HEADER =
  /^[DIWEF]\d{4,8} \d\d:\d\d:\d\d(?:\.\d+)? +(?:(\d+) +)?(?:\d+@)?([^\s:\]]+):(\d+)(\]?) *(?:⋮ )?(?:\[([^\]]*)\] ?)?(?:(\d+) )?/

/** The header of glog and klog, which a bracket closes. */
const CLOSED_HEADER =
  /^[DIWEF]\d{4,8} \d\d:\d\d:\d\d(?:\.\d+)? +(?:(?<thread>\d+) +)?(?:\d+@)?(?<file>[^\s:\]]+):(?<line>\d{1,15})\]/

function glogFields(text: string, zone: Zone, format: LineFormat): RecordFields {
  const { lines, rest } = linesOf(recordText(text))
  const bytes = encodeLine(lines[0]!)
  const epoch = format.time(bytes, 0, bytes.length, zone)
  const header = HEADER.exec(lines[0]!)
  const level = LEVELS[format.level(bytes, 0, bytes.length)]
  if (!header || Number.isNaN(epoch) || level === undefined) return unparsed(text)
  const [whole, thread, file, line, closed, tags, counter] = header
  const isCockroach = closed === ''
  const out: RecordFields = {
    time: zone.format(epoch),
    level,
    source: { file: file!, line: Number(line) },
    message: '',
  }
  const names = (isCockroach && tags ? tags.split(',') : []).filter((tag) => tag !== '' && tag !== '-')
  if (names.length > 0) out.tags = names
  // glog has no tags and no counter: what looks like one is the message's.
  const skip = isCockroach ? whole : /^.*?\] ?/.exec(lines[0]!)![0]
  const more = lines.slice(1).map((next) => next.replace(HEADER, '').replace(/^[+=|!]/, ''))
  const message = [lines[0]!.slice(skip.length).trimStart(), ...(isCockroach ? more : lines.slice(1))]
  out.message = message.join('\n') + rest
  const context = {
    ...(thread !== undefined && { thread }),
    ...(isCockroach && counter !== undefined && { counter: Number(counter) }),
  }
  if (Object.keys(context).length > 0) out.context = context
  return withPairs(out)
}
