import { Problem, problemResponse, toProblem } from '../http/problem.ts'
import { codeOf } from '../settings/row.ts'
import type { Loaded } from '../settings.ts'
import { StoreError } from '../store/store.ts'
import { callSite } from './own-log/log-line.ts'
import type { LineWriter } from './own-log/rotating-file.ts'
import { listenError } from './process/listen-error.ts'
import { program, type Running } from './process/program.ts'
import { within } from './process/stop.ts'
import { compose, describe } from './service/compose.ts'
import type { Environment } from './service/location.ts'
import { refuseWorkers } from './service/refuse.ts'

/** What is used of Bun: no package of its types is needed. */
declare const Bun: {
  serve(options: {
    hostname: string
    port: number
    tls?: { cert: string; key: string }
    idleTimeout: number
    development: false
    fetch(request: Request): Response | Promise<Response>
    error(error: unknown): Response
  }): { port: number; stop(cut?: boolean): Promise<void> }
}

const NO_BINDINGS = {}
const STOPPED = callSite('Server', 'Stop')
const BROKEN = callSite('Server', 'Request')

/** Serves on Bun. Throws a SettingsError when it cannot start. */
export async function startBun(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  refuseWorkers(loaded, 'Bun')
  const service = compose<object>(loaded, stderr, env, { sharedMemory: true })
  const { settings, log, tls, warnings } = service
  let handler: ReturnType<typeof service.handler> = () => new Response(null, { status: 503 })
  let server: ReturnType<typeof Bun.serve>
  try {
    server = Bun.serve({
      hostname: settings.host.replace(/^\[(.*)\]$/, '$1'),
      port: settings.port,
      ...(tls && { tls }),
      // A follower hears from us every few seconds; whoever takes nothing for so long is gone.
      idleTimeout: 120,
      development: false,
      fetch(request) {
        const answer = handler(request, NO_BINDINGS)
        return request.method === 'HEAD' ? withoutFalseLength(answer) : answer
      },
      error(error) {
        log.error(BROKEN, `A request failed: ${describe(error)}`)
        return problemResponse(problemOf(error), null)
      },
    })
  } catch (error) {
    log.close()
    throw listenError(error, settings)
  }
  handler = service.handler(server.port)
  const welcome = service.welcome(server.port)
  let closing: Promise<void> | null = null
  return {
    url: /https?:\/\/\S+/.exec(welcome)![0],
    welcome,
    warnings,
    log,
    close(graceMs = 3000) {
      closing ??= within(graceMs, server.stop(), () => server.stop(true)).then(() => {
        log.info(STOPPED, 'nodestate stopped')
        log.close()
      })
      return closing
    },
  }
}

/** Bun opens the files that it sends itself: when there is no descriptor left for that, it passes. */
function problemOf(error: unknown): Problem {
  if (/^E[MN]FILE$/.test(codeOf(error) ?? ''))
    return toProblem(new StoreError('unavailable', describe(error), { retryAfter: 1 }))
  return new Problem('internal', 'The service failed to answer; its log tells why.')
}

/** Bun answers HEAD with `Content-Length: 0` when it knows no length, as if the file were empty. */
async function withoutFalseLength(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  if (response.status !== 304 && !response.headers.has('Content-Length'))
    response.headers.set('Transfer-Encoding', 'chunked')
  return response
}

if ((import.meta as { main?: boolean }).main) await program(startBun)
