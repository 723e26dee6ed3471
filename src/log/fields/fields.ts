import type { LogFields } from '../../kit/answers.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { decode, type RecordFields, type Visit } from '../format/format.ts'
import { LONGEST_PATH } from '../format/json/members.ts'
import { mainKind, Numbers, numberReader } from '../numbers/numbers.ts'
import type { Reader } from '../pattern/pattern.ts'
import type { View } from '../view/answer.ts'
import type { ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { viewIfChanged } from '../view/view.ts'
import { type Bytes, visitMembers } from '../where/where.ts'
import { type Group, type PatternOrigin, Patterns } from './patterns.ts'

/** How many records are examined, and how many bytes of them. */
export const RECORDS = 10_000
export const BYTES = 8 * 1024 * 1024
const FIELDS = 200
const VALUES = 10
const PATTERNS = 100
/** The parts of time in which messages of a kind are counted. */
const PARTS = 24
/** How many different values of a field are counted; a field with more is an id, whose top values mean nothing. */
const DISTINCT = 2000
const LONGEST_VALUE = 200

/** Counts the fields and message patterns of the newest records that match a request; null if the client has them. */
export async function fieldsOf(
  context: ViewContext,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<{ fields: LogFields; notes: View['notes'] } | null> {
  const asked = { ...request, cursor: null, first: false, records: true, each: true }
  const view = await viewIfChanged(
    context,
    { ...asked, fit: { size: BYTES, lines: RECORDS } },
    isKnown,
    signal,
  )
  if (view === null) return null
  try {
    // With `each`, only an empty range has no pieces.
    const pieces = view.pieces ?? []
    const reader = { format: view.format, zone: context.zone }
    const found = await countFields(pieces.map((bytes) => ({ bytes, reader })))
    return {
      fields: { ...found, sampled: view.prev !== null, complete: isWhole(view.notes) },
      notes: view.notes,
    }
  } finally {
    view.memory?.release()
  }
}

export function isWhole(notes: View['notes']): boolean {
  return !notes.some((note) => note === 'scan-budget' || note === 'answer-budget' || note === 'archive-cut')
}

/** Counts the fields and message patterns of records, each with what reads it. */
export async function countFields(
  records: readonly { bytes: Uint8Array; reader: Reader; origin?: PatternOrigin }[],
): Promise<Pick<LogFields, 'records' | 'fields' | 'patterns'>> {
  const counts = new Counts()
  const patterns = new Patterns()
  const moments = new Map<Group, number[]>()
  for (const { bytes: piece, reader, origin } of records) {
    if (isTurnOver()) await yieldToEventLoop()
    counts.record()
    const { message, level, time } = readFields(piece, reader, (name, value, isMember) =>
      isMember ? counts.addMember(name, value) : counts.add(name, value),
    )
    const group = patterns.add(message, level ?? null, time ?? null, origin)
    if (group === null || time == null) continue
    const known = moments.get(group)
    if (known === undefined) moments.set(group, [Date.parse(time)])
    else known.push(Date.parse(time))
  }
  const found = patterns.top(PATTERNS, overTime(moments))
  return { records: records.length, fields: counts.top(), patterns: found }
}

/** Counts the messages of a group in equal parts of the time that all of them span. */
function overTime(moments: ReadonlyMap<Group, readonly number[]>): (group: Group) => number[] {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const times of moments.values())
    for (const time of times) {
      from = Math.min(from, time)
      to = Math.max(to, time)
    }
  return (group) => {
    const over = new Array<number>(PARTS).fill(0)
    for (const time of moments.get(group) ?? [])
      over[Math.min(PARTS - 1, Math.floor(((time - from) / Math.max(1, to - from)) * PARTS))]!++
    return over
  }
}

/** Called with a field of a record; `isMember` if it is one of its context, whose value may be a number. */
type AddField = (name: string, value: string, isMember: boolean) => void

/** Reads a record, and calls `add` with each of its fields; a record with several tags has that field several times. */
export function readFields(piece: Uint8Array, { format, zone }: Reader, add: AddField): RecordFields {
  const bytes = format.unwrap?.(piece, 0, piece.length) ?? piece
  const inner = { format: format.inner ?? format, zone }
  const outer = format.inner ? format.fields(decode(piece, 0, piece.length), zone) : null
  const record = inner.format.fields(decode(bytes, 0, bytes.length), zone)
  look({ bytes, from: 0, to: bytes.length }, record, inner, add)
  return record.time === undefined && outer?.time !== undefined ? { ...record, time: outer.time } : record
}

function look(bytes: Bytes, record: RecordFields, reader: Reader, add: AddField): void {
  const { level, source, tags = [], context } = record
  if (level !== undefined) add('level', level, false)
  if (source) add('source', `${source.file}:${source.line}`, false)
  for (const tag of new Set(tags)) add('tag', tag, false)
  const own = leafPaths(context)
  const visit: Visit = (path, value) => {
    // The time, the message and the like have their own place and are not in the context; an object has members.
    if (own.has(path)) add(path, value(), true)
    return false
  }
  visitMembers(bytes, reader, visit, record)
}

/** The paths of the members of a value that are not objects. */
function leafPaths(value: unknown, prefix = '', paths = new Set<string>()): Set<string> {
  if (!isPlainObject(value)) return paths
  for (const [key, member] of Object.entries(value)) {
    const path = prefix + key
    if (path.length > LONGEST_PATH) continue
    if (isPlainObject(member)) leafPaths(member, `${path}.`, paths)
    else paths.add(path)
  }
  return paths
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Count {
  count: number
  /** The last record that has it. */
  seen: number
  values: Map<string, number>
  /** How many values it has in all, and which of them are numbers. */
  total: number
  numbers: Numbers
  readNumber: ReturnType<typeof numberReader>
}

class Counts {
  readonly #fields = new Map<string, Count>()
  #record = 0

  record(): void {
    this.#record++
  }

  /** Counts a value. A record with several tags has the field once. */
  add(name: string, value: string): void {
    const field = this.#field(name)
    if (field) this.#count(field, value)
  }

  /** Counts a value that may be a number. */
  addMember(name: string, value: string): void {
    const field = this.#field(name)
    if (!field) return
    this.#count(field, value)
    field.total++
    const number = field.readNumber(value)
    if (number) field.numbers.add(number)
  }

  top(): LogFields['fields'] {
    return [...this.#fields]
      .map(([name, field]) => ({
        name,
        count: field.count,
        values: [...field.values]
          .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
          .slice(0, VALUES)
          .map(([value, count]) => ({ value, count })),
        ...numbersOf(field),
      }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  }

  #field(name: string): Count | null {
    const known = this.#fields.get(name)
    if (known) return known
    if (this.#fields.size >= FIELDS) return null
    const readNumber = numberReader(name)
    const field = { count: 0, seen: 0, values: new Map(), total: 0, numbers: new Numbers(), readNumber }
    this.#fields.set(name, field)
    return field
  }

  #count(field: Count, value: string): void {
    if (field.seen !== this.#record) field.count++
    field.seen = this.#record
    const known = field.values.get(value)
    if (known === undefined && (field.values.size >= DISTINCT || value.length > LONGEST_VALUE)) return
    field.values.set(value, (known ?? 0) + 1)
  }
}

/** The distribution of a field's numbers, if more than half of its values are numbers of one kind. */
function numbersOf({ numbers, total }: Count): Pick<LogFields['fields'][number], 'numbers'> {
  const kind = mainKind([numbers])
  const summary = numbers.countOf(kind) * 2 > total ? numbers.summaryOf(kind) : null
  return summary === null ? {} : { numbers: summary }
}
