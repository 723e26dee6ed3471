/**
 * The same stream, failing in a way that every server turns into a cut connection.
 *
 * A server may look at the first chunks before it sends the head, and take an early failure for the end of the body:
 * @hono/node-server waits one timer for that and then sends a well-formed answer that lacks its rest. It writes the
 * error's message into the body when the failure comes while it waits for the socket to drain. So a failure shows only
 * in a read of its own, two timers after the last chunk: by then the head and everything that was read are sent, and
 * a destroyed connection is all that is left to do.
 */
export function cutOnError(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // Taken with the first read: a server of ours sends the stream itself.
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
          await nextTimer()
          await nextTimer()
          throw error
        }
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function nextTimer(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}
