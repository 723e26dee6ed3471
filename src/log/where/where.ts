import { decode, type RecordFields, type Visit } from '../format/format.ts'
import { LONGEST_PATH } from '../format/json/members.ts'
import { endOf } from '../format/lines.ts'
import { LEVELS, parseLevel } from '../format/read/level.ts'
import { FORMER_NAMES } from '../format/read/vocabulary.ts'
import { exactFinder } from '../pattern/literal.ts'
import type { Matcher, Reader } from '../pattern/pattern.ts'
import { COMPARISON, compares, quantityOf, type Sign } from './compare.ts'
import { globTest, literalIn } from './glob.ts'

interface Condition {
  field: string
  /** A text that a record with a matching value must contain, or null. */
  literal: string | null
  test: Test
  /** The same in steps, for a value that may be long. */
  inSteps?: (value: string) => Generator<void, boolean>
  negated: boolean
}

/** Whether a value will do; `isText` if the log may write it in another way, such as 3.10 for 3.1. */
type Test = (value: string, isText: boolean) => boolean

/**
 * Matches records by a field: `shard:17`, `!shard:17`, `shard:*`, `path~/api/*`, `status>=500`, `took>1.5s`. The first
 * colon or tilde ends the field; a comparison has none before its sign. Null when the text is not such a condition.
 */
export async function whereMatcher(text: string): Promise<Matcher | null> {
  const condition = await parse(text)
  if (!condition) return null
  const { field, negated, literal } = condition
  const find = literal === null ? null : exactFinder(new TextEncoder().encode(literal))
  const test: Matcher['test'] = (bytes, from, to, reader) => {
    // Most records do not contain the text of the value at all, and are rejected without being parsed.
    const may = find === null || find(bytes, from, to) >= 0
    const found = may && hasField({ bytes, from, to }, reader!, field, condition.test)
    return found !== negated
  }
  const matcher = { test, ...(condition.inSteps && { inSteps: testedInSteps(condition, test) }) }
  if (negated) return matcher
  return { ...matcher, ...(find && { find, needle: find.needle }), fields: [field] }
}

/** As `test`, but the values that a record has are tested in steps. */
function testedInSteps({ field, negated, inSteps }: Condition, test: Matcher['test']) {
  return function* (...record: Parameters<Matcher['test']>): Generator<void, boolean> {
    const [bytes, from, to, reader] = record
    if (field === 'level') return test(...record)
    const values: string[] = []
    hasField({ bytes, from, to }, reader!, field, (value) => {
      values.push(value)
      return false
    })
    for (const value of values) if (yield* inSteps!(value)) return !negated
    return negated
  }
}

async function parse(text: string): Promise<Condition | null> {
  const negated = text.startsWith('!')
  const rest = negated ? text.slice(1) : text
  const [, name, sign, limit] = COMPARISON.exec(rest) ?? []
  const quantity = limit === undefined ? null : quantityOf(limit)
  if (quantity) {
    const field = name!.trim()
    const test: Test = (own) => compares(field, own, sign as Sign, quantity)
    return field === '' ? null : { field, literal: null, test, negated }
  }
  const at = rest.search(/[:~]/)
  if (at < 1) return null
  const field = rest.slice(0, at)
  const value = rest.slice(at + 1)
  if (value === '*') return { field, literal: null, test: () => true, negated }
  if (rest[at] === '~') {
    const literal = SPELLED.has(field) ? null : literalIn(value, PLAIN)
    return { field, literal, ...(await globTest(value)), negated }
  }
  const test: Test = (own, isText) => own === value || (isText && isSameNumber(own, value))
  return { field, literal: literalOf(field, value), test, negated }
}

function isSameNumber(one: string, other: string): boolean {
  return /^-?\d/.test(one) && other.trim() !== '' && Number(one) === Number(other)
}

/** Fields that every record can have, and those whose values may be spelled in another way than in the log. */
const SPELLED = new Set(['level', 'source', 'message', 'duration'])

/** Characters that every log writes as they are. */
const PLAIN = /[\w .:@+-]+/g

/**
 * A text that a record with the field's value must contain, or null. JSON may escape quotes, backslashes, slashes, angle
 * brackets and non-ASCII characters; a level has many spellings; a source may be in two members; the name of a field may
 * be nowhere in the log.
 */
function literalOf(field: string, value: string): string | null {
  if (SPELLED.has(field)) return null
  return /^[\w .:@+-]+$/.test(value) && !/^-?\d+(?:\.\d+)?e/.test(value) ? value : null
}

/** A record and its position. */
export interface Bytes {
  bytes: Uint8Array
  from: number
  to: number
}

/** Whether a record has the field with a matching value. */
export function hasField(record: Bytes, reader: Reader, field: string, test: Test): boolean {
  return someValue(parsedOnce(record, reader), field, test)
}

/** Reads the values of a record's fields: one or none; of tags, each of them. */
export function valueReader(record: Bytes, reader: Reader): (field: string) => string[] {
  const parsed = parsedOnce(record, reader)
  return (field) => {
    const values: string[] = []
    const hasMany = field === 'tag' || field === 'logger'
    someValue(parsed, field, (value) => {
      values.push(value)
      return !hasMany
    })
    return hasMany ? [...new Set(values)] : values
  }
}

/** A record that is parsed when that is needed, and only once. */
interface Parsed extends Reader {
  record: Bytes
  parse(): RecordFields
}

function parsedOnce(record: Bytes, { format: outer, zone }: Reader): Parsed {
  const format = outer.inner ?? outer
  let fields: RecordFields | null = null
  const parse = () => {
    fields ??= format.fields(textOf(record), zone)
    return fields
  }
  return { record, format, zone, parse }
}

/** Whether some value of a field matches. A record's own members take precedence over context keys. */
function someValue({ record, format, zone, parse }: Parsed, field: string, test: Test): boolean {
  const own = Object.hasOwn(OWN, field) ? OWN[field] : undefined
  if (own) {
    const values = own(parse())
    if (values.length > 0)
      return values.some((value) => test(value, true)) || (field === 'level' && isLevel(values[0]!, test))
  }
  const quick = format.member?.(field, record.bytes, record.from, record.to)
  if (quick !== undefined) return test(quick, true)
  const former = Object.hasOwn(FORMER_NAMES, field) ? FORMER_NAMES[field]! : field
  const isText = !format.members
  const visit: Visit = (path, value) => (path === field || path === former) && test(value(), isText)
  return visitMembers(record, { format, zone }, visit, isText ? parse() : undefined)
}

/** Whether each of the fields occurs in some record of bytes, which may begin inside one. */
export function hasFields(bytes: Uint8Array, reader: Reader, fields: readonly string[]): boolean {
  const { format } = reader
  const missing = new Set(fields)
  for (let at = 0; at < bytes.length && missing.size > 0; ) {
    const end = endOf(format, bytes, at, bytes.length)
    const text = format.unwrap?.(bytes, at, end)
    const record = text ? { bytes: text, from: 0, to: text.length } : { bytes, from: at, to: end }
    for (const field of missing) if (hasField(record, reader, field, () => true)) missing.delete(field)
    at = end
  }
  return missing.size === 0
}

/** A level matches any of its spellings. */
function isLevel(name: string, test: Test): boolean {
  const level = LEVELS.indexOf(name as (typeof LEVELS)[number])
  return level >= 0 && SPELLINGS.some((word) => parseLevel(word) === level && test(word, true))
}

const SPELLINGS = 'trace debug info notice warn warning error critical fatal panic'
  .split(' ')
  .flatMap((word) => [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)])

/** The values of the members that every record can have. */
const OWN: Record<string, (record: RecordFields) => string[]> = {
  level: ({ level }) => (level === undefined ? [] : [level]),
  message: ({ message }) => [message],
  source: ({ source }) => (source ? [`${source.file}:${source.line}`, source.file] : []),
  tag: ({ tags = [] }) => tags,
  logger: ({ tags = [] }) => tags,
}

/** Visits the members of a record's context, as the log writes them; `parsed` if the record has been parsed already. */
export function visitMembers(record: Bytes, { format, zone }: Reader, visit: Visit, parsed?: RecordFields) {
  if (format.members) return format.members(record.bytes, record.from, record.to, visit)
  return visitContext((parsed ?? format.fields(textOf(record), zone)).context, '', visit)
}

/** Visits the members of an object, and of those inside it, by their path with dots. */
function visitContext(context: unknown, prefix: string, visit: Visit): boolean {
  if (context === null || typeof context !== 'object' || Array.isArray(context)) return false
  for (const [key, value] of Object.entries(context)) {
    const path = prefix + key
    if (path.length > LONGEST_PATH) continue
    const isLeaf = value !== null && typeof value !== 'object'
    if (visit(path, () => (typeof value === 'string' ? value : JSON.stringify(value)), isLeaf)) return true
    if (visitContext(value, `${path}.`, visit)) return true
  }
  return false
}

const textOf = ({ bytes, from, to }: Bytes) => decode(bytes, from, to)
