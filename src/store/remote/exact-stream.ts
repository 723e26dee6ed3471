import { StoreError } from '../store.ts'
import { asStoreError, type Call, type Lifeline, Passing, pauseAfter, type Retry, sleep } from './retry.ts'

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
  const reader = body.getReader()
  let filled = 0
  try {
    for (;;) {
      line.arm(Math.min(retry.stall, call.until - retry.now()))
      const { done, value } = await line.bound(reader.read())
      if (done) break
      if (filled + value.length > length) throw new Passing(tooLong(length))
      bytes.set(value, filled)
      filled += value.length
    }
    if (filled < length) throw new Passing(tooShort(filled, length))
  } catch (thrown) {
    reader.cancel().catch(() => {})
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
  let reader = first.body.getReader()
  let sent = 0
  let failures = 0
  line.disarm()

  async function next(): Promise<Uint8Array | null> {
    try {
      // The timer runs only while a reader waits: a body that is not being read is backpressure, not a stall.
      line.arm(retry.stall)
      const { done, value } = await line.bound(reader.read())
      line.disarm()
      if (done && sent < length) throw new Passing(tooShort(sent, length))
      if (!done && sent + value.length > length) throw tooLong(length)
      return done ? null : value
    } catch (thrown) {
      line.cut()
      reader.cancel().catch(() => {})
      signal?.throwIfAborted()
      if (thrown instanceof StoreError && !line.late) throw thrown
      const failure = asStoreError(thrown, line)
      if (failures >= retry.retries) throw failure
      await sleep(pauseAfter(retry, failures++, failure), signal)
      const again = await resume(sent)
      line = again.line
      reader = again.body.getReader()
      return new Uint8Array(0)
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const chunk = await next()
          if (chunk !== null && chunk.length === 0) continue
          if (chunk === null) {
            line.end()
            controller.close()
            return
          }
          sent += chunk.length
          controller.enqueue(chunk)
          return
        }
      },
      async cancel(reason) {
        line.cut()
        await reader.cancel(reason).catch(() => {})
      },
    },
    { highWaterMark: 0 },
  )
}

function tooShort(received: number, length: number): StoreError {
  return new StoreError('unavailable', `The storage ended a body of ${length} bytes after ${received}`)
}

function tooLong(length: number): StoreError {
  return new StoreError('unavailable', `The storage sent more than the ${length} bytes it announced`)
}
