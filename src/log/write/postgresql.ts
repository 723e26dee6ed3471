import { prefixFields, severityAt, stampIn, withoutPrefix } from '../format/database/postgresql.ts'
import { beforeSql, messageFields } from '../format/read/durations.ts'
import { find } from './bytes/words.ts'
import type { RecordOut } from './record.ts'

/** Writes the fields of a prefix, which stands around its time. */
function writePrefix(record: RecordOut, from: number, to: number, stamp: { at: number; end: number }): void {
  const context = prefixFields(`${record.text(from, stamp.at)}${record.text(stamp.end, to)}`.trim())
  for (const name in context) {
    const value = context[name]
    if (typeof value === 'string') record.field(name, value)
    else record.jsonField(name, JSON.stringify(value))
  }
}

/** Writes a line as `postgresqlFields` reads it. */
export function writePostgresql(record: RecordOut, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  const { bytes } = record
  const found = to < 0 ? null : severityAt(bytes, from, to)
  if (!found || found.level < 0) return false
  const { at, end, level } = found
  const stamp = stampIn(bytes, from, at, record.zone)
  if (!stamp || !record.time(stamp.epoch)) return false
  const { more } = record
  // A duration may be in any line.
  if (more.includes('elapsed: ')) return false
  if (more !== '') record.more = more.split('\n').map(withoutPrefix).join('\n')
  record.level(level)
  record.message(end, to)
  writePrefix(record, from, at, stamp)
  if (find(record.copy.view, 0x3a, end, to) === to) return record.endWithPairs(end, to)
  // Durations and SQL come behind a colon.
  const message = record.text(end, to)
  const { duration } = messageFields(message)
  if (duration !== undefined && record.has('duration')) return false
  if (duration !== undefined) record.jsonField('duration', JSON.stringify(duration))
  const isPaired = find(record.copy.view, 0x3d, end, to) < to
  return record.endWithPairs(end, isPaired ? record.after(message, beforeSql(message).length, end) : end)
}
