import { bad, show } from '../../core/http/params.ts'
import type { Parameter } from '../../core/parameter.ts'
import { parseInstant } from '../../log/instant.ts'
import { PARAMETERS, type Values } from './table.ts'

const TWO_DAYS = 172_800_000

/** A problem about a value that has the right type but no meaning: what it is, and what it must be. */
export function unexpected(name: keyof Values, value: string): Error {
  const row: Parameter = PARAMETERS.find((row) => row.name === name)!
  return bad(name, `is ${show(value)}; it must be ${row.expects}`)
}

/** A problem about a parameter that is required. */
export function missing(name: keyof Values): Error {
  const row: Parameter = PARAMETERS.find((row) => row.name === name && 'required' in row)!
  return bad(name, `is missing; it must be ${row.expects}`)
}

/** A time as a parameter gives it, and whether it depends on the clock; null if it was not given. */
export function instantOf(
  name: 'since' | 'until' | 'at' | 'base-since' | 'base-until',
  text: string | undefined,
  clock: Parameters<typeof parseInstant>[1],
): { at: number; clock: boolean } | null {
  if (text === undefined) return null
  const at = parseInstant(text, clock)
  if (at === null) throw unexpected(name, text)
  // A time that depends on the clock is a different instant two days later.
  return { at, clock: parseInstant(text, { ...clock, now: clock.now + TWO_DAYS }) !== at }
}
