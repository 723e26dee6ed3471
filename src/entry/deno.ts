import { problemResponse, toProblem } from '../http/problem.ts'
import { type App, resolveServeOptions, type ServeOptions, type Server, serverAt } from './server/serve.ts'
import { cutWhenStalled } from './server/stall.ts'
import { within } from './server/stop.ts'

export type { App, ServeOptions, Server }

/** The parts of Deno used here, so that its types are not needed. */
declare const Deno: {
  serve(
    options: {
      hostname: string
      port: number
      cert?: string
      key?: string
      signal: AbortSignal
      onListen(): void
      onError(error: unknown): Response
    },
    handler: (request: Request) => Response | Promise<Response>,
  ): { addr: { port: number }; finished: Promise<void>; shutdown(): Promise<void> }
}

/** How long it waits before it listens again after a failure. */
const RETRY_MS = 200

/** Serves an app on Deno, which aborts a response whose body fails; one that is not being read is aborted here. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Server> {
  const { port, hostname, tls, stallMs, onError, onCut } = resolveServeOptions(options)
  const cut = new AbortController()
  let server: ReturnType<typeof Deno.serve>
  let isClosing = false
  const answer = async (request: Request) => {
    const response = await app.fetch(request, {})
    return request.method === 'HEAD' ? withoutFalseLength(response) : cutWhenStalled(response, stallMs, onCut)
  }
  const listen = (port: number) => {
    const settings = {
      hostname,
      port,
      ...tls,
      signal: cut.signal,
      onListen() {},
      onError(error: unknown) {
        onError(error)
        return problemResponse(toProblem(error), null)
      },
    }
    server = Deno.serve(settings, answer)
    // Deno stops listening when it cannot accept a connection, as when no descriptor is left.
    server.finished.catch((error) => listenAgain(server.addr.port, error))
  }
  const listenAgain = (port: number, failure: unknown) => {
    if (isClosing) return
    onError(new Error('Listening again after a connection could not be accepted', { cause: failure }))
    setTimeout(() => {
      if (isClosing) return
      try {
        listen(port)
      } catch (error) {
        listenAgain(port, error)
      }
    }, RETRY_MS)
  }
  listen(port)
  return serverAt({ tls, hostname }, server!.addr.port, (graceMs) => {
    isClosing = true
    // A server that has failed has nothing to finish.
    const finished = server.shutdown().catch(() => {})
    return within(graceMs, finished, () => cut.abort())
  })
}

/** Deno answers HEAD with `Content-Length: 0` when there is no body, as if the file were empty; not with a stream. */
function withoutFalseLength(response: Response): Response {
  const { status, headers } = response
  if (status === 304 || headers.has('Content-Length')) return response
  return new Response(new ReadableStream({ pull: (controller) => controller.close() }), { status, headers })
}
