import * as turns from '#turns'

/** How long work may hold the event loop before it yields, in milliseconds. */
export const TURN_MILLIS = 8
/** Waiting work joins a turn only while the turn is younger than this: short pieces share one, long ones do not. */
const SHARED_MILLIS = 2

/** Whether work, this or other, has used up this turn of the event loop: call it between steps, and yield if so. */
export function isTurnOver(): boolean {
  return turns.isTurnOver(TURN_MILLIS)
}

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => turns.nextTurn(resolve, SHARED_MILLIS))
}

/** Lets a server that waits for a timer go on first. */
export function yieldToTimers(): Promise<void> {
  return new Promise((resolve) => turns.nextTimer(resolve))
}

/** Does work that yields between its steps, and lets others have their turn there. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    if (isTurnOver()) await yieldToEventLoop()
    const { done, value } = steps.next()
    if (done) return value
  }
}
