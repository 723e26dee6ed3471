import { lineEnd } from '../../../kit/bytes.ts'
import type { Zone } from '../../time.ts'
import {
  encodeLine,
  type LineFormat,
  type RecordFields,
  recordParts,
  sourceOf,
  stripAnsi,
  unparsed,
} from '../format.ts'
import { fits } from '../read/json-fit.ts'
import { LEVELS } from '../read/level.ts'
import { isDigit } from '../read/stamp.ts'
import { epochPieces, type Piece, timePieces } from '../shape.ts'
import { PARENTS, ROLES, type Role } from './keys.ts'
import { jsonMarks } from './marks.ts'
import { findKey, type IsWanted, value } from './member.ts'
import { visitJson } from './members.ts'
import { filledTemplate } from './template.ts'
import { levelOf, timeOf } from './values.ts'

/** Reads a line whose end is not available, such as one longer than a sample. */
export const openJson: Pick<LineFormat, 'starts' | 'time' | 'level'> = {
  starts: (bytes, from) => bytes[from] === 0x7b && bytes[from + 1] === 0x22,
  time: (bytes, from, to, zone) =>
    findKey(bytes, from, to, isTime) ? timeOf(bytes, value.from, value.to, zone) : Number.NaN,
  level: (bytes, from, to) => {
    const key = levelKeyIn(bytes, from, to)
    if (key !== null) return levelOf(key, bytes, value.from, value.to)
    // Serilog writes only other levels than this one.
    return findKey(bytes, from, to, isSerilogTime) ? INFO : -1
  },
}

const INFO = LEVELS.indexOf('info')
const isSerilogTime = (key: string) => key === '@t'

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
  shape: shapeOf,
  marks: jsonMarks,
  members: (bytes, from, to, visit) => visitJson(bytes, from, lineEnd(bytes, from, to), visit),
  fields: jsonFields,
  written: 'json',
}

/** Constants and objects of other members up to this size are compared as they are, but for their numbers. */
const SHORT = 64

/** The pieces of a line up to its time and level. */
function shapeOf(bytes: Uint8Array, from: number, to: number): Piece[] | null {
  const pieces: Piece[] = []
  let hasTime = false
  let hasLevel = false
  let isKnown = isObject(bytes, from, to)
  const isLastOf =
    (parent: string): IsWanted =>
    (name, _, start, end) => {
      const key = parent + name
      const role = ROLES.get(key)
      const isText = bytes[start] === 0x22
      // It may hold the level.
      if (!hasLevel && parent === '' && PARENTS.has(key) && bytes[start] === 0x7b) {
        findKey(bytes, start, end, isLastOf(`${key}.`))
        pieces.push({ as: 'same', to: end })
        return (hasTime && hasLevel) || !isKnown
      }
      const inner = isText ? start + 1 : start
      const innerEnd = isText ? end - 1 : end
      pieces.push({ as: 'same', to: inner })
      if (role === 'time' && !hasTime) {
        isKnown = isTime(key, bytes, start, end)
        hasTime = true
        const time = (isText ? timePieces : epochPieces)(bytes, inner, innerEnd)
        pieces.push(...(time ?? []), { as: time ? 'same' : 'numbers', to: end }, { as: 'follows', to: end })
      } else if (role === 'level' && !hasLevel) {
        isKnown = isLevel(key, bytes, start, end)
        hasLevel = true
        pieces.push({ as: 'word', at: inner, to: innerEnd, level: levelOf(key, bytes, start, end) })
      } else if (isText) pieces.push({ as: 'string', to: end })
      else if (isDigit(bytes[start]!) || end - start <= SHORT) pieces.push({ as: 'numbers', to: end })
      else isKnown = false
      // Behind a blank, other lines might have more of it.
      const isBare = !isText && (role === 'time' || role === 'level')
      if (isBare && bytes[end] !== 0x2c && bytes[end] !== 0x7d) isKnown = false
      // An object with the level must be whole.
      return (hasTime && hasLevel && parent === '') || !isKnown
    }
  findKey(bytes, from, to, isLastOf(''))
  if (!hasTime || !hasLevel || !isKnown) return null
  pieces.push({ as: 'object', to })
  return pieces
}

export function isObject(bytes: Uint8Array, from: number, to: number): boolean {
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
  ROLES.get(key) === 'level' && levelOf(key, bytes, from, to) >= 0

/** The key of the level, with a dot if it is in an object; null if there is none. Its value is in `value`. */
function levelKeyIn(bytes: Uint8Array, from: number, to: number): string | null {
  const isInside =
    (parent: string): IsWanted =>
    (key, ...where) =>
      isLevel(`${parent}.${key}`, ...where)
  const isParent: IsWanted = (key, bytes, from, to) =>
    bytes[from] === 0x7b && PARENTS.has(key) && findKey(bytes, from, to, isInside(key))
  if (!findKey(bytes, from, to, (key, ...where) => isLevel(key, ...where) || isParent(key, ...where)))
    return null
  const { key } = value
  if (bytes[value.from] !== 0x7b) return key
  findKey(bytes, value.from, value.to, isInside(key))
  return `${key}.${value.key}`
}

function jsonFields(text: string, zone: Zone): RecordFields {
  const { record, line, more } = recordParts(text)
  let object: Record<string, unknown>
  try {
    if (!fits(line)) return unread(record, zone)
    object = JSON.parse(line)
  } catch {
    const known = unread(record, zone)
    return (known.time ?? known.level) ? known : unparsed(text)
  }
  const bytes = encodeLine(line)
  const members = new Members(object)
  const out: RecordFields = { message: '' }
  if (findKey(bytes, 0, bytes.length, isTime)) {
    const { key } = value
    const epoch = timeOf(bytes, value.from, value.to, zone)
    if (!Number.isNaN(epoch)) out.time = zone.format(epoch)
    if (!Number.isNaN(epoch)) members.take(key)
  }
  const level = levelName(bytes, members)
  if (level !== undefined) out.level = level
  const message = messageOf(members)
  const source = members.takeFirst('source', toSource)
  if (source) out.source = source
  const tags = members.takeAll('tag', textOf).filter((tag) => tag !== '')
  if (typeof object.level === 'number' && typeof object.name === 'string') {
    // Bunyan's and pino's loggers.
    tags.push(object.name)
    members.take('name')
  }
  if (tags.length > 0) out.tags = tags
  out.message = (message ?? '') + more
  if (Object.keys(members.rest).length > 0) out.context = members.rest
  return out
}

/** The level's name; a word that is none of the levels is returned as it is. */
function levelName(bytes: Uint8Array, members: Members): string | undefined {
  const key = levelKeyIn(bytes, 0, bytes.length)
  if (key !== null) {
    members.take(key)
    return LEVELS[levelOf(key, bytes, value.from, value.to)]!
  }
  const isWord = (member: unknown) => typeof member === 'string' || typeof member === 'number'
  const own = members.takeFirst('level', (member, path) =>
    isWord(member) && /level|lvl|severity/i.test(path) ? String(member) : null,
  )
  return own ?? LEVELS[openJson.level(bytes, 0, bytes.length)]
}

function messageOf(members: Members): string | null {
  const { rest } = members
  const template = rest['@mt'] ?? rest.MessageTemplate
  if (typeof template === 'string' && rest['@m'] === undefined && rest.RenderedMessage === undefined) {
    const inner = rest.Properties
    const values = isPlainObject(inner) ? inner : rest
    const renderings = Array.isArray(rest['@r']) ? rest['@r'] : []
    for (const key of ['@mt', 'MessageTemplate', '@r']) members.take(key)
    return stripAnsi(filledTemplate(template, values, renderings))
  }
  const message = members.takeFirst('message', messageText)
  return message === null ? null : stripAnsi(message)
}

/** The members of a record that have no place of their own yet. Members of members are named with a dot. */
class Members {
  // Without a prototype: a key may be `__proto__`.
  readonly rest: Record<string, unknown> = Object.create(null)

  constructor(object: Record<string, unknown>) {
    for (const [key, member] of Object.entries(object)) this.rest[key] = member
  }

  /** Takes the members of a role that `read` accepts, the first `most` of them. */
  takeAll<Value>(
    role: Role,
    read: (member: unknown, path: string) => Value | null,
    most = Infinity,
  ): Value[] {
    const found: Value[] = []
    for (const [path, member] of this.#of(role)) {
      const own = found.length < most ? read(member, path) : null
      if (own === null) continue
      this.take(path)
      found.push(own)
    }
    return found
  }

  takeFirst<Value>(role: Role, read: (member: unknown, path: string) => Value | null): Value | null {
    return this.takeAll(role, read, 1)[0] ?? null
  }

  take(path: string): void {
    if (Object.hasOwn(this.rest, path)) {
      delete this.rest[path]
      return
    }
    const dot = path.indexOf('.')
    const parent = this.rest[path.slice(0, dot)]
    if (dot < 0 || !isPlainObject(parent)) return
    const { [path.slice(dot + 1)]: _, ...others } = parent
    if (Object.keys(others).length > 0) this.rest[path.slice(0, dot)] = others
    else delete this.rest[path.slice(0, dot)]
  }

  /** The members of a role, those of the record itself first. */
  #of(role: Role): [path: string, member: unknown][] {
    const own: [string, unknown][] = []
    const inner: [string, unknown][] = []
    for (const key in this.rest) {
      const member = this.rest[key]
      if (ROLES.get(key) === role) own.push([key, member])
      if (!PARENTS.has(key) || !isPlainObject(member)) continue
      for (const name of Object.keys(member))
        if (ROLES.get(`${key}.${name}`) === role) inner.push([`${key}.${name}`, member[name]])
    }
    return [...own, ...inner]
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const textOf = (member: unknown) => (typeof member === 'string' ? member : null)

/** journald writes a message that is not plain text as an array of bytes. */
function messageText(member: unknown): string | null {
  if (typeof member === 'string') return member
  const isBytes =
    Array.isArray(member) && member.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)
  return isBytes && member.length > 0 ? new TextDecoder().decode(Uint8Array.from(member as number[])) : null
}

/** A record whose JSON is broken, too deep or too wide: its text, and the time and level that filters find in it. */
function unread(record: string, zone: Zone): RecordFields {
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

function toSource(member: unknown): { file: string; line: number } | null {
  if (typeof member === 'string') return sourceOf(member)
  const { file, line } = (member ?? {}) as Record<string, unknown>
  return typeof file === 'string' && typeof line === 'number' ? { file, line } : null
}
