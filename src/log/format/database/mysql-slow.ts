import type { Zone } from '../../time.ts'
import { decode, type LineFormat, linesOf, type RecordFields, recordText, unparsed } from '../format.ts'
import { numberOf } from '../read/vocabulary.ts'
import { MYSQL_TIME } from '../rows/database.ts'
import { epochOf } from '../rows/row.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const TIME = encode('# Time: ')
const USER = encode('# User@Host: ')
const STARTED = encode('started with:')
const LF = 0x0a

/** How far below its first line a record is searched for its `SET timestamp`. */
const TIMESTAMP_BYTES = 4096

/**
 * The slow logs of MySQL, MariaDB and Percona: one record per statement. It begins with `# Time`, or with `# User@Host`
 * where the server leaves the time out because the second is the same. The banner of a start is a record, too.
 */
export const mysqlSlowLines: LineFormat = {
  name: 'mysql-slow',
  timed: true,
  leveled: false,
  starts: (bytes, from, to) =>
    begins(TIME, bytes, from, to) || isStatement(bytes, from, to) || isBanner(bytes, from, to),
  time(bytes, from, to, zone) {
    if (begins(TIME, bytes, from, to)) return timeOf(decode(bytes, from + TIME.length, to), zone)
    if (!isStatement(bytes, from, to)) return Number.NaN
    return setTimeOf(decode(bytes, from, Math.min(bytes.length, from + TIMESTAMP_BYTES)))
  },
  level: () => -1,
  owns: (bytes, from, to) =>
    bytes[from] === 0x23 || bytes[from] === 0x53
      ? OWN.test(decode(bytes, from, Math.min(to, from + 60)))
      : false,
  fields: slowFields,
}

const OWN = /^(?:# (?:User@Host|Query_time|Thread_id|Rows_affected|Schema): |SET timestamp=\d)/

function begins(text: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < text.length) return false
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false
  return true
}

/** A statement's first line, unless the line above has its time. */
function isStatement(bytes: Uint8Array, from: number, to: number): boolean {
  if (!begins(USER, bytes, from, to)) return false
  if (from < 2 || bytes[from - 1] !== LF) return true
  const before = bytes.lastIndexOf(LF, from - 2) + 1
  if (begins(TIME, bytes, before, from - 1)) return false
  // A window may begin inside the line above.
  return before > 0 || !/\d:\d\d:\d\d(?:\.\d+)?Z?\r?$/.test(decode(bytes, 0, from - 1))
}

/** `/usr/sbin/mysqld, Version: 8.0.36 (…). started with:` */
function isBanner(bytes: Uint8Array, from: number, to: number): boolean {
  const end = bytes[to - 1] === 0x0d ? to - 1 : to
  const start = end - STARTED.length
  if (start < from || !begins(STARTED, bytes, start, end)) return false
  return decode(bytes, from, end).includes(', Version: ')
}

const STAMP = new RegExp(String.raw`^${MYSQL_TIME}\s*$`)

function timeOf(text: string, zone: Zone): number {
  return epochOf(STAMP.exec(text)?.groups ?? {}, zone)
}

const SET = /^set (?:\w{1,40}=\d{1,20},)*timestamp=(\d{1,12}(?:\.\d{1,9})?);\s*$/i

/** The time that `SET timestamp` says, among the lines before the statement; NaN if there is none. */
function setTimeOf(text: string): number {
  for (const [i, line] of text.split('\n').entries()) {
    const found = SET.exec(line)
    if (found) return Math.round(Number(found[1]) * 1e6) / 1000
    if (i > 0 && (line.startsWith('# User@Host: ') || line.startsWith('# Time: '))) return Number.NaN
    if (!line.startsWith('#') && !USE.test(line)) return Number.NaN
  }
  return Number.NaN
}

const USE = /^use (`[^`]*`|[^;\s]+);\s*$/i
const USER_HOST = /^# User@Host: ([^[\]]*)\[([^\]]*)\] @ *(\S*) *\[([^\]]*)\]/
/** A name and its value; some have none: `Schema:   QC_hit: No`. */
const MEMBER = /([A-Za-z]\w*):(?: +(?![A-Za-z]\w*:(?:\s|$))(\S+))?/g
/** What other formats call `db`. */
const NAMES: Record<string, string> = { schema: 'db' }

function slowFields(text: string, zone: Zone): RecordFields {
  const { lines, rest } = linesOf(recordText(text))
  const first = lines[0]!
  if (!first.startsWith('# Time: ') && !first.startsWith('# User@Host: '))
    return isBanner(encode(first), 0, encode(first).length)
      ? { message: lines.join('\n') + rest }
      : unparsed(text)
  const timed = first.startsWith('# Time: ')
  const epoch = timed ? timeOf(first.slice(8), zone) : setTimeOf(lines.join('\n'))
  if (timed && Number.isNaN(epoch)) return unparsed(text)
  const context: Record<string, unknown> = {}
  let at = timed ? 1 : 0
  for (; at < lines.length && isHeader(lines[at]!); at++) readHeader(lines[at]!, context)
  const database = USE.exec(lines[at] ?? '')
  // The server writes `use` before its `SET timestamp`; one without it is the statement.
  if (database && SET.test(lines[at + 1] ?? '')) {
    context.db ??= database[1]!.replace(/^`(.*)`$/, '$1')
    at++
  }
  if (SET.test(lines[at] ?? '')) at++
  const out: RecordFields = { message: lines.slice(at).join('\n') + rest }
  if (!Number.isNaN(epoch)) out.time = zone.format(epoch)
  if (Object.keys(context).length > 0) out.context = context
  return out
}

/** Not the command that the server writes in the place of a statement. */
const isHeader = (line: string) => /^#(?!\S| administrator command:)/.test(line)

function readHeader(line: string, context: Record<string, unknown>): void {
  if (line.startsWith('# explain:')) return
  const found = USER_HOST.exec(line)
  if (found) {
    const [whole, privileged, login, name, address] = found
    if (privileged || login) context.user = privileged || login
    if (name || address) context.host = name || address
    readMembers(line.slice(whole.length), context)
  } else readMembers(line.slice(2), context)
}

function readMembers(text: string, context: Record<string, unknown>): void {
  for (const [, key, value] of text.matchAll(MEMBER)) {
    const name = key!.toLowerCase()
    if (value !== undefined) context[Object.hasOwn(NAMES, name) ? NAMES[name]! : name] = numberOf(value)
  }
}
