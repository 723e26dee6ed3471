import { PARENTS, ROLES, type Role } from '../format/json/keys.ts'
import { levelOf, timeOf } from '../format/json/values.ts'
import { isDigit } from '../format/read/stamp.ts'
import { wordOf } from '../format/read/words.ts'
import { jsonEnd } from './bytes/json-value.ts'
import { digitsEnd, plainEnd } from './bytes/words.ts'
import type { RecordOut } from './record.ts'
import { MemberTable, NESTED, NONE, PARENT, QUOTED, quotedEnd, SCALAR } from './table.ts'

const table = new MemberTable()

/** Longer lines may have more members than may be parsed. */
const LONGEST = 32 * 1024

/** Writes a line as `jsonFields` reads it, if all its members are spelled as JSON.stringify spells them. */
export function writeJson(record: RecordOut, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  table.clear()
  if (to - from > LONGEST || record.bytes[from] !== 0x7b || readMembers(record, from, to, NONE) !== to)
    return false
  const { bytes } = record
  const own = table.size
  let epoch = Number.NaN
  let level = -1
  // With both, the name is that of a logger.
  let isNamed = false
  let isNumber = false
  // With an object of the same path, the one with a dot in its key goes first.
  let hasDot = false
  for (let i = 0; i < own; i++) {
    const key = wordOf(bytes, table.keyFrom[i]!, table.keyTo[i]!)
    const known = KNOWN.get(key)
    if (known === undefined) continue
    const kind = table.kind[i]!
    const isText = kind === QUOTED
    // A value with its quotes.
    const start = isText ? table.from[i]! - 1 : table.from[i]!
    const end = isText ? table.to[i]! + 1 : table.to[i]!
    if (known === 'unusual') return false
    hasDot ||= key.includes('.')
    if (kind === NESTED && known !== 'time' && known !== 'name') {
      if (!PARENTS.has(key) || bytes[start] !== 0x7b) return false
      const first = table.size
      if (readMembers(record, start, end, i) !== end) return false
      table.kind[i] = PARENT
      if (level < 0) level = takeLevel(bytes, key, first)
    } else if (known === 'time') {
      // Only a value that looks like a time counts.
      const isLike = isDigit(bytes[start]!) || bytes[start] === 0x7b || isDigit(bytes[start + 1]!)
      if (!Number.isNaN(epoch) || !isLike) continue
      epoch = timeOf(bytes, start, end, record.zone)
      if (Number.isNaN(epoch)) return false
      table.place[i] = 1
    } else if (known === 'level') {
      isNumber ||= key === 'level' && !isText
      if (level >= 0) continue
      level = levelOf(key, bytes, start, end)
      if (level >= 0) table.place[i] = 1
    } else if (known === 'name') isNamed = true
    else if (isText && known !== 'parent' && !table.putText(bytes, known, i)) return false
  }
  if (level < 0 || Number.isNaN(epoch) || (isNamed && isNumber)) return false
  if (hasDot && table.size > own) return false
  return putInner(bytes, own) && table.write(record, epoch, level)
}

/** Takes the level from the members of an object, which are in the table from `first` on; -1 if it has none. */
function takeLevel(bytes: Uint8Array, parent: string, first: number): number {
  for (let i = first; i < table.size; i++) {
    const path = pathOf(bytes, parent, i)
    if (ROLES.get(path) !== 'level') continue
    const quote = table.kind[i] === QUOTED ? 1 : 0
    const level = levelOf(path, bytes, table.from[i]! - quote, table.to[i]! + quote)
    if (level < 0) continue
    table.place[i] = 1
    return level
  }
  return -1
}

/** Gives the texts of objects their places, behind those of the line itself. False if that is left to `fields`. */
function putInner(bytes: Uint8Array, own: number): boolean {
  for (let i = own; i < table.size; i++) {
    const parent = table.parent[i]!
    const role = ROLES.get(pathOf(bytes, wordOf(bytes, table.keyFrom[parent]!, table.keyTo[parent]!), i))
    if (role === undefined || role === 'level') continue
    if (role === 'time' || table.kind[i] === NESTED) return false
    if (table.kind[i] === QUOTED && !table.putText(bytes, role, i)) return false
  }
  return true
}

const pathOf = (bytes: Uint8Array, parent: string, i: number) =>
  `${parent}.${wordOf(bytes, table.keyFrom[i]!, table.keyTo[i]!)}`

/** What the keys of members mean: those of Serilog's templates make a line unusual. */
type Known = Role | 'parent' | 'name' | 'unusual'
const KNOWN = new Map<string, Known>([...PARENTS].map((key) => [key, 'parent']))
for (const [key, role] of ROLES) KNOWN.set(key, role)
KNOWN.set('name', 'name')
for (const key of ['@mt', 'MessageTemplate', '__proto__']) KNOWN.set(key, 'unusual')

/** Reads the members of the object at bytes[from] into the table; returns the offset after it, or -1 if it is unusual. */
function readMembers(record: RecordOut, from: number, to: number, parent: number): number {
  const { bytes } = record
  const { view } = record.copy
  for (let at = from + 1; at < to; at++) {
    at = skipSpaces(bytes, at, to)
    const keyEnd = bytes[at] === 0x22 ? plainEnd(view, at + 1, to) : to
    if (keyEnd >= to || bytes[keyEnd] !== 0x22) return -1
    const i = table.add(bytes, at + 1, keyEnd, parent)
    const colon = skipSpaces(bytes, keyEnd + 1, to)
    if (i < 0 || bytes[colon] !== 0x3a) return -1
    at = skipSpaces(bytes, readValue(record, i, skipSpaces(bytes, colon + 1, to), to), to)
    if (at >= to) return -1
    if (bytes[at] === 0x7d) return at + 1
    if (bytes[at] !== 0x2c) return -1
  }
  return -1
}

/** Reads a value into the table; returns the offset after it, or `to` if it is written in an unusual way. */
function readValue(record: RecordOut, i: number, from: number, to: number): number {
  const { view } = record.copy
  const isText = record.bytes[from] === 0x22
  const end = isText ? quotedEnd(record, from + 1, to) : jsonEnd(view, from, to)
  // An unfinished line may end before the value.
  if (end < 0) return to
  table.kind[i] = isText ? QUOTED : isScalar(view, from, end) ? SCALAR : NESTED
  table.from[i] = isText ? from + 1 : from
  table.to[i] = end
  return isText ? end + 1 : end
}

/** Whether valid JSON is true, false, null or a whole number as JSON.stringify writes it. */
function isScalar(view: DataView, from: number, to: number): boolean {
  const letter = view.getUint8(from)
  return (letter >= 0x61 && letter <= 0x7a) || (digitsEnd(view, from, to) === to && to - from <= 15)
}

function skipSpaces(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] === 0x20) at++
  return at
}
