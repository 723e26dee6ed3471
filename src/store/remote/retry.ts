import { calling, having, type OptionsOf, text, whole } from '../../kit/checked.ts'
import { type Clock, onAbort, sleep, systemClock } from '../../kit/limits/clock.ts'
import { type Store, StoreError } from '../store.ts'

/** How long a store waits for its service, and how often it retries. Milliseconds. */
export const RETRY = {
  /** Retries of a failed request. @default 3 */
  retries: whole(0),
  /** The longest a call may take with all its retries, up to the first byte of a large body. @default 10000 */
  deadline: whole(0),
  /** The longest that 100 pages of a listing may take, not counting time in which no caller waits. @default 30000 */
  listDeadline: whole(0),
  /** The longest one request may take until it is answered. @default 5000 */
  timeout: whole(0),
  /** The longest a body may stall while a reader waits. @default 10000 */
  stall: whole(0),
  /** Upper limit of the first pause between two requests; it doubles each time, up to 2 seconds. @default 100 */
  backoff: whole(0),
  /** Time and timers. @default the system's */
  clock: having<Clock>('a clock', 'now', 'elapsed'),
  /** Spreads the pauses (full jitter): clients that fail together must not come back together. @default Math.random */
  random: calling<() => number>('returns a number'),
  /** Who failed, for people. @default the storage */
  who: text,
  /** Called before each retry with the kind of the failure. @default nothing */
  onRetry: calling<RetryListener>('takes the kind of a failure'),
}
export type RetryOptions = OptionsOf<typeof RETRY>

export type Retry = { [K in Exclude<keyof RetryOptions, 'who'>]-?: NonNullable<RetryOptions[K]> } & Pick<
  RetryOptions,
  'who'
>

const LONGEST_PAUSE = 2_000

export function retryOf(options: RetryOptions): Retry {
  return {
    retries: options.retries ?? 3,
    deadline: options.deadline ?? 10_000,
    listDeadline: options.listDeadline ?? 30_000,
    timeout: options.timeout ?? 5_000,
    stall: options.stall ?? 10_000,
    backoff: options.backoff ?? 100,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    onRetry: options.onRetry ?? (() => {}),
    who: options.who,
  }
}

export type RetryListener = (kind: StoreError['code']) => void

/** Who listens to the retries of a bucket's store. */
export const retryListeners = new WeakMap<Store, Set<RetryListener>>()

/** Adds a listener to a bucket's store; once, however often it is added. Other stores do not retry. */
export function onRetries(store: Store, listener: RetryListener): void {
  retryListeners.get(store)?.add(listener)
}

/** A temporary failure: the request is worth a retry. */
export class TransientError extends Error {
  readonly error: StoreError

  constructor(error: StoreError) {
    super(error.message, { cause: error })
    this.name = 'TransientError'
    this.error = error
  }
}

/** Aborts one request when its client disconnects or its time runs out. */
export class AttemptTimer {
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #client: AbortSignal | undefined
  readonly #disconnect = () => this.#controller.abort(this.#client?.reason)
  #cancel = () => {}
  #stay = () => {}
  isLate = false

  // AbortSignal.any would do, but on Node 20 it keeps every signal alive as long as its source.
  constructor(clock: Clock, client: AbortSignal | undefined) {
    this.#clock = clock
    this.#client = client
    if (client?.aborted) this.#disconnect()
    else this.#stay = onAbort(client, this.#disconnect)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Aborts the request in `ms`, unless started again or stopped before. */
  start(ms: number): void {
    this.#cancel()
    this.#cancel = this.#clock.after(Math.max(0, ms), () => {
      this.isLate = true
      this.#controller.abort(new StoreError('timeout', 'The storage did not answer in time'))
    })
  }

  stop(): void {
    this.#cancel()
  }

  /** The request is complete: stops, and releases the client's signal. */
  end(): void {
    this.#cancel()
    this.#stay()
  }

  abort(): void {
    this.end()
    this.#controller.abort()
  }

  /** Settles as `work` does, or rejects when the request is aborted: for services that take no signal. */
  bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    return new Promise<T>((resolve, reject) => {
      const leave = () => reject(signal.reason)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }
}

export interface Call {
  signal: AbortSignal | undefined
  until: number
}

/** Starts the clock of a call. */
export function begin(retry: Retry, signal: AbortSignal | undefined, deadline = retry.deadline): Call {
  return { signal, until: retry.clock.elapsed() + deadline }
}

/**
 * Runs `attempt` until it succeeds, fails for good, or runs out of retries or time. It throws a StoreError or the
 * reason of the client's signal. On success, the attempt owns the timer and must end it.
 */
export async function withRetries<T>(retry: Retry, call: Call, attempt: (timer: AttemptTimer) => Promise<T>) {
  for (let failures = 0; ; failures++) {
    call.signal?.throwIfAborted()
    const timer = new AttemptTimer(retry.clock, call.signal)
    timer.start(Math.min(retry.timeout, call.until - retry.clock.elapsed()))
    let failure: StoreError
    try {
      return await attempt(timer)
    } catch (thrown) {
      failure = failureOf(thrown, timer, retry.who, call.signal)
    }
    const pause = pauseAfter(retry, failures, failure)
    if (failures >= retry.retries || retry.clock.elapsed() + pause >= call.until) throw failure
    retry.onRetry(failure.code)
    await sleep(retry.clock, pause, call.signal)
  }
}

/** As `transientFailure`, with the name of who failed. */
function failureOf(thrown: unknown, timer: AttemptTimer, who: string | undefined, client?: AbortSignal) {
  if (thrown instanceof StoreError) thrown.who ??= who
  const failure = transientFailure(thrown, timer, client)
  failure.who ??= who
  return failure
}

/** How long to wait after a number of failures: full jitter, and never less than the service asks for. */
export function pauseAfter(retry: Retry, failures: number, failure: StoreError): number {
  const longest = Math.min(LONGEST_PAUSE, retry.backoff * 2 ** failures)
  return Math.max(retry.random() * longest, (failure.retryAfter ?? 0) * 1000)
}

/** Aborts an attempt that threw. Returns a failure that is worth a retry; throws any other. */
export function transientFailure(thrown: unknown, timer: AttemptTimer, client?: AbortSignal): StoreError {
  timer.abort()
  client?.throwIfAborted()
  if (timer.isLate) return new StoreError('timeout', 'The storage did not answer in time', { cause: thrown })
  if (thrown instanceof TransientError) return thrown.error
  if (thrown instanceof StoreError) throw thrown
  return new StoreError('unavailable', 'The connection to the storage failed', { cause: thrown })
}
