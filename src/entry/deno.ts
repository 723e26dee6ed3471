import { Problem, problemResponse } from '../http/problem.ts'
import type { Loaded } from '../settings.ts'
import { callSite } from './own-log/log-line.ts'
import type { LineWriter } from './own-log/rotating-file.ts'
import { listenError } from './process/listen-error.ts'
import { program, type Running } from './process/program.ts'
import { within } from './process/stop.ts'
import { compose, describe } from './service/compose.ts'
import type { Environment } from './service/location.ts'
import { refuseWorkers } from './service/refuse.ts'

/** What is used of Deno: no package of its types is needed. */
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

const STOPPED = callSite('Server', 'Stop')
const BROKEN = callSite('Server', 'Request')
const ENDED = callSite('Server', 'Listen')
/** How long after a failure it listens again. */
const AGAIN_MS = 200

/** Serves on Deno. Throws a SettingsError when it cannot start. */
export async function startDeno(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  refuseWorkers(loaded, 'Deno')
  const service = compose<object>(loaded, stderr, env)
  const { settings, log, tls, warnings } = service
  const cut = new AbortController()
  let handler: ReturnType<typeof service.handler> = () => new Response(null, { status: 503 })
  let server: ReturnType<typeof Deno.serve>
  let closing: Promise<void> | null = null
  const listen = (port: number) => {
    const options = {
      hostname: settings.host.replace(/^\[(.*)\]$/, '$1'),
      port,
      ...tls,
      signal: cut.signal,
      onListen() {},
      onError(error: unknown) {
        log.error(BROKEN, `A request failed: ${describe(error)}`)
        return problemResponse(
          new Problem('internal', 'The service failed to answer; its log tells why.'),
          null,
        )
      },
    }
    server = Deno.serve(options, async (request) => withoutFalseLength(request, await handler(request, {})))
    // Deno listens no longer once a connection could not be accepted, as when there is no descriptor left.
    server.finished.catch((error) => listenAgain(server.addr.port, error))
  }
  const listenAgain = (port: number, failure: unknown) => {
    if (closing) return
    log.error(ENDED, `Listens again, for it could not accept a connection: ${describe(failure)}`)
    setTimeout(() => {
      if (closing) return
      try {
        listen(port)
      } catch (error) {
        listenAgain(port, error)
      }
    }, AGAIN_MS)
  }
  try {
    listen(settings.port)
  } catch (error) {
    log.close()
    throw listenError(error, settings)
  }
  const { port } = server!.addr
  handler = service.handler(port)
  const welcome = service.welcome(port)
  return {
    url: /https?:\/\/\S+/.exec(welcome)![0],
    welcome,
    warnings,
    log,
    close(graceMs = 3000) {
      closing ??= within(
        graceMs,
        // One that has failed has nothing to finish.
        server.shutdown().catch(() => {}),
        () => cut.abort(),
      ).then(() => {
        log.info(STOPPED, 'nodestate stopped')
        log.close()
      })
      return closing
    },
  }
}

/** Deno answers HEAD with `Content-Length: 0` when there is no body, as if the file were empty; not with a stream. */
function withoutFalseLength(request: Request, response: Response): Response {
  const { status, headers } = response
  if (request.method !== 'HEAD' || status === 304 || headers.has('Content-Length')) return response
  return new Response(new ReadableStream({ pull: (controller) => controller.close() }), { status, headers })
}

if ((import.meta as { main?: boolean }).main) await program(startDeno)
