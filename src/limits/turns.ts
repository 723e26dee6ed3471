/** Work that waits, in the order in which it came. */
const waiting: (() => void)[] = []

/** When work first ran in this turn of the event loop, as far as is known. */
let since: number | null = null

/** Whether all work together has run for some milliseconds in this turn of the event loop. */
export function isTurnOver(millis: number): boolean {
  if (since === null) {
    since = Date.now()
    later(endTurn)
  }
  return Date.now() - since >= millis
}

/**
 * Calls back in a later turn of the event loop, one after another, as many as fit into some milliseconds: if all of them
 * continued in each turn, four searches would hold up everyone else four times as long as one.
 */
export function nextTurn(then: () => void, millis: number): void {
  waiting.push(then)
  const resume = () => {
    if (isTurnOver(millis)) later(resume)
    else waiting.shift()!()
  }
  later(resume)
}

function endTurn(): void {
  since = null
}

/** A timer of 0 ms takes 1 ms, so `setImmediate` is used if available. */
function later(then: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  if (setImmediate) setImmediate(then)
  else setTimeout(then, 0)
}
