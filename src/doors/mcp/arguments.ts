import { bad, show } from '../../core/http/params.ts'
import type { Parameter } from '../../core/parameter.ts'
import { suggestion } from '../../kit/suggestion.ts'

/** The arguments of a call that were given, or have a default. */
export type Arguments = Readonly<Record<string, unknown>>

/** How often a repeatable parameter may be given. */
const MOST_REPEATED = 32

const isList = ({ repeatable, several }: Parameter) => repeatable === true || several === true

/**
 * The JSON schema of a tool's arguments. Lists of tools are read with every conversation, so what the property of an
 * earlier tool says (`told`) is not said again.
 */
export function schemaOf(rows: readonly Parameter[], told: Map<string, string>): object {
  const required = rows.filter((row) => row.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      rows.map((row, i) => {
        const isExplained = rows.slice(0, i).some(({ expects }) => expects && expects === row.expects)
        const description = descriptionOf(row, isExplained)
        const isTold = told.get(row.name) === description
        told.set(row.name, description)
        return [row.name, isTold ? typeOf(row, {}) : { ...typeOf(row, row), description }]
      }),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/** The bounds are part of what is told once. */
function typeOf(
  row: Parameter,
  { min, max, words }: Pick<Partial<Parameter>, 'min' | 'max' | 'words'>,
): object {
  const { type } = row
  const fallback = row.default === undefined ? {} : { default: row.default }
  if (type === 'flag') return { type: 'boolean', ...fallback }
  if (type === 'integer')
    return { type: 'integer', ...(max && { minimum: min ?? 0, maximum: max }), ...fallback }
  const text = { type: 'string', ...(words && { enum: words }) }
  return isList(row) ? { type: 'array', items: text, ...fallback } : { ...text, ...fallback }
}

/** The first sentence of a meaning, without Markdown, and what a value looks like. */
function descriptionOf({ meaning, expects, example, type, words }: Parameter, isExplained: boolean): string {
  const plain = meaning
    .replace(/;? see \[[^\]]+\]\([^)]+\)/g, '')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('`', '')
  const first = /^.*?\.(?= |$)/s.exec(plain)?.[0] ?? plain
  if (type === 'flag' || type === 'integer' || words || isExplained) return first
  return `${first} ${expects ? `It is ${expects}.` : `Example: ${example}`}`
}

/**
 * Reads the arguments of a call. A text where a list or a number is expected is understood, because models write both;
 * anything else that does not fit is a problem that names it.
 */
export function readArguments(rows: readonly Parameter[], given: unknown): Arguments {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given)))
    throw bad('arguments', 'must be an object')
  const values = (given ?? {}) as Readonly<Record<string, unknown>>
  const names = rows.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw bad(
      show(unknown),
      `is not known here${suggestion(unknown, names).replace('?', '') || `; there are ${names.join(', ')}`}`,
    )
  const read: Record<string, unknown> = {}
  for (const row of rows) {
    const value = Object.hasOwn(values, row.name) ? values[row.name] : undefined
    const isGiven = value !== undefined && value !== null && value !== ''
    if (!isGiven && row.required) throw bad(row.name, `is missing; it must be ${row.expects ?? 'given'}`)
    const found = isGiven ? readValue(row, value) : row.default
    if (found !== undefined) read[row.name] = found
  }
  return read
}

function readValue(row: Parameter, value: unknown): unknown {
  if (!isList(row)) return scalarOf(row, value)
  const list = (Array.isArray(value) ? value : [value]).map((one) => textOf(row, one))
  const { most = MOST_REPEATED } = row
  if (list.length > most) throw bad(row.name, `has ${list.length} values; at most ${most} are allowed`)
  return list.length === 0 ? row.default : list
}

function scalarOf(row: Parameter, value: unknown): unknown {
  if (row.type === 'integer') return integerOf(row, value)
  if (row.type === 'flag') {
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') return value === 'true'
    throw bad(row.name, 'must be true or false')
  }
  const text = textOf(row, value)
  if (row.words && !row.words.includes(text.toLowerCase()))
    throw bad(row.name, `is ${show(text)}; it must be one of ${row.words.join(', ')}`)
  return row.words ? text.toLowerCase() : text
}

function integerOf({ name, min = 0, max }: Parameter, value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min)
    throw bad(name, `must be a whole number of ${min} or more`)
  if (max !== undefined && number > max) throw bad(name, `is ${number}; the maximum is ${max}`)
  return number
}

function textOf({ name, maxLength = 4500 }: Parameter, value: unknown): string {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof text !== 'string') throw bad(name, 'must be a text')
  if (text.length > maxLength)
    throw bad(name, `has ${text.length} characters; at most ${maxLength} are allowed`)
  return text
}
