import { idFields } from '../../observe/request-id.ts'
import { origin } from '../own-log/log-line.ts'
import type { App, Serve } from '../server/serve.ts'
import { StalledError } from '../server/stall.ts'
import { compose, describe, type Host } from '../service/compose.ts'
import { listenError, tlsError } from './listen-error.ts'
import type { Start } from './program.ts'

const STOPPED = origin('entry/process/start.ts', 'Server', 'Stop')
const BROKEN = origin('entry/process/start.ts', 'Server', 'Request')

/** The service with its settings, on the runtime that `serve` listens on. */
export function startWith(serve: Serve, host: Host = {}): Start {
  return async (loaded, stderr, env) => {
    const service = compose(loaded, stderr, env, host)
    const { settings, log, tls, warnings } = service
    // The port is known only when the server listens, and nothing is read from a connection before that.
    const app: App = { fetch: () => new Response(null, { status: 503 }) }
    const server = await serve(
      { fetch: (request, bindings) => app.fetch(request, bindings) },
      {
        hostname: settings.host,
        port: settings.port,
        tls,
        stallSeconds: settings.stallSeconds ?? undefined,
        connections: service.connections,
        onError(error) {
          const stack = error instanceof Error ? error.stack : null
          log.error(BROKEN, `A request failed: ${describe(error)}`, { stack })
        },
        onCut(reason, request) {
          const level = reason instanceof StalledError ? 'info' : 'warn'
          log[level](BROKEN, `An answer was cut: ${describe(reason)}`, idFields(request))
        },
      },
    ).catch((error) => {
      log.close()
      throw tls ? (tlsError(error, settings) ?? listenError(error, settings)) : listenError(error, settings)
    })
    app.fetch = service.handler(server.port)
    let closing: Promise<void> | null = null
    return {
      url: server.url,
      welcome: service.welcome(server.url),
      warnings,
      log,
      close(graceMs) {
        closing ??= server.close(graceMs).then((cut) => {
          log.info(STOPPED, cut ? 'nodestate stopped; answers that still ran were cut' : 'nodestate stopped')
          log.close()
        })
        return closing
      },
    }
  }
}
