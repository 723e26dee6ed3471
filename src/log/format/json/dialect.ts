import { decode, type LineFormat, type RecordFields } from '../format.ts'
import { messageFields } from '../read/durations.ts'
import { LEVELS } from '../read/level.ts'
import { firstDigits } from '../read/status.ts'
import { addFields, levelOfStatus } from '../read/vocabulary.ts'
import { isObject, isPlainObject, jsonLines, openJson } from './json.ts'
import { ACCESS_MEMBERS, DIALECTS, type Dialect } from './keys.ts'
import { jsonMarks, valueMarks } from './marks.ts'
import { ascii, findKey, value } from './member.ts'

/** A line of a sample. */
interface JsonLine {
  bytes: Uint8Array
  from: number
  to: number
}

/** How many lines are looked at for the names of a system: reading all keys of a line costs as much as parsing it. */
const LOOKED_AT = 12

/** The JSON format of some lines: with the names of the system that wrote them, if it is one that has its own. */
export function jsonFor(lines: readonly JsonLine[]): LineFormat {
  const objects = lines.filter(({ bytes, from }) => bytes[from] === 0x7b)
  const step = Math.max(1, Math.floor(objects.length / LOOKED_AT))
  const sample = objects.filter((_, i) => i % step === 0)
  const keys = new Set<string>()
  for (const { bytes, from, to } of sample)
    findKey(bytes, from, to, (key) => {
      keys.add(key)
      return false
    })
  const dialect = DIALECTS.find(({ key }) => keys.has(key))
  if (dialect) return dialectLines(dialect)
  if (!keys.has('status')) return jsonLines
  return sample.some(({ bytes, from, to }) => statusIn(bytes, from, to) > 0) ? accessLines : jsonLines
}

/** What has fields of its own is not written as `jsonLines` would. */
const { written: _written, ...unwritten } = jsonLines

function dialectLines(dialect: Dialect): LineFormat {
  const nameOf = (path: string) => (Object.hasOwn(dialect.names, path) ? dialect.names[path]! : path)
  const fields: LineFormat['fields'] = (text, zone) => withNames(jsonLines.fields(text, zone), dialect)
  return {
    ...unwritten,
    members(bytes, from, to, visit) {
      if (jsonLines.members!(bytes, from, to, (path, read) => visit(nameOf(path), read))) return true
      const duration = dialect.postgresql ? durationAt(bytes, from, to) : undefined
      return duration !== undefined && visit('duration', () => String(duration))
    },
    fields,
  }
}

function withNames(record: RecordFields, { names, postgresql }: Dialect): RecordFields {
  const context: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(record.context ?? {}))
    if (!Object.hasOwn(names, key)) context[key] = member
    else addFields(context, { [names[key]!]: String(member) })
  if (postgresql) Object.assign(context, messageFields(record.message))
  return Object.keys(context).length > 0 ? { ...record, context } : record
}

/** How long something took, by PostgreSQL's message. */
function durationAt(bytes: Uint8Array, from: number, to: number): unknown {
  if (!findKey(bytes, from, to, (key) => key === 'message')) return undefined
  return messageFields(decode(bytes, value.from + 1, Math.min(value.to, value.from + 2000) - 1)).duration
}

/** The members that show that a record with a status is one of an access log. */
const REQUESTS = new Set(['request', 'request_method', 'request_uri'])

/** The HTTP status of an access log's record, 0 if it is none. */
function statusIn(bytes: Uint8Array, from: number, to: number): number {
  if (!findKey(bytes, from, to, (key) => REQUESTS.has(key))) return 0
  if (!findKey(bytes, from, to, (key) => key === 'status')) return 0
  const status = ascii(bytes, value.from, Math.min(value.to, value.from + 6)).replaceAll('"', '')
  return /^\d{3}$/.test(status) ? Number(status) : 0
}

function accessLevel(bytes: Uint8Array, from: number, to: number): number {
  const status = statusIn(bytes, from, to)
  return status > 0 ? levelOfStatus(status) : openJson.level(bytes, from, to)
}

/** Access logs of Caddy, and of nginx where it writes JSON. The status decides the level, whatever the line says. */
const { members: _, shape: _shape, ...withoutMembers } = unwritten
const accessLines: LineFormat = {
  ...withoutMembers,
  level: (bytes, from, to) => (isObject(bytes, from, to) ? accessLevel(bytes, from, to) : -1),
  open: { ...openJson, level: accessLevel },
  marks: (level) =>
    jsonMarks(level)?.concat(valueMarks('status', [firstDigits(level), `"${firstDigits(level)}`])) ?? null,
  fields(text, zone) {
    const record = jsonLines.fields(text, zone)
    const { context } = record
    if (!isPlainObject(context) || !Object.keys(context).some((key) => REQUESTS.has(key))) return record
    const fields: Record<string, unknown> = {}
    for (const [group, paths] of Object.entries(ACCESS_MEMBERS))
      for (const path of paths) {
        const text = scalarAt(context, path.split('.'))
        if (text !== null) addFields(fields, { [group]: text })
        if (text !== null) break
      }
    if (typeof fields.status !== 'number') return record
    return {
      ...record,
      level: LEVELS[levelOfStatus(fields.status)]!,
      // nginx has no message.
      message:
        record.message === '' && typeof context.request === 'string' ? context.request : record.message,
      context: { ...context, ...fields },
    }
  },
}

/** A member by its path as text; of a list, such as a header's values, the first. */
function scalarAt(context: unknown, [key, ...path]: readonly string[]): string | null {
  if (key === undefined) {
    const first = Array.isArray(context) ? context[0] : context
    return typeof first === 'string' || typeof first === 'number' ? String(first) : null
  }
  return isPlainObject(context) && Object.hasOwn(context, key) ? scalarAt(context[key], path) : null
}
