/** Why an answer was cut that its client stopped reading. */
export class StalledError extends Error {
  constructor(ms: number) {
    super(`The client read nothing for ${ms / 1000} s`)
    this.name = 'StalledError'
  }
}

/** When an answer is cut. */
export interface CutOptions {
  /** Milliseconds for which a client may read nothing; 0 for any time. */
  stallMs: number
  /** Called when a client has stalled. */
  onCut: (reason: unknown) => void
  /** Cuts every answer. */
  signal: AbortSignal
}

/**
 * The same response, whose body fails when it has to be cut: for a server that reports nothing about its sockets and
 * cannot close them. Only a wait for the client counts as a stall, never a wait for the next chunk.
 */
export function cuttable(response: Response, { stallMs, onCut, signal }: CutOptions): Response {
  const { body, status, headers } = response
  if (body === null) return response
  const reader = body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop: () => void
  const end = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
  const watched = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = () => cut(controller, signal.reason)
        signal.addEventListener('abort', stop)
        if (signal.aborted) stop()
      },
      async pull(controller) {
        clearTimeout(timer)
        const { done, value } = await reader.read().catch((error) => {
          end()
          throw error
        })
        if (done) {
          end()
          return controller.close()
        }
        controller.enqueue(value)
        if (stallMs > 0) timer = setTimeout(stalled, stallMs, controller)
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const cut = (controller: ReadableStreamDefaultController, reason: unknown) => {
    end()
    controller.error(reason)
    reader.cancel(reason).catch(() => {})
  }
  const stalled = (controller: ReadableStreamDefaultController) => {
    const reason = new StalledError(stallMs)
    cut(controller, reason)
    onCut(reason)
  }
  return new Response(watched, { status, headers })
}
