import { lineEnd } from '../../../kit/bytes.ts'
import type { LineFormat, RecordTaker } from '../format.ts'
import { readNamed } from '../read/named.ts'
import { isDigit } from '../read/stamp.ts'
import { isStatus, statusAt } from '../read/status.ts'
import { levelOfStatus } from '../read/vocabulary.ts'
import { stringEnd } from '../read/words.ts'
import { readBy } from '../record.ts'
import { type Piece, timePieces } from '../shape.ts'
import { ACCESS } from './access.ts'
import { type RowFormat, rowFormat } from './row.ts'

/** `[15/Nov/2026:03:10:00 +0100] "`: from here on, a line of a common access log is read without patterns. */
const LENGTH = 30
/** How far into a line the time may begin: behind a virtual host, a client and a user. */
const TIME_WITHIN_BYTES = 300

/** Access logs, the common one by its bytes: the chart of a million lines needs a second instead of five. */
export const ACCESS_FORMATS: readonly RowFormat[] = ACCESS.map((row) => {
  const { first, make } = rowFormat(row)
  return {
    first,
    make: (reference) => (row.name === 'access' ? byBytes(make(reference), first) : make(reference)),
  }
})

function byBytes(row: LineFormat, first: Uint8Array): LineFormat {
  const timeAt = (bytes: Uint8Array, from: number, to: number) =>
    first[bytes[from]!] === 1 ? bracketAt(bytes, from, to) : -1
  const statusOf = (bytes: Uint8Array, at: number, to: number) =>
    statusAt('quoted', bytes, at + LENGTH - 1, to)
  return {
    ...row,
    starts: (bytes, from, to) => timeAt(bytes, from, to) >= 0 || row.starts(bytes, from, to),
    time(bytes, from, to, zone) {
      const at = timeAt(bytes, from, to)
      return at < 0
        ? row.time(bytes, from, to, zone)
        : (readNamed(bytes, at + 1, to, zone)?.epoch ?? Number.NaN)
    },
    level(bytes, from, to, end) {
      const at = timeAt(bytes, from, to)
      return at < 0 ? row.level(bytes, from, to, end) : levelOfStatus(statusOf(bytes, at, to))
    },
    shape(bytes, from, to) {
      const at = timeAt(bytes, from, to)
      return at < 0 ? null : shapeOf(bytes, from, at, to)
    },
    ...readBy((record, from, to) => readUsual(record, from, to) || row.read!(record, from, to)),
    member(name, bytes, from, to) {
      const end = lineEnd(bytes, from, to)
      const at = name === 'status' ? timeAt(bytes, from, end) : -1
      const status = at < 0 ? 0 : statusOf(bytes, at, end)
      return status === 0 ? undefined : String(status)
    },
  }
}

/** More words than these would reach further than a time may begin. */
const MOST_WORDS = 4

/** The pieces of a line up to its status; its time begins behind the bracket at `bracket`. */
function shapeOf(bytes: Uint8Array, from: number, bracket: number, to: number): Piece[] | null {
  const pieces: Piece[] = [{ as: isDigit(bytes[from]!) ? 'digits' : 'same', to: from + 1 }]
  let words = 0
  for (let at = from + 1; at < bracket; at++) {
    if (bytes[at] !== 0x20) continue
    pieces.push({ as: 'until', to: at }, { as: 'same', to: at + 1 })
    words++
  }
  const time = timePieces(bytes, bracket + 1, to)
  const request = bracket + LENGTH
  const end = stringEnd(bytes, request - 1, to)
  const at = end + 1
  const status = statusAt('quoted', bytes, request - 1, to)
  if (!time || words > MOST_WORDS || end < 0 || at + 3 >= to || !isStatus(bytes, at, to)) return null
  return [
    ...pieces,
    { as: 'same', to: bracket + 1 },
    ...time,
    { as: 'same', to: request },
    { as: 'string', to: end },
    { as: 'same', to: at },
    { as: 'word', at, to: at + 3, level: levelOfStatus(status) },
  ]
}

/** Where the time begins, behind three words at least; -1 if the line is written in another way. */
function bracketAt(bytes: Uint8Array, from: number, to: number): number {
  const limit = Math.min(to - LENGTH, from + TIME_WITHIN_BYTES)
  let spaces = 0
  for (let at = from; at <= limit; at++) {
    const byte = bytes[at]
    if (byte === 0x20) spaces++
    else if (byte === 0x5b) return spaces >= 3 && isBracketed(bytes, at) ? at : -1
  }
  return -1
}

function isBracketed(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at - 1] === 0x20 &&
    bytes[at + 3] === 0x2f &&
    bytes[at + 7] === 0x2f &&
    bytes[at + 12] === 0x3a &&
    bytes[at + 21] === 0x20 &&
    bytes[at + 27] === 0x5d &&
    bytes[at + 28] === 0x20 &&
    bytes[at + 29] === 0x22
  )
}

/** `15/Nov/2026:03:10:00 +0100] ` */
const TIME_LENGTH = 28
const TIME = String.raw`\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]`
const REQUEST = String.raw`"(?:([A-Z]{2,31}) (/[^\s?"\\]*)(?:\?([^\s"\\]*))? (HTTP/\d\.\d)|([^"\\]*))"`
/** Not what the row's other patterns may read: a duration or an address, where a scheme is no host. */
const TEXT = String.raw`"(?![\d\s]|[\w.=-]*(?:\[|:(?!/)|(?<=x):))([^"\\]*)(?<!\s)"`
/** A virtual host, where the row would see one, too. */
const HOST = String.raw`(?:([^\s["]{1,260}) (?=(?:[\da-fA-F]*[.:][\da-fA-F.:]* \S|\S+ - )))?`
/** `rt=0.123 uct="0.001"`: numbers by their names. */
const TIMES = String.raw`(?: [a-z_]{1,40}=(?:"[\d.-]{1,40}"|[\d.-]{1,40}))+`
/** Seconds with a fraction, or microseconds without one. */
const TOOK = String.raw`(?: (\d+\.\d{1,9}|\d+))?`
/** Client, identity, user, time, request, status and size, and perhaps referrer, agent and times, but nothing else. */
const LINE = new RegExp(
  String.raw`^(?=[A-Za-z\d:-])${HOST}([^\s["]{1,260}) ([^\s["]{1,100}) ([^\s["]{1,200}) ${TIME} ${REQUEST} ([1-9]\d\d) (0|[1-9]\d{0,14}|-)(?: ${TEXT} ${TEXT})?(?:(${TIMES})|${TOOK})$`,
)
/** The fields by their groups, and the group of times. */
const FIELDS =
  '_ vhost client ident user method path query protocol request status bytes referrer agent'.split(' ')
const TAIL = FIELDS.length
/** How long a request took, as the row finds it. */
const DURATION = / (?:rt|request_time)="?(\d+\.\d+)"?/
const NUMBERS = ['status', 'bytes']
/** How much of a line is its head. */
const HEAD_BYTES = 300

/** Reads a line of a common or combined access log as its row reads it, if it has nothing else. */
function readUsual(record: RecordTaker, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  const text = to < 0 ? '' : record.text(from, to)
  const found = LINE.exec(text)
  if (!found) return false
  const took = found[TAIL + 1]
  const duration = record.line.equals < to ? DURATION.exec(text) : null
  // It may also be in a text.
  if (duration && duration.index < text.length - (found[TAIL]?.length ?? 0)) return false
  const request = record.after(text, text.indexOf('"'), from)
  if (request - from > HEAD_BYTES) return false
  const stamp = readNamed(record.bytes, request - TIME_LENGTH, to, record.zone)
  if (!stamp || !record.time(stamp.epoch)) return false
  record.level(levelOfStatus(Number(found[FIELDS.indexOf('status')])))
  record.message(request, to)
  for (let i = 1; i < FIELDS.length; i++) {
    const name = FIELDS[i]!
    const value = found[i]
    // A dash stands for nothing, except behind a question mark.
    if (value === undefined || value === '' || (value === '-' && name !== 'query')) continue
    if (NUMBERS.includes(name)) record.jsonField(name, value)
    else if (name === 'request' || (name === 'client' && /[([]|^[^:]*:[^:]*$/.test(value)))
      record.group(name, value)
    else record.field(name, value)
  }
  if (duration) record.group('duration_s', duration[1])
  else if (took) record.group(took.includes('.') ? 'duration_s' : 'duration_us', took)
  return record.endWithPairs(request, to)
}
