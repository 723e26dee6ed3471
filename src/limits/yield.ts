/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8

/** Work that has yielded, in the order in which it did. */
const waiting: (() => void)[] = []

/**
 * Yields to other work. One piece of work continues in each turn of the event loop: if all of them did, four searches
 * would hold up everyone else four times as long as one.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) nextTurn(resume)
  })
}

function resume(): void {
  waiting.shift()!()
  if (waiting.length > 0) nextTurn(resume)
}

/** A timer of 0 ms takes 1 ms, so `setImmediate` is used if available. */
function nextTurn(then: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  if (setImmediate) setImmediate(then)
  else setTimeout(then, 0)
}
