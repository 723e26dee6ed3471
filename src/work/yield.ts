/** How long work may hold the event loop before others have their turn, in milliseconds. */
export const TURN_MILLIS = 8

/** Lets other work go first. A timer of 0 ms takes 1 ms, so `setImmediate` is used where there is one. */
export function yieldToEventLoop(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  return new Promise((resolve) => (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))
}
