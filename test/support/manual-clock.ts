import type { Clock } from '../../src/kit/limits/clock.ts'

/** A clock that moves only when it is told to. */
export interface ManualClock extends Clock {
  /** How many timers are set. */
  readonly timers: number
  /** Passes time: calls back what is due by then, in order, and lets the work that it starts settle in between. */
  pass(ms: number): Promise<void>
  /** Passes time without calling anybody back, for code that only reads the clock. */
  skip(ms: number): void
  /** Steps the wall clock alone. */
  step(ms: number): void
}

/** A manual clock that shows `start`. */
export function manualClock(start = 1_000_000): ManualClock {
  const timers = new Set<{ at: number; then: () => void }>()
  let elapsed = 0
  let wall = start
  return {
    now: () => wall + elapsed,
    elapsed: () => elapsed,
    after(ms, then) {
      const timer = { at: elapsed + Math.max(0, ms), then }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    get timers() {
      return timers.size
    },
    async pass(ms) {
      const end = elapsed + ms
      for (;;) {
        await settled()
        // Timers of the same moment are called in the order in which they were set.
        const due = [...timers].filter(({ at }) => at <= end)
        const next = due.reduce<(typeof due)[number] | null>((a, b) => (a && a.at <= b.at ? a : b), null)
        if (next === null) break
        timers.delete(next)
        elapsed = Math.max(elapsed, next.at)
        next.then()
      }
      elapsed = Math.max(elapsed, end)
      await settled()
    },
    skip(ms) {
      elapsed += ms
    },
    step(ms) {
      wall += ms
    },
  }
}

/** Waits until promises that wait for nothing outside have settled, and a few turns of the event loop for real I/O. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A clock of which only the reading matters: `time` tells both the time and what has elapsed. Timers are real. */
export function readClock(time: () => number): Clock {
  return {
    now: time,
    elapsed: time,
    after(ms, then) {
      const timer = setTimeout(then, ms)
      return () => clearTimeout(timer)
    },
  }
}
