import { concat } from '../../kit/bytes.ts'
import { sleep } from '../../kit/limits/clock.ts'
import { SlicedStream, type Slices, slicesOf } from '../fast.ts'
import { type Bytes, StoreError } from '../store.ts'
import {
  type AttemptTimer,
  type Call,
  pauseAfter,
  type Retry,
  TransientError,
  transientFailure,
} from './retry.ts'

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
    : new SlicedStream(exactSlices(retry, first, expected))
}

/** All `length` bytes of a small body, or a failure that is worth a retry. Ends the request's timer. */
async function receiveAll(retry: Retry, call: Call, { body, timer }: TimedBody, length: number) {
  const bytes = new Uint8Array(length)
  const slices = slicesOf(body)
  let filled = 0
  try {
    for (;;) {
      timer.start(Math.min(retry.stall, call.until - retry.clock.elapsed()))
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
function exactSlices(retry: Retry, first: TimedBody, { length, call, resume }: Expected): Slices {
  let slices = slicesOf(first.body)
  let { timer } = first
  let sent = 0
  let failures = 0
  let isCancelled = false
  timer.stop()

  function count(slice: Uint8Array | null): void {
    if (slice === null && sent < length) throw new TransientError(tooShort(sent, length))
    if (slice === null) timer.end()
    else if (sent + slice.length > length) throw tooLong(length)
    sent += slice?.length ?? 0
  }
  function cancel(): void {
    isCancelled = true
    timer.abort()
    slices.cancel()
  }
  /** Runs a read; when it fails, requests the rest and runs it again, unless that would not help. */
  async function persist<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        // The timer runs only while a reader waits: a body that is not being read is backpressure, not a stall.
        timer.start(retry.stall)
        return await read()
      } catch (thrown) {
        slices.cancel()
        const failure = transientFailure(thrown, timer, call.signal)
        if (isCancelled || failures >= retry.retries) throw failure
        retry.onRetry(failure.code)
        await sleep(retry.clock, pauseAfter(retry, failures++, failure), call.signal)
        const rest = await resume(sent)
        timer = rest.timer
        slices = slicesOf(rest.body)
        if (isCancelled) cancel()
      }
    }
  }
  const next = async () => {
    const slice = await nextOf(slices, timer)
    timer.stop()
    count(slice)
    return slice
  }
  const eachTo = (take: (slice: Uint8Array) => void) => async () => {
    const taken = slices.each!((slice) => {
      timer.start(retry.stall)
      count(slice)
      take(slice)
    })
    await timer.bound(taken)
    count(null)
  }
  // The rest comes from the same client, so it can do the same.
  const each: Slices['each'] = slices.each && ((take) => persist(eachTo(take)))
  return { next: () => persist(next), each, release() {}, cancel }
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

/** The bytes of an answer that is held as a whole; `who` sent it. `grow` is called before more of it is held. */
export async function bytesWithin(
  answer: Response,
  timer: Pick<AttemptTimer, 'bound'>,
  { longest, who, grow }: { longest: number; who: string; grow?: ((bytes: number) => void) | undefined },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = answer.body?.getReader()
  try {
    while (reader) {
      const { done, value } = await timer.bound(reader.read())
      if (done) break
      size += value.length
      if (size > longest) throw new StoreError('unavailable', `The ${who} sent an endless answer`)
      grow?.(value.length)
      pieces.push(value)
    }
  } catch (thrown) {
    // Otherwise the connection stays open, and the sender holds the rest.
    reader?.cancel().catch(() => {})
    throw thrown
  }
  return concat(pieces)
}
