import { UTC, type Zone } from '../../time.ts'
import { type LineFormat, type RecordFields, recordText, unparsed } from '../format.ts'
import { beforeSql, messageFields } from '../read/durations.ts'
import { LEVELS } from '../read/level.ts'
import { withPairs } from '../read/pairs.ts'
import { LONGEST_SEVERITY, severityIn, severityMarks } from '../read/severities.ts'
import { readStamp } from '../read/stamp.ts'
import { addFields } from '../read/vocabulary.ts'

/** The columns of a csvlog, in order and by the names that fields have in all formats; newer versions append. */
const COLUMNS = [
  'log_time user db pid client session_id session_line_num command_tag session_start_time',
  'virtual_transaction_id transaction_id error_severity sql_state_code message detail hint internal_query',
  'internal_query_pos context query query_pos location application_name backend_type leader_pid query_id',
].flatMap((names) => names.split(' '))
const SEVERITY = COLUMNS.indexOf('error_severity')
const MESSAGE = COLUMNS.indexOf('message')

/** PostgreSQL's csvlog: a record is a row, and a quoted value may hold line breaks. */
export const postgresqlCsvLines: LineFormat = {
  name: 'postgresql-csv',
  timed: true,
  leveled: true,
  starts: (bytes, from, to) => severityAt(bytes, from, to) >= 0,
  time: (bytes, from, to, zone) =>
    severityAt(bytes, from, to) >= 0 ? readStamp(bytes, from, to, zone)!.epoch : Number.NaN,
  level(bytes, from, to) {
    const at = severityAt(bytes, from, to)
    return at < 0 ? -1 : severityFrom(bytes, at, to)
  },
  marks: (level) => severityMarks(level)?.map((word) => new RegExp(`,${word},`)) ?? null,
  zoneName: (bytes, from, to) => readStamp(bytes, from, to, UTC)?.ambiguous ?? null,
  fields: csvFields,
}

/** Where the severity column begins, or -1 if the line is not a row. Columns before it hold no line break. */
function severityAt(bytes: Uint8Array, from: number, to: number): number {
  const stamp = readStamp(bytes, from, to, UTC)
  if (!stamp || stamp.end >= to || bytes[stamp.end] !== 0x2c) return -1
  let at = stamp.end + 1
  for (let column = 1; column < SEVERITY; column++) {
    if (bytes[at] === 0x22) {
      do at = csvStringEnd(bytes, at, to)
      while (at > 0 && at < to && bytes[at] === 0x22)
      if (at < 0) return -1
    }
    while (at < to && bytes[at] !== 0x2c) at++
    if (at++ >= to) return -1
  }
  return severityFrom(bytes, at, to) >= 0 ? at : -1
}

/** The level in the column that begins at bytes[at], or -1. */
function severityFrom(bytes: Uint8Array, at: number, to: number): number {
  const comma = bytes.subarray(at, Math.min(to, at + LONGEST_SEVERITY + 1)).indexOf(0x2c)
  return comma < 0 ? -1 : (severityIn(bytes, at, at + comma) ?? -1)
}

/** CSV doubles quotes: what looks like the next string is then still the same one. */
function csvStringEnd(bytes: Uint8Array, at: number, to: number): number {
  const quote = bytes.subarray(at + 1, Math.min(to, at + 4096)).indexOf(0x22)
  return quote < 0 ? -1 : at + 1 + quote + 1
}

function csvFields(text: string, zone: Zone): RecordFields {
  const record = recordText(text)
  const bytes = new TextEncoder().encode(record.slice(0, 8192))
  const epoch = postgresqlCsvLines.time(bytes, 0, bytes.length, zone)
  if (Number.isNaN(epoch)) return unparsed(text)
  const values = csvValues(record)
  const message = values[MESSAGE] ?? ''
  const context: Record<string, unknown> = {}
  values.forEach((value, i) => {
    if (i !== 0 && i !== SEVERITY && i !== MESSAGE && COLUMNS[i]) addFields(context, { [COLUMNS[i]!]: value })
  })
  const level = LEVELS[postgresqlCsvLines.level(bytes, 0, bytes.length)]
  const out = {
    time: zone.format(epoch),
    level: level ?? values[SEVERITY]!,
    message,
    context: { ...context, ...messageFields(message) },
  }
  return withPairs(out, beforeSql(message))
}

function csvValues(text: string): string[] {
  const values: string[] = []
  let at = 0
  while (at <= text.length && values.length < COLUMNS.length) {
    if (text[at] !== '"') {
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      values.push(text.slice(at, end))
      at = end + 1
      continue
    }
    const from = at + 1
    let quote = text.indexOf('"', from)
    while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
    at = quote < 0 ? text.length : quote
    values.push(text.slice(from, at).replaceAll('""', '"'))
    const comma = text.indexOf(',', at)
    at = comma < 0 ? text.length + 1 : comma + 1
  }
  return values
}
