import { StoreError } from '../store.ts'

/** How long a store waits for its service, and how often it asks again. Milliseconds. */
export interface PatienceOptions {
  /** How many times a failed request is sent again. @default 3 */
  retries?: number | undefined
  /** How long one call may take with all its retries, up to the first byte of a large body. @default 10000 */
  deadline?: number | undefined
  /** How long one request may take until it is answered. @default 5000 */
  timeout?: number | undefined
  /** How long a body may stand still while somebody waits for it. @default 10000 */
  stall?: number | undefined
  /** The longest first pause between two requests; it doubles each time, up to 2 seconds. @default 100 */
  backoff?: number | undefined
  /** The clock. @default Date.now */
  now?: (() => number) | undefined
  /** Spreads the pauses: full jitter, because clients that fail together must not come back together. */
  random?: (() => number) | undefined
}

/** The same, resolved once. */
export type Patience = { [K in keyof PatienceOptions]-?: NonNullable<PatienceOptions[K]> }

const LONGEST_PAUSE = 2_000

/** Fills in what was not said. */
export function patience(options: PatienceOptions): Patience {
  return {
    retries: options.retries ?? 3,
    deadline: options.deadline ?? 10_000,
    timeout: options.timeout ?? 5_000,
    stall: options.stall ?? 10_000,
    backoff: options.backoff ?? 100,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
  }
}

/** A failure that may pass: the request is worth sending again. */
export class Passing extends Error {
  readonly error: StoreError

  constructor(error: StoreError) {
    super(error.message, { cause: error })
    this.name = 'Passing'
    this.error = error
  }
}

/** One request's life: it ends when the client leaves or when a timer that was armed runs out. */
export class Lifeline {
  readonly #controller = new AbortController()
  readonly #client: AbortSignal | undefined
  readonly #leave = () => this.#controller.abort(this.#client?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined
  #late = false

  // AbortSignal.any would do, but on Node 20 it keeps every signal alive as long as its source.
  constructor(client: AbortSignal | undefined) {
    this.#client = client
    if (client?.aborted) this.#leave()
    else client?.addEventListener('abort', this.#leave, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether a timer cut it. */
  get late(): boolean {
    return this.#late
  }

  /** Cuts the request in `ms`, unless armed again or disarmed before. */
  arm(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        this.#late = true
        this.#controller.abort(new StoreError('timeout', 'The storage did not answer in time'))
      },
      Math.max(0, ms),
    )
  }

  disarm(): void {
    clearTimeout(this.#timer)
  }

  /** The request is over; nothing holds on to the client's signal. */
  end(): void {
    clearTimeout(this.#timer)
    this.#client?.removeEventListener('abort', this.#leave)
  }

  /** Ends it and cuts the connection. */
  cut(): void {
    this.end()
    this.#controller.abort()
  }

  /** Settles as `work` does, but no later than the line: for services that take no signal. */
  bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    return new Promise<T>((resolve, reject) => {
      const cut = () => reject(signal.reason)
      if (signal.aborted) cut()
      else signal.addEventListener('abort', cut, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cut))
    })
  }
}

/** What belongs to one call: the client's signal, and when its time is up. */
export interface Call {
  signal: AbortSignal | undefined
  until: number
}

/** Starts the clock of a call. */
export function begin(patient: Patience, signal: AbortSignal | undefined): Call {
  return { signal, until: patient.now() + patient.deadline }
}

/**
 * Runs `attempt` until it succeeds, fails for good, or retries or time run out. What it throws is a StoreError,
 * or the reason of the client's signal. An attempt that returns owns its line: it ends it, or hands it on.
 */
export async function persist<T>(
  patient: Patience,
  call: Call,
  attempt: (line: Lifeline) => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    call.signal?.throwIfAborted()
    const line = new Lifeline(call.signal)
    line.arm(Math.min(patient.timeout, call.until - patient.now()))
    let failure: StoreError
    try {
      return await attempt(line)
    } catch (thrown) {
      line.cut()
      call.signal?.throwIfAborted()
      if (thrown instanceof StoreError && !line.late) throw thrown
      failure = asStoreError(thrown, line)
    }
    const pause = pauseAfter(patient, failures, failure)
    if (failures >= patient.retries || patient.now() + pause >= call.until) throw failure
    await sleep(pause, call.signal)
  }
}

/** How long to wait after so many failures: full jitter, and never less than the service asks for. */
export function pauseAfter(patient: Patience, failures: number, failure: StoreError): number {
  const most = Math.min(LONGEST_PAUSE, patient.backoff * 2 ** failures)
  return Math.max(patient.random() * most, (failure.retryAfter ?? 0) * 1000)
}

/** Waits, or throws the signal's reason when the client leaves. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })
}

/** Whatever an attempt threw, as the StoreError that it means. */
export function asStoreError(thrown: unknown, line: Lifeline): StoreError {
  if (line.late) return new StoreError('timeout', 'The storage did not answer in time', { cause: thrown })
  if (thrown instanceof Passing) return thrown.error
  if (thrown instanceof StoreError) return thrown
  return new StoreError('unavailable', 'The connection to the storage failed', { cause: thrown })
}
