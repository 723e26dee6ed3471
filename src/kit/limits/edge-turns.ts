/**
 * Never: at the edge the clock stands still while code runs, so time passes only in a wait for the network, during
 * which other requests run.
 */
export function isTurnOver(_millis: number): boolean {
  return false
}

/** Calls back at once: nothing here waits for a timer before it sends. */
export function nextTimer(then: () => void): void {
  then()
}

/** Calls back at once. A timer would end with the request that set it, so none is shared. */
export function nextTurn(then: () => void, _millis: number): void {
  then()
}
