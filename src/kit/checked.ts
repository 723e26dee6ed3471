import { suggestion } from './suggestion.ts'

/**
 * Completes the sentence "it must be …" for a value that cannot be used; null for one that can. `T` is the type of the
 * option, and exists for the compiler alone.
 */
export type Check<T> = ((value: unknown) => string | null) & { readonly type?: T; readonly table?: Checks }

/** A table of options: one check for each name. Types, messages and docs/embedding.md come from it. */
// biome-ignore lint/suspicious/noExplicitAny: a table has options of any type
export type Checks = { readonly [name: string]: Check<any> }

/** The options of a table, any of which may be left out. */
export type OptionsOf<C extends Checks> = { [N in keyof C]?: C[N]['type'] | undefined }

/** The same, where undefined is not the same as left out. */
export type StrictOf<C extends Checks> = { [N in keyof C]?: NonNullable<C[N]['type']> }

/** The same, all of which are needed. */
export type NeededOf<C extends Checks> = { [N in keyof C]: NonNullable<C[N]['type']> }

/** A whole number within a range. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Check<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`
  return (value) => (isWithin(value, least, most) ? null : `a whole number ${range}`)
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

export const flag: Check<boolean> = (value) => (typeof value === 'boolean' ? null : 'true or false')

export const text: Check<string> = (value) => (typeof value === 'string' ? null : 'a text')

export const texts: Check<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? null : 'a list of texts'

/** A function; `what` says what it does. */
export function calling<F extends (...given: never[]) => unknown>(what: string): Check<F> {
  return (value) => (typeof value === 'function' ? null : `a function that ${what}`)
}

/** An object with these methods. */
export function having<T extends object>(what: string, ...methods: (keyof T & string)[]): Check<T> {
  return (value) =>
    methods.every((name) => typeof (value as T | null | undefined)?.[name] === 'function') ? null : what
}

/** Options within an option. */
export function group<C extends Checks>(table: C): Check<OptionsOf<C>> {
  return Object.assign((value: unknown) => (isObject(value) ? null : 'an object'), { table })
}

/** Any value of a type that the compiler knows, such as what is passed on to a runtime. */
export function any<T>(): Check<T> {
  return () => null
}

/** What `check` takes, or false. */
export function orFalse<T>(check: Check<T>): Check<T | false> {
  return Object.assign((value: unknown) => (value === false ? null : check(value)), {
    ...(check.table && { table: check.table }),
  })
}

/**
 * Checks options at the start, where somebody looks: unknown names, wrong types, and numbers out of their range. An option
 * that is undefined counts as left out, unless it is one of `needed`. Throws a TypeError with a sentence that names it.
 */
export function checkOptions(
  given: unknown,
  table: Checks,
  { what, needed = [], where = '' }: Checked,
): void {
  if (!isObject(given)) throw new TypeError(`Cannot use the options of ${what}: pass an object.`)
  const known = Object.keys(table)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const hint = suggestion(unknown, known) || `; the options are ${known.join(', ')}.`
    throw new TypeError(`Unknown option ${JSON.stringify(where + unknown)}${hint}`)
  }
  for (const [name, check] of Object.entries(table)) {
    const value = given[name]
    if (value === undefined && !needed.includes(name)) continue
    const expected = check(value)
    if (expected !== null) throw refused(where + name, value, expected)
    if (check.table && value) checkOptions(value, check.table, { what, where: `${where}${name}.` })
  }
}

export interface Checked {
  /** Whose options they are. */
  what: string
  needed?: readonly string[]
  where?: string
}

/** No value is shown: it may be a secret in the wrong place. */
function refused(name: string, value: unknown, expected: string): TypeError {
  const is = Number.isNaN(value) ? 'it is NaN; ' : ''
  return new TypeError(`Cannot use the option ${name}: ${is}it must be ${expected}.`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
