import { nextTurn } from '#turns'

/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8

/** Yields to other work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve, TURN_MILLIS))
}
