import { kindOf } from '../format/read/vocabulary.ts'
import { bytesIn } from './bytes/words.ts'
import type { Decision } from './heads.ts'
import type { RecordOut } from './record.ts'

/** Where something is: symbols of a beginning, as in `KnownHeads.places`. */
interface PartPlace {
  from: number
  to: number
}

/** Where the parts of a line are up to its message. */
export interface KnownHead {
  message: number
  tag: PartPlace | null
  source: PartPlace | null
  fields: readonly (PartPlace & { name: string; isNumber: boolean })[]
}

/** Where the groups of a pattern are, by their names; null if that depends on more than their places. */
export function headOf(names: readonly string[], { text, groups }: Decision): KnownHead | null {
  const partOf = (name: string, i = names.indexOf(name)): PartPlace | null => {
    const group = i > 0 ? groups[i] : null
    const value = group ? text.slice(group[0], group[1]).trim() : ''
    if (!group || value === '' || value === '-') return null
    const from = text.indexOf(value, group[0])
    return { from: bytesIn(text, from), to: bytesIn(text, from + value.length) }
  }
  const fields = []
  const level = groups[names.indexOf('level')]
  // `DEBUG1` is a level, and `DEBUG9` is none.
  if (level && /\d/.test(text.slice(...level))) return null
  for (let i = 1; i < names.length; i++) {
    const name = names[i]!
    const part = NO_FIELDS.has(name) ? null : partOf(name, i)
    if (!part) continue
    const value = text.slice(...groups[i]!).trim()
    const kind = kindOf(name)
    const isNumber = kind === 'number'
    if (kind === 'other' || value === '[unknown]' || (isNumber && !/^\d{1,15}$/.test(value))) return null
    fields.push({ ...part, name, isNumber })
  }
  const file = partOf('file')
  const line = partOf('line')
  const source = file && line ? { from: file.from, to: line.to } : null
  if (source && file!.to + 1 !== line!.from) return null
  return { message: bytesIn(text, groups[0]![1]), tag: partOf('tag'), source, fields }
}

/** Groups that are no fields. */
const NO_FIELDS = new Set(['level', 'tag', 'file', 'line'])

/** Whether the numbers of a head are written as JSON writes them: without leading zeros. */
export function isHead(bytes: Uint8Array, { source, fields }: KnownHead, places: Int32Array): boolean {
  for (let i = 0; i < fields.length; i++) {
    const { from, to, isNumber } = fields[i]!
    if (isNumber && bytes[places[from]!] === 0x30 && places[to]! > places[from]! + 1) return false
  }
  if (!source) return true
  const colon = bytes.lastIndexOf(0x3a, places[source.to]! - 1)
  return bytes[colon + 1] !== 0x30 || colon + 2 === places[source.to]
}

/** Writes source, tag and message; returns where the message begins. */
export function writeHeader(
  record: RecordOut,
  { source, tag, message }: KnownHead,
  places: Int32Array,
  to: number,
): number {
  if (source) record.sourceAt(places[source.from]!, places[source.to]!)
  if (tag) record.tagAt(places[tag.from]!, places[tag.to]!)
  const from = record.skipBlanks(places[message]!, to)
  record.message(from, to)
  return from
}

/** Writes the fields of a head; one that the record has stays. */
export function writeHeadFields(record: RecordOut, { fields }: KnownHead, places: Int32Array): void {
  for (let i = 0; i < fields.length; i++) {
    const { name, from, to, isNumber } = fields[i]!
    if (record.has(name)) continue
    if (!isNumber) record.textField(name, places[from]!, places[to]!)
    else {
      record.name(name)
      record.raw(places[from]!, places[to]!)
    }
  }
}
