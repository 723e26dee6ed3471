import { BoundedMap } from '../../limits/bounded-map.ts'
import { prefixFields, severityAt, stampIn, withoutPrefix } from '../format/database/postgresql.ts'
import { beforeSql, messageFields } from '../format/read/durations.ts'
import { wordOf } from '../format/read/words.ts'
import { find } from './bytes/words.ts'
import { type KnownFields, knownFields, type RecordOut } from './record.ts'

/** The fields of prefixes that occurred: those of a session repeat. They are prepared when they do. */
const prefixes = new BoundedMap<string, { context: Record<string, unknown>; known: KnownFields | null }>(1000)
/** Longer prefixes are not kept. */
const KEPT = 100
/** Where each line has a prefix of its own, keeping them takes longer than reading them: one in `SELDOM` is tried. */
const SELDOM = 32
/** How many new prefixes are kept before that. */
const NEW_BEFORE_SAMPLING = 2000
/** Rises when a prefix is known, and falls when it is not. */
let worth = NEW_BEFORE_SAMPLING

/** Writes the fields in a prefix whose time is at its beginning, or anywhere. */
function writePrefix(record: RecordOut, from: number, to: number, stamp: { at: number; end: number }): void {
  if (stamp.at > from || to - stamp.end > KEPT || record.line.wide < to) {
    const prefix = `${record.text(from, stamp.at)}${record.text(stamp.end, to)}`
    writeFields(record, prefixFields(prefix.trim()))
    return
  }
  const prefix = record.text(stamp.end, to)
  worth--
  if (worth < 0 && worth % SELDOM !== 0) {
    writeFields(record, prefixFields(prefix.trim()))
    return
  }
  const occurred = prefixes.get(prefix)
  if (occurred) {
    worth = Math.min(worth + SELDOM, NEW_BEFORE_SAMPLING)
    occurred.known ??= knownFields(occurred.context)
    record.fields(occurred.known)
    return
  }
  // A part of a line keeps all of it in memory: this text, and the fields in it, are made anew.
  const own = wordOf(record.bytes, stamp.end, to)
  const context = prefixFields(own.trim())
  prefixes.set(own, { context, known: null })
  writeFields(record, context)
}

function writeFields(record: RecordOut, context: Record<string, unknown>): void {
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
