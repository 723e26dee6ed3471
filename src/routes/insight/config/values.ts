import { parse, TomlError, type TomlTable, type TomlValue } from 'smol-toml'

/** What a configuration sets, by meaning: comments, order and layout are gone. */
export interface ConfigValues {
  /** Canonical TOML texts by dotted path; `peers[1].host` is in the second table of an array. */
  values: ReadonlyMap<string, string>
  /** The paths of tables and arrays of tables that hold something: their values are those of the paths below. */
  holders: ReadonlySet<string>
}

/** Why the values of a configuration cannot be told. */
export class ValuesError extends Error {
  readonly code: 'not-toml' | 'too-large'

  constructor(code: ValuesError['code']) {
    super(`The configuration cannot be compared: ${code}`)
    this.name = 'ValuesError'
    this.code = code
  }
}

/** A table 100,000 names deep with 100,000 keys would have 10 GB of paths. */
const MOST_PATH_CHARACTERS = 8 * 1024 * 1024
/** The parser allows 1,000 brackets, but any number of dotted names between them. */
const DEEPEST_VALUE = 1000

/** Values that are read in one go. */
const STRETCH = 128

/** The values of a configuration. Pass the masked text: what is compared is shown. Throws a ValuesError. */
export function valuesOf(masked: string): ConfigValues {
  const steps = valuesIn(masked)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same, yielding now and then. */
export function* valuesIn(masked: string): Generator<void, ConfigValues> {
  const values = new Map<string, string>()
  const holders = new Set<string>()
  let left = MOST_PATH_CHARACTERS
  // Without recursion: `[a.a.a.…]` nests as deep as the file is long.
  const open: { path: string; value: TomlValue }[] = [{ path: '', value: parsed(masked) }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (open.length % STRETCH === 0) yield
    const { path, value } = at
    left -= path.length
    if (left < 0) throw new ValuesError('too-large')
    const inside = insideOf(path, value)
    if (inside.length === 0) {
      if (path !== '') values.set(path, textOf(value, 0))
      continue
    }
    holders.add(path)
    // One by one: a spread of 100,000 keys overflows the stack.
    for (const each of inside) open.push(each)
  }
  return { values, holders }
}

function parsed(masked: string): TomlValue {
  try {
    // With all integers as bigint, a number is a float: `1` and `1.0` differ, and 64 bits are exact.
    return parse(masked, { integersAsBigInt: true })
  } catch (error) {
    throw error instanceof TomlError ? new ValuesError('not-toml') : error
  }
}

/** What a table or an array of tables holds; nothing for a value. */
function insideOf(path: string, value: TomlValue): { path: string; value: TomlValue }[] {
  if (Array.isArray(value))
    return value.every(isTable) ? value.map((each, i) => ({ path: `${path}[${i}]`, value: each })) : []
  if (!isTable(value)) return []
  const above = path === '' ? '' : `${path}.`
  return Object.keys(value).map((key) => ({ path: above + keyText(key), value: value[key]! }))
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key)
}

function textOf(value: TomlValue, depth: number): string {
  if (depth > DEEPEST_VALUE) throw new ValuesError('too-large')
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'number') return floatText(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof Date) return dateText(value)
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each, depth + 1)).join(', ')}]`
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${keyText(key)} = ${textOf(value[key]!, depth + 1)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/** The escapes of JSON are TOML's, too; only DEL needs one more. */
function stringText(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f')
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** An instant in UTC, whatever its offset; a local date or time as it is. No zeros at the end of a fraction. */
function dateText(value: Date & { isLocal?(): boolean }): string {
  const iso = value.isLocal?.() ? value.toISOString() : Date.prototype.toISOString.call(value)
  return iso.replace(/\.(\d*?)0+(?=Z|$)/, (_, digits: string) => (digits === '' ? '' : `.${digits}`))
}
