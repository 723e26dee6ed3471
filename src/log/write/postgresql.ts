import { BoundedMap } from '../../limits/bounded-map.ts'
import { prefixFields, severityAt, stampIn } from '../format/database/postgresql.ts'
import { beforeSql, messageFields } from '../format/read/durations.ts'
import { endWithPairs } from './pairs.ts'
import type { RecordOut } from './record.ts'

/** The fields of prefixes that occurred, as JSON: those of a session repeat. */
const prefixes = new BoundedMap<string, readonly [name: string, json: string][]>(1000)
/** Longer prefixes are not kept. */
const KEPT = 200

function prefixJson(prefix: string): readonly [name: string, json: string][] {
  const known = prefixes.get(prefix)
  if (known) return known
  const fields = Object.entries(prefixFields(prefix))
  const json = fields.map(([name, value]): [string, string] => [name, JSON.stringify(value)])
  if (prefix.length <= KEPT) prefixes.set(prefix, json)
  return json
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
  const prefix = `${record.text(from, stamp.at)}${record.text(stamp.end, at)}`.trim()
  for (const [name, json] of prefixJson(prefix)) record.json(name, json)
  const colon = bytes.indexOf(0x3a, end)
  if (colon < 0 || colon >= to) return endWithPairs(record, end, to)
  // Durations and SQL come behind a colon.
  const message = record.text(end, to)
  const { duration } = messageFields(message)
  if (duration !== undefined && record.has('duration')) return false
  if (duration !== undefined) record.json('duration', JSON.stringify(duration))
  return endWithPairs(record, end, end + beforeSql(message).length)
}
