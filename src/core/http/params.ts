import { Problem } from './problem.ts'

const SHOWN = 60

export function searchOf(url: string): URLSearchParams {
  const query = url.indexOf('?')
  const hash = url.indexOf('#')
  return new URLSearchParams(query < 0 ? '' : url.slice(query + 1, hash < 0 ? undefined : hash))
}

/** A problem about one parameter: its name, its value, and what is allowed. */
export function bad(name: string, what: string): Problem {
  return new Problem('bad-parameter', `The parameter ${name} ${what}.`)
}

/** A value for a problem's detail: short, on one line, in quotes. */
export function show(value: string): string {
  const short = value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value
  return JSON.stringify(short)
}
