import { Problem } from './problem.ts'

/** The query parameters of a request. A known one that is given twice, or not as it must be, is a problem that names it. */
export interface Params {
  /** Whether any of these is given. */
  hasAny(names: ReadonlySet<string>): boolean
  /** The value, or undefined when it is not given. */
  text(name: string, limit?: { max: number }): string | undefined
  /** A decimal integer; undefined when it is not given or empty. */
  integer(name: string, limit?: { min?: number; max?: number }): number | undefined
  /** `true` or `false`; false when it is not given. */
  flag(name: string): boolean
  /** One of the words; undefined when it is not given or empty. */
  choice<T extends string>(name: string, words: readonly T[]): T | undefined
}

/** How much of a bad value a problem shows. */
const SHOWN = 60

/** Consoles ask the same again and again: to read a query anew costs a tenth of a short answer. */
let last: { url: string; params: Params } | null = null

/** Reads the query of a URL. Unknown parameters are never looked at: LinDB's proxy adds its own to every request. */
export function readParams(url: string): Params {
  if (last?.url !== url) last = { url, params: paramsOf(url) }
  return last.params
}

function paramsOf(url: string): Params {
  const query = url.indexOf('?')
  const hash = url.indexOf('#')
  const search = new URLSearchParams(query < 0 ? '' : url.slice(query + 1, hash < 0 ? undefined : hash))

  const once = (name: string): string | undefined => {
    const values = search.getAll(name)
    if (values.length > 1) throw bad(name, `was given ${values.length} times; give it once`)
    return values[0]
  }
  return {
    hasAny(names) {
      for (const name of search.keys()) if (names.has(name)) return true
      return false
    },
    text(name, limit) {
      const value = once(name)
      if (value !== undefined && limit && value.length > limit.max)
        throw bad(name, `has ${value.length} characters; at most ${limit.max} are allowed`)
      return value
    },
    integer(name, limit = {}) {
      const value = once(name)
      if (value === undefined || value === '') return undefined
      const min = limit.min ?? 0
      if (!/^[0-9]+$/.test(value))
        throw bad(name, `is ${show(value)}; it must be a decimal integer of ${min} or more`)
      // Beyond 2^53 it is larger than any file, which is all that has to be known of it.
      const number = Math.min(Number(value), Number.MAX_SAFE_INTEGER - 1)
      if (number < min) throw bad(name, `is ${show(value)}; it must be ${min} or more`)
      if (limit.max !== undefined && number > limit.max)
        throw bad(name, `is ${show(value)}; the maximum is ${limit.max}`)
      return number
    },
    flag(name) {
      const value = once(name)
      if (value === undefined || value === 'false' || value === '0') return false
      if (value === 'true' || value === '1' || value === '') return true
      throw bad(name, `is ${show(value)}; it must be true or false`)
    },
    choice(name, words) {
      const value = once(name)
      if (value === undefined || value === '') return undefined
      const word = words.find((word) => word === value.toLowerCase())
      if (word === undefined) throw bad(name, `is ${show(value)}; it must be one of ${words.join(', ')}`)
      return word
    },
  }
}

/** A problem about one parameter: its name, what came, what is allowed. */
export function bad(name: string, what: string): Problem {
  return new Problem('bad-parameter', `The parameter ${name} ${what}.`)
}

/** A value as a problem may show it: short, on one line, in quotes. */
export function show(value: string): string {
  const short = value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value
  return JSON.stringify(short)
}
