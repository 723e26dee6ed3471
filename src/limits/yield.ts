import * as turns from '#turns'

/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8
/** How long work may have run in a turn before other work joins it: short pieces share one, long ones do not. */
const SHARED_MILLIS = 2

/** Whether the event loop was held long enough, by this work or other: call it between steps, and yield if so. */
export function isTurnOver(): boolean {
  return turns.isTurnOver(TURN_MILLIS)
}

/** Yields to other work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => turns.nextTurn(resolve, SHARED_MILLIS))
}
