/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8

/** Work that has yielded, in the order in which it did. */
const waiting: (() => void)[] = []

/** When work first continued in this turn of the event loop. */
let turnSince: number | null = null

/**
 * Yields to other work. What yielded continues in the next turn of the event loop, as much of it as 8 ms allow: if all
 * of it did, four searches would hold up everyone else four times as long as one.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    nextTurn(resume)
  })
}

function resume(): void {
  if (turnSince === null) {
    turnSince = Date.now()
    nextTurn(endTurn)
  }
  if (Date.now() - turnSince < TURN_MILLIS) waiting.shift()!()
  else nextTurn(resume)
}

function endTurn(): void {
  turnSince = null
}

/** A timer of 0 ms takes 1 ms, so `setImmediate` is used if available. */
function nextTurn(then: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  if (setImmediate) setImmediate(then)
  else setTimeout(then, 0)
}
