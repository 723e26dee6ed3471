import { inTime } from '../../limits/in-time.ts'

/** Waits for `done`, but no longer than `ms`: then `cut` ends what is still running. Returns whether that was needed. */
export async function within(ms: number, done: Promise<unknown>, cut: () => unknown): Promise<boolean> {
  if (await inTime(ms, done)) return false
  await cut()
  return true
}
