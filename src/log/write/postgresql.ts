import { BoundedMap } from '../../limits/bounded-map.ts'
import { prefixFields, severityAt, stampIn } from '../format/database/postgresql.ts'
import { beforeSql, messageFields } from '../format/read/durations.ts'
import { wordOf } from '../format/read/words.ts'
import { find } from './bytes/words.ts'
import { type KnownFields, knownFields, type RecordOut } from './record.ts'

/** The fields of prefixes that occurred: those of a session repeat. */
const prefixes = new BoundedMap<string, KnownFields>(1000)
/** Longer prefixes are not kept. */
const KEPT = 100

/** The fields in a prefix whose time is at its beginning, or anywhere. */
function fieldsOf(
  record: RecordOut,
  from: number,
  to: number,
  stamp: { at: number; end: number },
): KnownFields {
  if (stamp.at > from || to - stamp.end > KEPT || record.line.wide < to) {
    const prefix = `${record.text(from, stamp.at)}${record.text(stamp.end, to)}`
    return knownFields(prefixFields(prefix.trim()))
  }
  const prefix = wordOf(record.bytes, stamp.end, to)
  const known = prefixes.get(prefix)
  if (known) return known
  const fields = knownFields(prefixFields(prefix.trim()))
  prefixes.set(prefix, fields)
  return fields
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
  record.level(level)
  record.message(end, to)
  record.fields(fieldsOf(record, from, at, stamp))
  if (find(record.copy.view, 0x3a, end, to) === to) return record.endWithPairs(end, to)
  // Durations and SQL come behind a colon.
  const message = record.text(end, to)
  const { duration } = messageFields(message)
  if (duration !== undefined && record.has('duration')) return false
  if (duration !== undefined) record.jsonField('duration', JSON.stringify(duration))
  return record.endWithPairs(end, record.after(message, beforeSql(message).length, end))
}
