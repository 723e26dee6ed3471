/** Why an answer was cut that its client stopped reading. */
export class StalledError extends Error {
  constructor(ms: number) {
    super(`The client read nothing for ${ms / 1000} s`)
    this.name = 'StalledError'
  }
}

/**
 * The same response, whose body fails when nothing is read from it for `ms`: for a server that does not report how its
 * sockets fare. Only a wait for the client counts, never a wait for the next chunk.
 */
export function cutWhenStalled(response: Response, ms: number, onCut: (reason: unknown) => void): Response {
  const { body, status, headers } = response
  if (body === null || ms <= 0) return response
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(timer)
        const { done, value } = await reader.read()
        if (done) return controller.close()
        controller.enqueue(value)
        timer = setTimeout(() => {
          const reason = new StalledError(ms)
          controller.error(reason)
          reader.cancel(reason).catch(() => {})
          onCut(reason)
        }, ms)
      },
      cancel(reason) {
        clearTimeout(timer)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(watched, { status, headers })
}
