/**
 * Calls back at once. At the edge the clock stands still while code runs, so a turn is over only after a wait for the
 * network, in which others had theirs. A timer would end with the request that set it, so none is shared.
 */
export function nextTurn(then: () => void, _millis: number): void {
  then()
}
