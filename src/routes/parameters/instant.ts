import { parseInstant } from '../../log/instant.ts'
import { unexpected } from './unexpected.ts'

const TWO_DAYS = 172_800_000

/** A time as a parameter gives it, and whether it depends on the clock; null if it was not given. */
export function instantOf(
  name: 'since' | 'until' | 'at',
  text: string | undefined,
  clock: Parameters<typeof parseInstant>[1],
): { at: number; clock: boolean } | null {
  if (text === undefined) return null
  const at = parseInstant(text, clock)
  if (at === null) throw unexpected(name, text)
  // A time that depends on the clock is a different instant two days later.
  return { at, clock: parseInstant(text, { ...clock, now: clock.now + TWO_DAYS }) !== at }
}
