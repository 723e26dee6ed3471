import { inTime, systemClock } from '../../kit/limits/clock.ts'

/** Waits for `done`, but no longer than `ms`: then `cut` ends what is still running. Returns whether that was needed. */
export async function within(ms: number, done: Promise<unknown>, cut: () => unknown): Promise<boolean> {
  if (await inTime(systemClock, ms, done)) return false
  await cut()
  return true
}
