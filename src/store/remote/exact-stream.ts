import { SlicedStream, type Slices, slicesOf } from '../fast.ts'
import { StoreError } from '../store.ts'
import { type Call, type Lifeline, Passing, passingFailure, pauseAfter, type Retry, sleep } from './retry.ts'

/** A body that is arriving, and the connection of its request. */
export interface Arriving {
  body: ReadableStream<Uint8Array>
  line: Lifeline
}

/** All `length` bytes of a small body, or a failure that is worth a retry. Ends the connection. */
export async function receiveAll(
  retry: Retry,
  call: Call,
  { body, line }: Arriving,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  const slices = slicesOf(body)
  let filled = 0
  try {
    for (;;) {
      line.arm(Math.min(retry.stall, call.until - retry.now()))
      const slice = await nextOf(slices, line)
      if (slice === null) break
      if (filled + slice.length > length) throw new Passing(tooLong(length))
      bytes.set(slice, filled)
      filled += slice.length
    }
    if (filled < length) throw new Passing(tooShort(filled, length))
  } catch (thrown) {
    slices.cancel()
    throw thrown
  }
  line.end()
  return bytes
}

/** What a stream must deliver. */
interface Expected {
  length: number
  signal: AbortSignal | undefined
  /** Asks for the bytes after the first `sent`, of the same version. */
  resume(sent: number): Promise<Arriving>
}

/**
 * A large body as a stream that delivers exactly `length` bytes or errors. When the connection breaks on the way,
 * `resume(sent)` requests the rest of the same version, a bounded number of times.
 */
export function exactStream(
  retry: Retry,
  first: Arriving,
  { length, signal, resume }: Expected,
): ReadableStream<Uint8Array> {
  let { line } = first
  let slices = slicesOf(first.body)
  let sent = 0
  let failures = 0
  let isCancelled = false
  line.disarm()

  function cancel(): void {
    isCancelled = true
    line.cut()
    slices.cancel()
  }

  /** Runs a read; when it fails, requests the rest and runs it again, unless that would not help. */
  async function persist<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        // The timer runs only while a reader waits: a body that is not being read is backpressure, not a stall.
        line.arm(retry.stall)
        return await read()
      } catch (thrown) {
        slices.cancel()
        const failure = passingFailure(thrown, line, signal)
        if (isCancelled || failures >= retry.retries) throw failure
        await sleep(pauseAfter(retry, failures++, failure), signal)
        const again = await resume(sent)
        line = again.line
        slices = slicesOf(again.body)
        if (isCancelled) cancel()
      }
    }
  }

  function count(slice: Uint8Array | null): void {
    if (slice === null && sent < length) throw new Passing(tooShort(sent, length))
    if (slice === null) line.end()
    else if (sent + slice.length > length) throw tooLong(length)
    sent += slice?.length ?? 0
  }

  const next = () =>
    persist(async () => {
      const slice = await nextOf(slices, line)
      line.disarm()
      count(slice)
      return slice
    })

  // The rest comes from the same client, so it can do the same.
  const each = (take: (slice: Uint8Array) => void) =>
    persist(async () => {
      const taken = slices.each!((slice) => {
        line.arm(retry.stall)
        count(slice)
        take(slice)
      })
      await line.bound(taken)
      count(null)
    })

  return new SlicedStream({
    next,
    each: slices.each && each,
    release() {},
    cancel,
  })
}

/** The next slice, at the latest when the line ends. */
function nextOf(slices: Slices, line: Lifeline): Uint8Array | null | Promise<Uint8Array | null> {
  const next = slices.next()
  return next instanceof Promise ? line.bound(next) : next
}

function tooShort(received: number, length: number): StoreError {
  return new StoreError('unavailable', `The storage ended a body of ${length} bytes after ${received}`)
}

function tooLong(length: number): StoreError {
  return new StoreError('unavailable', `The storage sent more than the ${length} bytes it announced`)
}
