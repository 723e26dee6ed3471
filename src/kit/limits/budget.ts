import { type Clock, systemClock } from './clock.ts'
import type { MemoryBudget } from './memory-budget.ts'
import { isTurnOver, yieldToEventLoop } from './yield.ts'

/** Thrown when work cannot continue within its budget and has no partial result. */
export class BudgetError extends Error {
  constructor() {
    super('The budget of this request is spent')
    this.name = 'BudgetError'
  }
}

export interface BudgetOptions {
  /** Bytes of text that may be examined. @default no limit */
  bytes?: number
  /** Bytes of text that may be decompressed. @default no limit */
  unpacked?: number
  /** Milliseconds that the work may take. @default no limit */
  millis?: number
  /** Ends the work when the client leaves. */
  signal?: AbortSignal | undefined
  /** Memory shared by all requests. @default no limit */
  memory?: MemoryBudget | undefined
  /** @default the system's */
  clock?: Clock | undefined
}

/**
 * Everything one request may cost: bytes, time and memory, plus the signal that ends it. It travels with the request
 * through bisection, cursor lookup, decompression, search, rendering and following, so nothing runs outside it.
 */
export class Budget {
  readonly signal: AbortSignal | undefined
  readonly memory: MemoryBudget | undefined
  readonly clock: Clock
  readonly #parent: Budget | null
  #deadline: number
  #bytes: number
  #unpacked: number

  constructor(options: BudgetOptions = {}, parent: Budget | null = null) {
    this.clock = options.clock ?? systemClock
    this.signal = options.signal
    this.memory = options.memory
    this.#parent = parent
    this.#deadline = this.clock.elapsed() + (options.millis ?? Number.POSITIVE_INFINITY)
    this.#bytes = options.bytes ?? Number.POSITIVE_INFINITY
    this.#unpacked = options.unpacked ?? Number.POSITIVE_INFINITY
  }

  /** Bytes that may still be examined. */
  get bytesLeft(): number {
    return Math.max(0, this.#bytes)
  }

  get millisLeft(): number {
    return Math.max(0, this.#deadline - this.clock.elapsed())
  }

  /** Whether bytes or time have run out. */
  get isSpent(): boolean {
    return this.#bytes <= 0 || this.#unpacked <= 0 || this.clock.elapsed() >= this.#deadline
  }

  /** Counts bytes that were examined. */
  spend(bytes: number): void {
    this.#bytes -= bytes
    this.#parent?.spend(bytes)
  }

  /** Counts bytes that were decompressed. */
  unpack(bytes: number): void {
    this.#unpacked -= bytes
    this.#parent?.unpack(bytes)
  }

  /**
   * A signal for one of many reads at once, which `ended` can end, too. Each has its own: a runtime warns of a leak
   * when eleven listen to the same one.
   */
  signalFor(ended?: AbortSignal): AbortSignal | undefined {
    const signals = [this.signal, ended].filter((signal) => signal !== undefined)
    return signals.length === 0 ? undefined : AbortSignal.any(signals)
  }

  /**
   * Call between two steps of work. Yields to the event loop when that is due, throws when the client has left, and
   * returns false when the budget is spent.
   */
  async step(): Promise<boolean> {
    this.signal?.throwIfAborted()
    if (isTurnOver()) {
      await yieldToEventLoop()
      this.signal?.throwIfAborted()
    }
    return !this.isSpent
  }

  /** As `step`, for work that has nothing partial to return: throws a BudgetError when the budget is spent. */
  async check(): Promise<void> {
    if (!(await this.step())) throw new BudgetError()
  }

  /** Stops the clock, for instance while the request waits in line. Call the result to start it again. */
  pause(): () => void {
    const since = this.clock.elapsed()
    return () => {
      this.#deadline += this.clock.elapsed() - since
    }
  }

  /** A budget for a first step that must leave time for the next: half of what is left, counted here too. */
  half(): Budget {
    const { signal, memory, clock } = this
    return new Budget(
      {
        bytes: this.#bytes / 2,
        unpacked: this.#unpacked / 2,
        millis: this.millisLeft / 2,
        signal,
        memory,
        clock,
      },
      this,
    )
  }
}
