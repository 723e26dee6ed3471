import { idFields } from '../../kit/observe/request-id.ts'
import type { LineWriter } from '../own-log/line-file.ts'
import { describe, origin } from '../own-log/log-line.ts'
import type { App, Serve } from '../server/serve.ts'
import { StalledError } from '../server/stall.ts'
import { compose, type HostOptions } from '../service/compose.ts'
import type { Environment } from '../service/location.ts'
import { watchTls } from '../service/tls.ts'
import type { Loaded } from '../settings.ts'
import { listenError, tlsError } from './listen-error.ts'

const STOPPED = origin('entry/process/start.ts', 'Server', 'Stop')
const CERTIFICATE = origin('entry/process/start.ts', 'Server', 'Certificate')
const BROKEN = origin('entry/process/start.ts', 'Server', 'Request')

/** The service with its settings, on the runtime that `serve` listens on. Throws a SettingsError when it cannot. */
export function startWith(serve: Serve, host: HostOptions = {}) {
  return async (loaded: Loaded, stderr: LineWriter, env: Environment) => {
    const service = compose(loaded, stderr, env, host)
    const { settings, log, audit, tls, warnings } = service
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
        onConnect: service.refusedConnect,
        onCut(reason, request) {
          const level = reason instanceof StalledError ? 'info' : 'warn'
          log[level](BROKEN, `An answer was cut: ${describe(reason)}`, idFields(request))
        },
      },
    ).catch((error) => {
      audit?.close()
      log.close()
      throw tls ? (tlsError(error, settings) ?? listenError(error, settings)) : listenError(error, settings)
    })
    app.fetch = service.handler(server.port)
    const { setTls } = server
    const unwatch =
      tls && setTls
        ? watchTls(settings, tls, {
            apply: setTls,
            info: (line) => log.info(CERTIFICATE, line),
            warn: (line) => log.warn(CERTIFICATE, line),
          })
        : () => {}
    let closing: Promise<void> | null = null
    return {
      url: server.url,
      welcome: service.welcome(server.url),
      warnings,
      log,
      /** Stops accepting, finishes running answers, cuts what still runs after `graceMs`. @default 3000 */
      close(graceMs?: number): Promise<void> {
        unwatch()
        closing ??= server.close(graceMs).then((cut) => {
          audit?.close()
          log.info(STOPPED, cut ? 'nodestate stopped; answers that still ran were cut' : 'nodestate stopped')
          log.close()
        })
        return closing
      },
    }
  }
}
