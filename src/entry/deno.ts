import { problemResponse, toProblem } from '../core/http/problem.ts'
import { inTime, systemClock } from '../kit/limits/clock.ts'
import { type App, resolveServeOptions, type ServeOptions, type Server, serverAt } from './server/serve.ts'
import { cuttable } from './server/stall.ts'
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
      onListen(): void
      onError(error: unknown): Response
    },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Response | Promise<Response>,
  ): { addr: { port: number }; finished: Promise<void>; shutdown(): Promise<void>; unref(): void }
}

/** How long it waits before it listens again after a failure. */
const RETRY_MS = 200
/** How long it waits for the connections of answers that were cut. */
const CUT_MS = 1000

/** Serves an app on Deno, which aborts a response whose body fails; one that is not being read is aborted here. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Server> {
  const { port, hostname, tls, stallMs, onError, onCut } = resolveServeOptions(app, options)
  const cut = new AbortController()
  let server: ReturnType<typeof Deno.serve>
  let isClosing = false
  const answer = async (request: Request, { remoteAddr }: { remoteAddr: { hostname?: string } }) => {
    const response = await app.fetch(request, { address: remoteAddr.hostname })
    return request.method === 'HEAD'
      ? withoutFalseLength(response)
      : cuttable(response, { stallMs, onCut, signal: cut.signal })
  }
  const listen = (port: number) => {
    const settings = {
      hostname,
      port,
      ...tls,
      onListen() {},
      onError(error: unknown) {
        if (error !== cut.signal.reason) onError(error)
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
    return within(graceMs, finished, async () => {
      // Deno's own signal fails after shutdown() and ends the process: answers are cut here, by their bodies.
      cut.abort(new Error('The server is closing'))
      // A request that never ends must not keep the process running.
      if (!(await inTime(systemClock, CUT_MS, finished))) server.unref()
    })
  })
}

/** Deno answers HEAD with `Content-Length: 0` when there is no body, as if the file were empty; not with a stream. */
function withoutFalseLength(response: Response): Response {
  const { status, headers } = response
  if (status === 304 || headers.has('Content-Length')) return response
  return new Response(new ReadableStream({ pull: (controller) => controller.close() }), { status, headers })
}
