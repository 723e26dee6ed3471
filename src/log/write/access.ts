import { readNamed } from '../format/read/named.ts'
import { levelOfStatus } from '../format/read/vocabulary.ts'
import type { RecordOut } from './record.ts'

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
/** Client, identity, user, time, request, status and size, and perhaps referrer, agent and times, but nothing else. */
const LINE = new RegExp(
  String.raw`^(?=[A-Za-z\d:-])${HOST}([^\s["]{1,260}) ([^\s["]{1,100}) ([^\s["]{1,200}) ${TIME} ${REQUEST} ([1-9]\d\d) (0|[1-9]\d{0,14}|-)(?: ${TEXT} ${TEXT}(${TIMES})?)?$`,
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

/** Writes a line of a common or combined access log as its row reads it. */
export function writeAccess(record: RecordOut, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  const text = to < 0 ? '' : record.text(from, to)
  const found = LINE.exec(text)
  if (!found) return false
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
  return record.endWithPairs(request, to)
}
