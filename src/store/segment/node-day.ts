import type { NodeDay } from '../../kit/answers.ts'
import { DAY_MINUTES, readDay } from './day.ts'
import { type LogCounts, MINUTE_MS } from './ship-json.ts'

/** The width of a step: 96 of them are short enough for a list of many nodes, and as many as a line in it can show. */
const STEP = 15
const STEPS = DAY_MINUTES / STEP

/**
 * The errors and warnings of some logs in the last 24 hours; null if their shipper does not say. `at` is when it did: what
 * was written since, and what it has not counted yet, is not known.
 */
export function dayOf(logs: readonly LogCounts[], now: number, at: number): NodeDay | null {
  const days = logs.flatMap(({ day }) => day ?? [])
  if (days.length === 0) return null
  const first = Math.floor(now / MINUTE_MS / STEP) - STEPS + 1
  const isKnown = (_: unknown, i: number) =>
    (first + i) * STEP * MINUTE_MS <= at && days.every(({ from }) => from <= (first + i) * STEP)
  const known = Array.from({ length: STEPS }, isKnown)
  const [errors, warnings] = [known, known].map((each) => each.map((is) => (is ? 0 : null)))
  for (const day of days)
    readDay(day, (minute, moreErrors, moreWarnings) => {
      const i = Math.floor(minute / STEP) - first
      if (!known[i]) return
      errors![i]! += moreErrors
      warnings![i]! += moreWarnings
    })
  return { from: first * STEP * MINUTE_MS, step: STEP * MINUTE_MS, errors: errors!, warnings: warnings! }
}
