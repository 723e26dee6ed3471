import { type Problem, problemResponse, toProblem } from '../core/http/problem.ts'
import { StoreError } from '../store/store.ts'
import { type App, resolveServeOptions, type ServeOptions, type Server, serverAt } from './server/serve.ts'
import { within } from './server/stop.ts'

export type { App, ServeOptions, Server }

/** The parts of Bun used here, so that its types are not needed. */
declare const Bun: {
  serve(options: {
    hostname: string
    port: number
    tls?: { cert: string; key: string }
    idleTimeout: number
    development: false
    fetch(request: Request): Response | Promise<Response>
    error(error: unknown): Response
  }): {
    port: number
    requestIP(request: Request): { address: string } | null
    stop(cut?: boolean): Promise<void>
  }
}

/** The longest that Bun can wait, in seconds. */
const LONGEST_IDLE = 255

/** Serves an app on Bun, which cuts an answer whose body fails or whose client stops reading. */
export async function serve(app: App, options: ServeOptions = {}): Promise<Server> {
  const { port, hostname, tls, stallMs, onError } = resolveServeOptions(app, options)
  const server = Bun.serve({
    hostname,
    port,
    ...(tls && { tls }),
    idleTimeout: Math.min(LONGEST_IDLE, Math.ceil(stallMs / 1000)),
    development: false,
    fetch(request) {
      const answer = app.fetch(request, new Bindings(request, server))
      return request.method === 'HEAD' ? withoutFalseLength(answer) : answer
    },
    error(error) {
      onError(error)
      return problemResponse(problemOf(error), null)
    },
  })
  const cut = () => server.stop(true)
  return serverAt({ tls, hostname }, server.port, (graceMs) => within(graceMs, server.stop(), cut))
}

/** What is known of the client, looked up when it is needed. */
class Bindings {
  readonly #request: Request
  readonly #server: Pick<ReturnType<typeof Bun.serve>, 'requestIP'>

  constructor(request: Request, server: Pick<ReturnType<typeof Bun.serve>, 'requestIP'>) {
    this.#request = request
    this.#server = server
  }

  get address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null
  }
}

/** Bun opens the files that it sends itself: running out of descriptors for that is temporary. */
function problemOf(error: unknown): Problem {
  if (/^E[MN]FILE$/.test(String((error as { code?: unknown } | null)?.code)))
    return toProblem(new StoreError('unavailable', 'No descriptor is left', { retryAfter: 1, cause: error }))
  return toProblem(error)
}

/** Bun answers HEAD with `Content-Length: 0` when it knows no length, as if the file were empty. */
async function withoutFalseLength(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  if (response.status !== 304 && !response.headers.has('Content-Length'))
    response.headers.set('Transfer-Encoding', 'chunked')
  return response
}
