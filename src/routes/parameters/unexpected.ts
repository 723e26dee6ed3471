import { bad, show } from '../../http/params.ts'
import type { Parameter } from './row.ts'
import { PARAMETERS, type Values } from './table.ts'

/** A problem about a value that has the right type but no meaning: what it is, and what it must be. */
export function unexpected(name: keyof Values, value: string): Error {
  const row: Parameter = PARAMETERS.find((row) => row.name === name)!
  return bad(name, `is ${show(value)}; it must be ${row.expects}`)
}
