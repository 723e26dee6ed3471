import { TURN_MILLIS, yieldToEventLoop } from './yield.ts'

/** Keeps long work from holding the event loop: call `turn` between steps, and it yields when 8 ms have passed. */
export class Pace {
  readonly #now: () => number
  #since: number

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#since = now()
  }

  /** Whether the work has held the event loop long enough. */
  get isDue(): boolean {
    return this.#now() - this.#since >= TURN_MILLIS
  }

  /** Yields if it is due. */
  async turn(): Promise<void> {
    if (!this.isDue) return
    await yieldToEventLoop()
    this.#since = this.#now()
  }
}
