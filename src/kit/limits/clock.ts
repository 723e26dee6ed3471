/** Time and timers, passed to what needs them. */
export interface Clock {
  /** Wall-clock milliseconds since the Unix epoch; may step. */
  now(): number
  /** Milliseconds that only grow: for budgets, deadlines and durations. */
  elapsed(): number
  /** Calls back once after `ms`; the result cancels it. */
  after(ms: number, then: () => void): () => void
}

/** A runtime's timer; where it keeps the process alive, `unref` ends that. */
type Timer = ReturnType<typeof setTimeout> & { unref?: () => void }

/** The clock of the system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, then) {
    const timer: Timer = setTimeout(then, ms)
    return Object.assign(() => clearTimeout(timer), { unref: () => timer.unref?.() })
  },
}

/** As `clock.after`, but the system's timer does not keep the process alive. */
export function afterInBackground(clock: Clock, ms: number, then: () => void): () => void {
  const cancel: (() => void) & { unref?: () => void } = clock.after(ms, then)
  cancel.unref?.()
  return cancel
}

/** Calls back every `ms`; the result ends it. */
export function every(clock: Clock, ms: number, then: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(ms, () => {
      next()
      then()
    })
  }
  next()
  return () => cancel()
}

/** Waits, or throws the signal's reason when it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const leave = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      stay()
      resolve()
    })
    const stay = onAbort(signal, leave)
  })
}

/** Whom to tell when a signal aborts. */
const awaiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls back when a signal aborts, unless what is returned is called before. A signal has one listener for all: a request
 * may read dozens of objects at once, and Node warns of more than ten.
 */
export function onAbort(signal: AbortSignal | undefined, then: () => void): () => void {
  if (!signal) return () => {}
  const known = awaiting.get(signal)
  const all = known ?? new Set()
  all.add(then)
  if (!known) {
    awaiting.set(signal, all)
    const tell = () => {
      for (const call of all) call()
    }
    signal.addEventListener('abort', tell, { once: true })
  }
  return () => all.delete(then)
}

/** A signal that aborts after `ms`, unless the work is done before: call `done` then. */
export function deadlineSignal(clock: Clock, ms: number): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController()
  const late = () => controller.abort(new DOMException('The operation timed out', 'TimeoutError'))
  return { signal: controller.signal, done: afterInBackground(clock, ms, late) }
}

/** Waits for work, but no longer than `ms`; whether it was done by then. It goes on in any case. */
export async function inTime(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancel = () => {}
  const late = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false))
  })
  return Promise.race([work.then(() => true), late]).finally(() => cancel())
}
