import { SlicedStream, type Slices, slicesOf } from '../fast.ts'
import { type Bytes, StoreError } from '../store.ts'
import {
  type AttemptTimer,
  type Call,
  pauseAfter,
  type Retry,
  sleep,
  TransientError,
  transientFailure,
} from './retry.ts'

/** The body of a response, and the timer of its request. */
export interface TimedBody {
  body: ReadableStream<Uint8Array>
  timer: AttemptTimer
}

export interface Expected {
  length: number
  /** Up to this length it is read into memory, and a retry covers all of it. */
  wholeUpTo: number
  call: Call
  /** Requests the bytes after the first `sent`, of the same version. */
  resume(sent: number): Promise<TimedBody>
}

/** Exactly `length` bytes, in memory if they are few, otherwise as a stream; or an error. */
export async function receive(retry: Retry, first: TimedBody, expected: Expected): Promise<Bytes> {
  const { length, wholeUpTo, call } = expected
  return length <= wholeUpTo
    ? receiveAll(retry, call, first, length)
    : new SlicedStream(new ExactSlices(retry, first, expected))
}

/** All `length` bytes of a small body, or a failure that is worth a retry. Ends the request's timer. */
async function receiveAll(retry: Retry, call: Call, { body, timer }: TimedBody, length: number) {
  const bytes = new Uint8Array(length)
  const slices = slicesOf(body)
  let filled = 0
  try {
    for (;;) {
      timer.start(Math.min(retry.stall, call.until - retry.now()))
      const slice = await nextOf(slices, timer)
      if (slice === null) break
      if (filled + slice.length > length) throw new TransientError(tooLong(length))
      bytes.set(slice, filled)
      filled += slice.length
    }
    if (filled < length) throw new TransientError(tooShort(filled, length))
  } catch (thrown) {
    slices.cancel()
    throw thrown
  }
  timer.end()
  return bytes
}

/**
 * A large body that delivers exactly `length` bytes or fails. When the connection breaks on the way, `resume` requests
 * the rest of the same version, a bounded number of times.
 */
class ExactSlices implements Slices {
  readonly each: Slices['each']
  readonly #retry: Retry
  readonly #expected: Expected
  #slices: Slices
  #timer: AttemptTimer
  #sent = 0
  #failures = 0
  #isCancelled = false

  constructor(retry: Retry, { body, timer }: TimedBody, expected: Expected) {
    this.#retry = retry
    this.#expected = expected
    this.#slices = slicesOf(body)
    this.#timer = timer
    timer.stop()
    // The rest comes from the same client, so it can do the same.
    if (this.#slices.each) this.each = (take) => this.#each(take)
  }

  next(): Promise<Uint8Array | null> {
    return this.#persist(async () => {
      const slice = await nextOf(this.#slices, this.#timer)
      this.#timer.stop()
      this.#count(slice)
      return slice
    })
  }

  release(): void {}

  cancel(): void {
    this.#isCancelled = true
    this.#timer.abort()
    this.#slices.cancel()
  }

  #each(take: (slice: Uint8Array) => void): Promise<void> {
    return this.#persist(async () => {
      const taken = this.#slices.each!((slice) => {
        this.#timer.start(this.#retry.stall)
        this.#count(slice)
        take(slice)
      })
      await this.#timer.bound(taken)
      this.#count(null)
    })
  }

  /** Runs a read; when it fails, requests the rest and runs it again, unless that would not help. */
  async #persist<T>(read: () => Promise<T>): Promise<T> {
    const { signal } = this.#expected.call
    for (;;) {
      try {
        // The timer runs only while a reader waits: a body that is not being read is backpressure, not a stall.
        this.#timer.start(this.#retry.stall)
        return await read()
      } catch (thrown) {
        this.#slices.cancel()
        const failure = transientFailure(thrown, this.#timer, signal)
        if (this.#isCancelled || this.#failures >= this.#retry.retries) throw failure
        this.#retry.onRetry(failure.code)
        await sleep(pauseAfter(this.#retry, this.#failures++, failure), signal)
        const { body, timer } = await this.#expected.resume(this.#sent)
        this.#timer = timer
        this.#slices = slicesOf(body)
        if (this.#isCancelled) this.cancel()
      }
    }
  }

  #count(slice: Uint8Array | null): void {
    const { length } = this.#expected
    if (slice === null && this.#sent < length) throw new TransientError(tooShort(this.#sent, length))
    if (slice === null) this.#timer.end()
    else if (this.#sent + slice.length > length) throw tooLong(length)
    this.#sent += slice?.length ?? 0
  }
}

/** The next slice; rejects if the attempt is aborted first. */
function nextOf(slices: Slices, timer: AttemptTimer): Uint8Array | null | Promise<Uint8Array | null> {
  const next = slices.next()
  return next instanceof Promise ? timer.bound(next) : next
}

function tooShort(received: number, length: number): StoreError {
  return new StoreError('unavailable', `The storage ended a body of ${length} bytes after ${received}`)
}

function tooLong(length: number): StoreError {
  return new StoreError('unavailable', `The storage sent more than the ${length} bytes it announced`)
}
