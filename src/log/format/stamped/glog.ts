import { clockOf, dayOf } from '../../wall-clock.ts'
import { type LineFormat, linesOf, type RecordTaker } from '../format.ts'
import { LEVELS } from '../read/level.ts'
import { isClock, isDigit, readClock, two } from '../read/stamp.ts'
import { type Reference, yearsBefore } from '../read/years.ts'
import { readBy } from '../record.ts'
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
    ...readBy((record, from, to) => readGlog(record, from, to, format)),
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
  /^[DIWEF]\d{4,8} \d\d:\d\d:\d\d(?:\.\d+)? +(?:(\d+) +)?(?:\d+@)?([^\s:\]]+):(\d{1,15})(?:(\]) ?| *(?:⋮ )?(?:\[([^\]]*)\] ?)?(?:(\d+) )?)/

function readGlog(record: RecordTaker, from: number, limit: number, format: LineFormat): boolean {
  const to = record.scan(from, limit)
  const { bytes } = record
  if (to < 0 || (record.isStrict && !format.starts(bytes, from, to))) return false
  const text = record.text(from, to)
  const found = HEADER.exec(text)
  if (!found || !record.time(format.time(bytes, from, to, record.zone))) return false
  const [whole, thread, file, line, closed, tags, counter] = found
  record.level(LETTERS.indexOf(bytes[from]!))
  record.source(file!, line!)
  if (tags) record.tags(tags.split(',').filter((tag) => tag !== '' && tag !== '-'))
  // CockroachDB repeats the header on each line of a message.
  if (closed === undefined && record.more !== '') {
    const { lines, rest } = linesOf(record.more)
    record.more = lines.map((next) => next.replace(HEADER, '').replace(/^[+=|!]/, '')).join('\n') + rest
  }
  const message = record.skipBlanks(record.after(text, whole.length, from), to)
  record.message(message, to)
  if (thread !== undefined) record.field('thread', thread)
  if (counter !== undefined) record.jsonField('counter', String(Number(counter)))
  return record.endWithPairs(message, to)
}
