/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8

/** Yields to other work. A timer of 0 ms takes 1 ms, so `setImmediate` is used if available. */
export function yieldToEventLoop(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  return new Promise((resolve) => (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))
}
