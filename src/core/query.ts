import { once } from '../kit/limits/once.ts'
import type { Values } from '../routes/parameters/table.ts'
import { bad, searchOf, show } from './http/params.ts'
import { capabilityOf, notIncluded } from './not-included.ts'
import { type Parameter, type Resource, rowsOf } from './parameter.ts'
import { CORE_PARAMETERS } from './parameters.ts'

export interface Query extends Values {
  /** The names of the known parameters that were given. */
  readonly given: readonly (keyof Values)[]
  /** Every value of `file`, each once, if there are several or one may be a pattern. */
  readonly files?: readonly string[] | undefined
  /** Whether there were parameters that the resource does not know. They are ignored, and the answer says so. */
  readonly unknown: boolean
}

/** Parameters that LinDB's reverse proxy adds to every request: unknown here, and not worth a note. */
const PROXY_PARAMETERS = new Set(['target', 'path'])

/**
 * Reads the queries of a resource. A known parameter that is malformed, or given twice, is a problem that names it.
 * `max` sets the maximum of an integer. `more` loads the rows of capabilities, for the first request that has a parameter
 * which the core does not know.
 */
export function queryReader(
  resource: Resource,
  max: { [N in keyof Values]?: number | undefined },
  more: () => Promise<readonly Parameter[]>,
): (url: string) => Query | Promise<Query> {
  const readCore = reader(rowsOf(CORE_PARAMETERS, resource), max)
  const readAll = once(async () => {
    const rows = [...CORE_PARAMETERS, ...(await more())]
    return reader(rowsOf(rows, resource), max)
  })
  const readWithMore = async (url: string) => {
    const query = (await readAll())(url)
    if (query.unknown)
      for (const name of searchOf(url).keys()) {
        const capability = query.given.includes(name as keyof Values)
          ? undefined
          : capabilityOf(resource, name)
        if (capability !== undefined) throw notIncluded(`the parameter ${name}`, capability)
      }
    return query
  }
  return (url) => {
    const query = readCore(url)
    return query.unknown ? readWithMore(url) : query
  }
}

/** How often a repeatable parameter may be given: each pattern is compiled, and each text is looked for. */
const MOST_REPEATED = 32

function reader(rows: readonly Parameter[], max: { readonly [name: string]: number | undefined }) {
  const byName = new Map(rows.map((row) => [row.name, { ...row, max: max[row.name] ?? row.max }]))
  const required = rows.filter((row) => row.required)
  return (url: string) => {
    const given: string[] = []
    const values: Record<string, unknown> = { given, unknown: false }
    for (const [name, text] of searchOf(url)) {
      const row = byName.get(name)
      if (row === undefined) {
        if (!PROXY_PARAMETERS.has(name)) values.unknown = true
        continue
      }
      const again = given.includes(name)
      if (again && !row.repeatable && !row.several) throw repeated(name, url, 'once')
      if (!again) given.push(name)
      const value = parse(row, text)
      // Beside other values, too: an empty one is a name that was lost on the way.
      if (value === undefined && row.required) throw missing(row)
      if (value === undefined) continue
      if (row.several) addFile(values, value as string)
      else if (!row.repeatable) values[name] = value
      else {
        const { most = MOST_REPEATED } = row
        values[name] ??= []
        if ((values[name] as unknown[]).push(value) > most) throw repeated(name, url, `at most ${most} times`)
      }
    }
    for (const row of required) if (values[row.name] === undefined) throw missing(row)
    return values as unknown as Query
  }
}

/** Most requests name one log, which is then all there is. */
function addFile(values: Record<string, unknown>, value: string): void {
  values.file ??= value
  if (value === values.file && !/[*?]/.test(value)) return
  values.files = [...new Set((values.files as readonly string[] | undefined) ?? [values.file]).add(value)]
}

function parse(row: Parameter, value: string): unknown {
  if (row.type === 'flag') return flag(row, value)
  if (value === '' && row.notEmpty) throw bad(row.name, `is ${show(value)}; it must be ${row.expects}`)
  // An empty value counts as absent. An empty cursor does not: it would silently give another page.
  if (value === '' && row.role !== 'cursor') return undefined
  if (row.type === 'integer') return integer(row, value)
  return row.type === 'choice' ? choice(row, value) : text(row, value)
}

function flag({ name }: Parameter, value: string): boolean {
  if (value === 'false' || value === '0') return false
  if (value === 'true' || value === '1' || value === '') return true
  throw bad(name, `is ${show(value)}; it must be true or false`)
}

function integer({ name, min = 0, max }: Parameter, value: string): number {
  if (!/^[0-9]+$/.test(value))
    throw bad(name, `is ${show(value)}; it must be a decimal integer of ${min} or more`)
  // Beyond 2^53 it is larger than any file, which is all that matters.
  const number = Math.min(Number(value), Number.MAX_SAFE_INTEGER - 1)
  if (number < min) throw bad(name, `is ${show(value)}; it must be ${min} or more`)
  if (max !== undefined && number > max) throw bad(name, `is ${show(value)}; the maximum is ${max}`)
  return number
}

function choice({ name, words = [] }: Parameter, value: string): string {
  const word = words.find((word) => word === value.toLowerCase())
  if (word === undefined) throw bad(name, `is ${show(value)}; it must be one of ${words.join(', ')}`)
  return word
}

function text({ name, maxLength }: Parameter, value: string): string {
  if (maxLength !== undefined && value.length > maxLength)
    throw bad(name, `has ${value.length} characters; at most ${maxLength} are allowed`)
  return value
}

function missing({ name, expects }: Parameter): Error {
  return bad(name, `is missing; it must be ${expects}`)
}

function repeated(name: string, url: string, allowed: string): Error {
  return bad(name, `was given ${searchOf(url).getAll(name).length} times; give it ${allowed}`)
}
