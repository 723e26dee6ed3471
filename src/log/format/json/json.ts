import type { Zone } from '../../time.ts'
import { type LineFormat, type RecordFields, recordText, sourceOf, stripAnsi, unparsed } from '../format.ts'
import { fits, MAX_DEPTH, MAX_ELEMENTS, MAX_KEYS } from '../read/json-fit.ts'
import { LEVELS, levelAt } from '../read/level.ts'
import { stringEnd } from '../read/quoted.ts'
import { isDigit, readEpoch, readStamp } from '../read/stamp.ts'

type Role = 'time' | 'level' | 'message'

/** How loggers spell the three: zap, pino, slog, bunyan, zerolog, log4j, MongoDB, Serilog, structlog, ECS. */
const KEYS: Record<Role, readonly string[]> = {
  time: [
    'time',
    'ts',
    'timestamp',
    '@timestamp',
    't',
    '@t',
    'datetime',
    'date',
    'asctime',
    'instant',
    'timeMillis',
  ],
  level: [
    'level',
    'lvl',
    'severity',
    'log.level',
    'levelname',
    'loglevel',
    's',
    '@l',
    'l',
    'L',
    'severity_text',
  ],
  message: ['msg', 'message', 'event', '@m', '@mt', 'MESSAGE', 'M', 'body'],
}
const TAGS = ['logger', 'component', 'module', 'c', 'N']
const SOURCES = ['caller', 'source', 'C']

const ROLES = new Map<string, Role>()
for (const role of ['time', 'level', 'message'] as const)
  for (const key of KEYS[role]) {
    ROLES.set(key, role)
    if (key.length > 1) ROLES.set(key[0]!.toUpperCase() + key.slice(1), role)
  }

/** One JSON object per line; what is none continues the record above. */
export const jsonLines: LineFormat = {
  name: 'json',
  timed: true,
  leveled: true,
  starts: isObject,
  time: (bytes, from, to, zone) =>
    isObject(bytes, from, to) ? openJson.time(bytes, from, to, zone) : Number.NaN,
  level: (bytes, from, to) => (isObject(bytes, from, to) ? openJson.level(bytes, from, to) : -1),
  fields: jsonFields,
}

/** The same for a line whose end is not seen, such as one longer than a sample. */
export const openJson: Pick<LineFormat, 'starts' | 'time' | 'level'> = {
  starts: (bytes, from) => bytes[from] === 0x7b && bytes[from + 1] === 0x22,
  time: (bytes, from, to, zone) =>
    findRole(bytes, from, to, 'time') ? timeOf(bytes, value.from, value.to, zone) : Number.NaN,
  level: (bytes, from, to) =>
    findRole(bytes, from, to, 'level') ? levelOf(bytes, value.from, value.to) : -1,
}

function isObject(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < 2 || bytes[from] !== 0x7b) return false
  let last = to - 1
  // Megabytes of spaces behind an object are no reason to read them.
  const limit = Math.max(from, to - 1024)
  while (last > limit && bytes[last]! <= 0x20) last--
  return bytes[last] === 0x7d
}

/** Where the value of the key last found lies. */
const value = { from: 0, to: 0 }

/**
 * Finds a key of the object itself, not of one inside it. Loggers write time and level first, so this reads some
 * fifty bytes of a line where JSON.parse would read all. It gives up where the object gets too deep or too wide to
 * be parsed at all.
 */
function findRole(bytes: Uint8Array, from: number, to: number, role: Role): boolean {
  let at = from + 1
  left = MAX_KEYS
  elements = MAX_ELEMENTS
  while (left-- > 0) {
    while (at < to && (bytes[at]! <= 0x20 || bytes[at] === 0x2c)) at++
    if (bytes[at] !== 0x22) return false
    const keyEnd = stringEnd(bytes, at, to)
    if (keyEnd < 0) return false
    let start = keyEnd
    while (start < to && bytes[start]! <= 0x20) start++
    if (bytes[start] !== 0x3a) return false
    start++
    while (start < to && bytes[start]! <= 0x20) start++
    const end = valueEnd(bytes, start, to)
    if (end < 0) return false
    if (keyEnd - at < 20 && ROLES.get(ascii(bytes, at + 1, keyEnd - 1)) === role) {
      value.from = start
      value.to = end
      return true
    }
    at = end
  }
  return false
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i]!)
  return text
}

/** How many more keys and array elements a search looks at. */
let left = 0
let elements = 0

function valueEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0x22) return stringEnd(bytes, from, to)
  let depth = 0
  for (let at = from; at < to; ) {
    const byte = bytes[at]!
    if (byte === 0x22) {
      at = stringEnd(bytes, at, to)
      if (at < 0) return -1
      continue
    }
    if (byte === 0x7b || byte === 0x5b) {
      if (++depth >= MAX_DEPTH) return -1
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (byte === 0x2c) {
      if (depth === 0) return at
      if (--elements < 0) return -1
    } else if (byte === 0x3a && --left < 0) return -1
    at++
  }
  return -1
}

/** A time as text, as a number since the epoch, or as MongoDB's and log4j's objects. */
function timeOf(bytes: Uint8Array, from: number, to: number, zone: Zone): number {
  const first = bytes[from]!
  if (first === 0x22) {
    const stamp = readStamp(bytes, from + 1, to - 1, zone)
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
    const level = levelAt(bytes, from + 1, to - 1)
    return level >= 0 ? level : letterLevel(bytes[from + 1]!, to - from - 2)
  }
  let number = 0
  for (let at = from; at < to; at++) {
    if (!isDigit(bytes[at]!)) return -1
    number = number * 10 + bytes[at]! - 0x30
  }
  return numberLevel(number)
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
  const epoch = jsonLines.time(bytes, 0, bytes.length, zone)
  // Without a prototype: a key may be `__proto__`.
  const rest: Record<string, unknown> = Object.create(null)
  const seen = new Set<Role>()
  const tags: string[] = []
  for (const [key, member] of Object.entries(object)) {
    const role = ROLES.get(key)
    if (role === 'time' && !seen.has(role) && !Number.isNaN(epoch)) out.time = zone.format(epoch)
    else if (role === 'level' && !seen.has(role)) out.level = levelName(bytes, member)
    else if (role === 'message' && !seen.has(role) && typeof member === 'string')
      out.message = stripAnsi(member)
    else if (SOURCES.includes(key) && !out.source && toSource(member)) out.source = toSource(member)!
    else if (TAGS.includes(key) && typeof member === 'string') tags.push(member)
    else {
      rest[key] = member
      continue
    }
    if (role) seen.add(role)
  }
  if (tags.length > 0) out.tags = tags
  if (Object.keys(rest).length > 0) out.context = rest
  if (lf >= 0) out.message += record.slice(lf)
  return out
}

/** A record whose JSON is too deep or too wide: its text, and the time and level that filters find in it. */
function oversized(record: string, zone: Zone): RecordFields {
  const bytes = new TextEncoder().encode(record)
  const to = lineEnd(bytes, 0)
  const epoch = jsonLines.time(bytes, 0, to, zone)
  const level = LEVELS[jsonLines.level(bytes, 0, to)]
  return {
    ...(!Number.isNaN(epoch) && { time: zone.format(epoch) }),
    ...(level && { level }),
    message: record,
    unparsed: true,
  }
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(0x0a, from)
  return lf < 0 ? bytes.length : lf
}

function levelName(bytes: Uint8Array, member: unknown): string {
  const level = jsonLines.level(bytes, 0, bytes.length)
  return level >= 0 ? LEVELS[level]! : String(member)
}

function toSource(member: unknown): { file: string; line: number } | null {
  if (typeof member === 'string') return sourceOf(member)
  const { file, line } = (member ?? {}) as Record<string, unknown>
  return typeof file === 'string' && typeof line === 'number' ? { file, line } : null
}
