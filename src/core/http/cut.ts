import { yieldToTimers } from '../../kit/limits/yield.ts'

/**
 * The same stream, failing in a way that every server turns into a cut connection.
 *
 * A server may read the first chunks before it sends the headers, and mistake an early failure for the end of the body:
 * @hono/node-server waits one timer for that and then sends a well-formed but incomplete response. If the failure comes
 * while it waits for the socket to drain, it writes the error's message into the body. So a failure is reported only in
 * a separate read, two timers after the last chunk: by then the headers and all chunks have been sent, and the server
 * can only destroy the connection.
 */
export function cutOnError(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // Locked by the first read, because our own server sends the stream itself.
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body.getReader()
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          await yieldToTimers()
          await yieldToTimers()
          throw error
        }
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
