/** Waiting work, oldest first. */
const waiting: (() => void)[] = []

/** When work first ran in this turn of the event loop, and whether some of it had been waiting. */
let since: number | null = null
let hasResumed = false

/** Whether work has used up some milliseconds of this turn of the event loop. */
export function isTurnOver(millis: number): boolean {
  if (since === null) {
    since = performance.now()
    later(endTurn)
  }
  return performance.now() - since >= millis
}

/**
 * Calls back in a later turn of the event loop. Each turn runs one waiter, and more of them only while the turn is
 * younger than `millis`: if all of them ran in each turn, four searches would hold up everyone else four times as long
 * as one.
 */
export function nextTurn(then: () => void, millis: number): void {
  waiting.push(then)
  const resume = () => {
    const isOver = isTurnOver(millis)
    if (isOver && hasResumed) return later(resume)
    // The first one has a turn of its own, whatever ran before it: otherwise busy connections would starve it.
    if (!hasResumed) since = performance.now()
    hasResumed = true
    waiting.shift()!()
  }
  later(resume)
}

/** Calls back after a timer has had its turn, with everything that waits for one of the shortest. */
export function nextTimer(then: () => void): void {
  setTimeout(then, 1)
}

function endTurn(): void {
  since = null
  hasResumed = false
}

/** Not a timer if that can be avoided: one of 0 ms takes 1 ms. */
function later(then: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  if (setImmediate) setImmediate(then)
  else setTimeout(then, 0)
}
