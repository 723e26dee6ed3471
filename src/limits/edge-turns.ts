/**
 * Calls back in a later turn of the event loop. At the edge a timer ends with the request that set it, so no request
 * may wait for that of another.
 */
export function nextTurn(then: () => void, _millis: number): void {
  setTimeout(then, 0)
}
