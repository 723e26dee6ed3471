import { createHash } from 'node:crypto'
import { keepSteps, type Plan, planOf } from './plan.ts'
import { runWorld } from './run.ts'
import { shrink } from './shrink.ts'

export { keepSteps, type Plan, planOf, runWorld, shrink }

/** A digest of all that happened in a world. */
export function digestOf(history: readonly string[]): string {
  return createHash('sha256').update(history.join('\n')).digest('hex').slice(0, 16)
}
