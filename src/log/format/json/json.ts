import type { Zone } from '../../time.ts'
import { type LineFormat, type RecordFields, recordText, sourceOf, stripAnsi, unparsed } from '../format.ts'
import { fits } from '../read/json-fit.ts'
import { LEVELS, levelAt } from '../read/level.ts'
import { readNamed } from '../read/named.ts'
import { severityIn } from '../read/severities.ts'
import { isDigit, readEpoch, readStamp } from '../read/stamp.ts'
import { ROLES, SOURCES, TAGS } from './keys.ts'
import { ascii, findKey, type IsWanted, value } from './member.ts'
import { visitJson } from './members.ts'

/** Reads a line whose end is not available, such as one longer than a sample. */
const openJson: Pick<LineFormat, 'starts' | 'time' | 'level'> = {
  starts: (bytes, from) => bytes[from] === 0x7b && bytes[from + 1] === 0x22,
  time: (bytes, from, to, zone) =>
    findKey(bytes, from, to, isTime) ? timeOf(bytes, value.from, value.to, zone) : Number.NaN,
  level: (bytes, from, to) => (findKey(bytes, from, to, isLevel) ? levelOf(bytes, value.from, value.to) : -1),
}

/** One JSON object per line; any other line continues the record above. */
export const jsonLines: LineFormat = {
  name: 'json',
  timed: true,
  leveled: true,
  starts: isObject,
  time: (bytes, from, to, zone) =>
    isObject(bytes, from, to) ? openJson.time(bytes, from, to, zone) : Number.NaN,
  level: (bytes, from, to) => (isObject(bytes, from, to) ? openJson.level(bytes, from, to) : -1),
  open: openJson,
  members: (bytes, from, to, visit) => visitJson(bytes, from, lineEnd(bytes, from, to), visit),
  fields: jsonFields,
}

function isObject(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < 2 || bytes[from] !== 0x7b) return false
  let last = to - 1
  // Do not read megabytes of spaces after an object.
  const limit = Math.max(from, to - 1024)
  while (last > limit && bytes[last]! <= 0x20) last--
  return bytes[last] === 0x7d
}

/** Keys such as `label` and `t` mean other things elsewhere, so the value must also look right. */
const isTime: IsWanted = (key, bytes, from) => {
  const first = bytes[from]!
  return ROLES.get(key) === 'time' && (isDigit(first) || first === 0x7b || isDigit(bytes[from + 1]!))
}
const isLevel: IsWanted = (key, bytes, from, to) =>
  ROLES.get(key) === 'level' && levelOf(bytes, from, to) >= 0

/** A time as text, as a number since the epoch, or as MongoDB's and log4j's objects. */
export function timeOf(bytes: Uint8Array, from: number, to: number, zone: Zone): number {
  const first = bytes[from]!
  if (first === 0x22) {
    const stamp = readStamp(bytes, from + 1, to - 1, zone) ?? readNamed(bytes, from + 1, to - 1, zone)
    return stamp ? stamp.epoch : readEpoch(bytes, from + 1, to - 1)
  }
  if (isDigit(first)) return readEpoch(bytes, from, to)
  if (first !== 0x7b || to - from > 200) return Number.NaN
  try {
    return instantOf(JSON.parse(ascii(bytes, from, to)), zone)
  } catch {
    return Number.NaN
  }
}

function instantOf(object: Record<string, unknown>, zone: Zone): number {
  if (typeof object.epochSecond === 'number')
    return object.epochSecond * 1000 + Number(object.nanoOfSecond ?? 0) / 1e6
  const date = object.$date
  if (date !== null && typeof date === 'object')
    return Number((date as Record<string, unknown>).$numberLong ?? Number.NaN)
  if (typeof date === 'number') return date
  const bytes = new TextEncoder().encode(String(date))
  return readStamp(bytes, 0, bytes.length, zone)?.epoch ?? Number.NaN
}

function levelOf(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0x22) {
    const word = levelAt(bytes, from + 1, to - 1)
    if (word >= 0) return word
    // PostgreSQL translates its severities.
    const severity = severityIn(bytes, from + 1, to - 1)
    if (severity !== undefined) return severity
    // journald writes its numbers as text.
    const isNumber = to - from === 3 && isDigit(bytes[from + 1]!)
    return isNumber ? numberAt(bytes, from + 1, to - 1) : letterLevel(bytes[from + 1]!, to - from - 2)
  }
  return numberAt(bytes, from, to)
}

function numberAt(bytes: Uint8Array, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) {
    if (!isDigit(bytes[at]!)) return -1
    number = number * 10 + bytes[at]! - 0x30
  }
  return to > from ? numberLevel(number) : -1
}

/** MongoDB's `I`, `D2`; a letter alone, or with one digit. */
function letterLevel(byte: number, length: number): number {
  if (length < 1 || length > 2) return -1
  const at = 'DIWEF'.indexOf(String.fromCharCode(byte & ~32))
  return at
}

/** Pino's and bunyan's tens, or syslog's 0 (emergency) to 7 (debug). */
function numberLevel(number: number): number {
  if (number >= 10) return number < 30 ? 0 : number < 40 ? 1 : number < 50 ? 2 : number < 60 ? 3 : 4
  return number <= 2 ? 4 : number === 3 ? 3 : number === 4 ? 2 : number <= 6 ? 1 : number === 7 ? 0 : -1
}

function jsonFields(text: string, zone: Zone): RecordFields {
  const record = recordText(text)
  const lf = record.indexOf('\n')
  const line = lf < 0 ? record : record.slice(0, lf)
  if (!fits(line)) return oversized(record, zone)
  let object: Record<string, unknown>
  try {
    object = JSON.parse(line)
  } catch {
    return unparsed(text)
  }
  const bytes = new TextEncoder().encode(line)
  const out: RecordFields = { message: '' }
  const timeKey = findKey(bytes, 0, bytes.length, isTime) ? value.key : null
  const epoch = timeKey === null ? Number.NaN : timeOf(bytes, value.from, value.to, zone)
  const levelKey = findKey(bytes, 0, bytes.length, isLevel) ? value.key : null
  const level = levelKey === null ? -1 : levelOf(bytes, value.from, value.to)
  // Without a prototype: a key may be `__proto__`.
  const rest: Record<string, unknown> = Object.create(null)
  const tags: string[] = []
  let said = false
  for (const [key, member] of Object.entries(object)) {
    const role = ROLES.get(key)
    const message = said || role !== 'message' ? null : messageOf(member)
    if (key === timeKey && !Number.isNaN(epoch)) out.time = zone.format(epoch)
    else if (key === levelKey) out.level = LEVELS[level]!
    else if (role === 'level' && levelKey === null && out.level === undefined && isWord(member))
      out.level = String(member)
    else if (message !== null) {
      out.message = stripAnsi(message)
      said = true
    } else if (SOURCES.includes(key) && !out.source && toSource(member)) out.source = toSource(member)!
    else if (TAGS.includes(key) && typeof member === 'string') {
      if (member !== '') tags.push(member)
    } else rest[key] = member
  }
  if (!said) out.message = takeInner(rest) ?? ''
  if (tags.length > 0) out.tags = tags
  if (Object.keys(rest).length > 0) out.context = rest
  if (lf >= 0) out.message += record.slice(lf)
  return out
}

const isWord = (member: unknown) => typeof member === 'string' || typeof member === 'number'

/** journald writes a message that is not plain text as an array of bytes. */
function messageOf(member: unknown): string | null {
  if (typeof member === 'string') return member
  const isBytes =
    Array.isArray(member) && member.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)
  return isBytes && member.length > 0 ? new TextDecoder().decode(Uint8Array.from(member as number[])) : null
}

/** Rust's tracing has the message among its `fields`. */
function takeInner(rest: Record<string, unknown>): string | null {
  const fields = rest.fields
  if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) return null
  const { message, ...others } = fields as Record<string, unknown>
  if (typeof message !== 'string') return null
  if (Object.keys(others).length > 0) rest.fields = others
  else delete rest.fields
  return stripAnsi(message)
}

/** A record whose JSON is too deep or too wide: its text, and the time and level that filters find in it. */
function oversized(record: string, zone: Zone): RecordFields {
  const bytes = new TextEncoder().encode(record)
  const to = lineEnd(bytes, 0, bytes.length)
  const epoch = jsonLines.time(bytes, 0, to, zone)
  const level = LEVELS[jsonLines.level(bytes, 0, to)]
  return {
    ...(!Number.isNaN(epoch) && { time: zone.format(epoch) }),
    ...(level && { level }),
    message: record,
    unparsed: true,
  }
}

function lineEnd(bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.indexOf(0x0a, from)
  return lf < 0 || lf > to ? to : lf
}

function toSource(member: unknown): { file: string; line: number } | null {
  if (typeof member === 'string') return sourceOf(member)
  const { file, line } = (member ?? {}) as Record<string, unknown>
  return typeof file === 'string' && typeof line === 'number' ? { file, line } : null
}
