import { UTC, type Zone } from '../../time.ts'
import { type LineFormat, linesOf, type RecordTaker } from '../format.ts'
import { beforeSql, messageFields } from '../read/durations.ts'
import { CONTINUATIONS, LONGEST_SEVERITY, severityIn, severityMarks } from '../read/severities.ts'
import { isDigit, isStamp, parseStamp, readEpoch, type Stamp, stampOf } from '../read/stamp.ts'
import { addFields } from '../read/vocabulary.ts'
import { isWordByte } from '../read/words.ts'
import { putContext, readBy } from '../record.ts'
import { timePieces, zoneEnd } from '../shape.ts'

/** How much is searched for the severity: prefixes with application names are long. */
const SEVERITY_BYTES = 2048

/**
 * PostgreSQL's own log with any `log_line_prefix` that has a time (`%t`, `%m` or `%n`), wherever in it: the severity is
 * the word before the first colon and two spaces. DETAIL, HINT, CONTEXT and STATEMENT lines repeat the prefix and
 * continue the record before them.
 */
export const postgresqlLines: LineFormat = {
  name: 'postgresql',
  timed: true,
  leveled: true,
  starts: (bytes, from, to) => stampAt(bytes, from, to, UTC) !== null && severity.level >= 0,
  time(bytes, from, to, zone) {
    const stamp = stampAt(bytes, from, to, zone)
    return stamp && severity.level >= 0 ? stamp.epoch : Number.NaN
  },
  level: (bytes, from, to) => (stampAt(bytes, from, to, UTC) ? severity.level : -1),
  shape(bytes, from, to) {
    const found = severityAt(bytes, from, to)
    if (!found || !isStamp(bytes, from, found.at)) return null
    const { at, level } = found
    const colon = found.end - 3
    const time = timePieces(bytes, from, at)
    if (!time) return null
    const zone = zoneEnd(bytes, time[1].to, at)
    const end = Math.min(zone, at - 1)
    // Other lines might have a zone or a longer one, unless what ends it stays the same.
    if (end <= time[1].to || (zone > end && bytes[end] !== 0x20)) return null
    return [
      ...time,
      { as: 'same', to: end },
      ...(zone > end ? [{ as: 'follows' as const, to: end }] : []),
      { as: 'severity', at, to: colon, level, reach: SEVERITY_BYTES, isRecord: level >= 0 },
    ]
  },
  marks: (level) => severityMarks(level)?.map((word) => new RegExp(`${word} ?:  `)) ?? null,
  owns: (bytes, from, to) => stampAt(bytes, from, to, UTC) !== null,
  zoneName: (bytes, from, to) => stampAt(bytes, from, to, UTC)?.ambiguous ?? null,
  ...readBy(readPostgresql),
}

/** One object is reused: a chart would make millions. */
interface Severity {
  /** Where the word begins, and where the message does. */
  at: number
  end: number
  level: number
}

const severity: Severity = { at: 0, end: 0, level: -1 }

/** The severity of a line; null if it has none. The next one overwrites it. */
export function severityAt(bytes: Uint8Array, from: number, to: number): Severity | null {
  const limit = Math.min(to, from + SEVERITY_BYTES)
  for (let at = from + 3; at + 2 < limit; at++) {
    if (bytes[at] !== 0x3a || bytes[at + 1] !== 0x20 || bytes[at + 2] !== 0x20) continue
    // French has a space before the colon.
    const end = bytes[at - 1] === 0x20 ? at - 1 : at
    let start = end
    while (start > from && end - start <= LONGEST_SEVERITY && isWord(bytes[start - 1]!)) start--
    const level = start === from ? undefined : severityIn(bytes, start, end)
    if (level === undefined) continue
    severity.at = start
    severity.end = at + 3
    severity.level = level
    return severity
  }
  return null
}

/** Letters of other scripts are bytes above ASCII. */
function isWord(byte: number): boolean {
  return byte >= 0x80 || isWordByte(byte) || byte === 0x5f
}

/** The first time before the severity, which is then in `severity`; null unless a line has both. */
function stampAt(bytes: Uint8Array, from: number, to: number, zone: Zone): Stamp | null {
  const found = severityAt(bytes, from, to)
  return found && stampIn(bytes, from, found.at, zone)
}

/** The first time in the prefix. */
function stampIn(bytes: Uint8Array, from: number, to: number, zone: Zone): Stamp | null {
  for (let at = from; at + 14 <= to; at++) {
    if (!isDigit(bytes[at]!) || (at > from && isDigit(bytes[at - 1]!))) continue
    if (isStamp(bytes, at, to)) return parseStamp(bytes, at, to, zone)
    if (isEpoch(bytes, at, to)) return stampOf(at, at + 14, readEpoch(bytes, at, at + 14))
  }
  return null
}

/** `1794708600.123`, as `%n` writes it. */
function isEpoch(bytes: Uint8Array, at: number, to: number): boolean {
  if (bytes[at + 10] !== 0x2e || (at + 14 < to && isDigit(bytes[at + 14]!))) return false
  for (let i = 0; i < 14; i++) if (i !== 10 && !isDigit(bytes[at + i]!)) return false
  return true
}

function readPostgresql(record: RecordTaker, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  const { bytes } = record
  const stamp = to < 0 ? null : stampAt(bytes, from, to, record.zone)
  const { at, end, level } = severity
  if (!stamp || (level < 0 && record.isStrict) || !record.time(stamp.epoch)) return false
  if (record.more !== '') {
    const { lines, rest } = linesOf(record.more)
    record.more = lines.map(withoutPrefix).join('\n') + rest
  }
  record.level(level)
  record.message(end, to)
  const prefix = `${record.text(from, stamp.at)}${record.text(stamp.end, at)}`
  const message = record.text(end, to)
  // How long something took may be in any line.
  const searched = record.more.includes('elapsed: ') ? message + record.more : message
  putContext(record, Object.assign(prefixFields(prefix.trim()), messageFields(searched)))
  return record.endWithPairsOf(message.includes('=') ? beforeSql(message) : '')
}

/** The parts of a `log_line_prefix`, each taken out of it when it is found: its fields, and what it holds in any case. */
const PREFIX: readonly { pattern: RegExp; names: readonly string[]; holds: string }[] = [
  { pattern: /\[(\d{1,10})\]:?/, names: ['pid'], holds: '[' },
  { pattern: /\[(\d{1,10}-\d{1,10})\]/, names: ['session_line'], holds: '[' },
  {
    pattern: /(\[unknown\]|[^\s@,[\]]{1,100})@(\[unknown\]|[^\s@,[\]:]{1,100})/,
    names: ['user', 'db'],
    holds: '@',
  },
  {
    pattern:
      /(\[local\]|\d{1,3}(?:\.\d{1,3}){3}(?:\(\d{1,5}\))?|[\da-f]{0,4}:[\da-f:]{1,40}:[\da-f]{0,4}(?:\(\d{1,5}\))?)/,
    names: ['client'],
    holds: '',
  },
  { pattern: /(?<![\w.])(\d{1,10})(?![\w.])/, names: ['pid'], holds: '' },
]
/** `user=app,db=shop,app=my app,client=10.0.0.7`: a value ends where the next name begins. */
const NAMED = /(\w{1,40})=([^=]{0,400}?)(?=[,;|]? ?\w{1,40}=|[\s,;|:]{0,8}$)/g
const NAMES: Record<string, string> = { database: 'db', dbname: 'db', host: 'client', remote: 'client' }

/** The fields in what precedes the severity, without the time. */
function prefixFields(prefix: string): Record<string, unknown> {
  const context: Record<string, unknown> = {}
  let rest = prefix.includes('=')
    ? prefix.replace(NAMED, (_, name: string, value: string) => {
        const known = Object.hasOwn(NAMES, name) ? NAMES[name]! : name
        addFields(context, { [known]: value })
        return ''
      })
    : prefix
  for (const { pattern, names, holds } of PREFIX) {
    const found =
      rest.includes(holds) && !names.some((name) => Object.hasOwn(context, name)) && pattern.exec(rest)
    if (!found) continue
    for (let i = 0; i < names.length; i++) addFields(context, { [names[i]!]: found[i + 1] })
    rest = rest.replace(found[0], '')
  }
  const left = withoutMarks(rest)
  if (left !== '') context.prefix = left
  return context
}

/** A text without blanks and marks at its ends. */
function withoutMarks(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && MARKS.test(text[from]!)) from++
  while (to > from && MARKS.test(text[to - 1]!)) to--
  return text.slice(from, to)
}

const MARKS = /[\s,;:|@-]/
const CONTINUED = new RegExp(`(?:^|[^\\p{L}\\p{N}_])((?:${CONTINUATIONS.join('|')}) ?: {2})`, 'u')

/** `DETAIL:  …` of a line that repeats the prefix. */
function withoutPrefix(line: string): string {
  const found = CONTINUED.exec(line)
  if (!found || !/^\S*\d/.test(line)) return line
  return line.slice(found.index + found[0].length - found[1]!.length)
}
