import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Problem, problemResponse } from '../http/problem.ts'
import { shown } from '../settings/row.ts'
import { type Loaded, SettingsError } from '../settings.ts'
import type { Fetch } from './own-log/access.ts'
import { callSite } from './own-log/log-line.ts'
import type { LineWriter } from './own-log/rotating-file.ts'
import { listenError } from './process/listen-error.ts'
import { withSlicedBodies } from './process/node-body.ts'
import type { Running } from './process/program.ts'
import { compose, describe } from './service/compose.ts'
import type { Environment } from './service/location.ts'

export type { Running }

const STOPPED = callSite('Server', 'Stop')
const BROKEN = callSite('Server', 'Request')

/** Slow senders are cut: head within 10 s, whole request within 30 s. Answers have no limit: a download may take hours. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the 60 s that load balancers keep idle connections, so that they close first.
  keepAliveTimeout: 65_000,
  // A missing Host header is answered below, as a problem.
  requireHostHeader: false,
  noDelay: true,
}

/** Serves on Node. Throws a SettingsError when it cannot start. */
export async function startNode(
  loaded: Loaded,
  stderr: LineWriter,
  env: Environment = process.env,
): Promise<Running> {
  const service = compose<HttpBindings>(loaded, stderr, env)
  const { settings, log, tls, warnings } = service
  let fetch: Fetch<HttpBindings> = () => new Response(null, { status: 503 })
  const answer = (request: Request, env: HttpBindings) => {
    const { headers, httpVersionMinor } = env.incoming
    // RFC 9112, 3.2: HTTP/1.1 must name a host; HTTP/1.0 need not, and probes of load balancers do not.
    if (headers.host === undefined && httpVersionMinor > 0)
      return problemResponse(BAD_REQUEST, headers.accept)
    return fetch(request, env)
  }
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    hostname: 'localhost',
    errorHandler(error) {
      if (error instanceof RequestError) return problemResponse(BAD_REQUEST, null)
      log.error(BROKEN, `A request failed: ${describe(error)}`, {
        stack: error instanceof Error ? error.stack : null,
      })
      return problemResponse(
        new Problem('internal', 'The service failed to answer; its log tells why.'),
        null,
      )
    },
  })
  let server: Server
  try {
    server = tls
      ? createTlsServer({ ...LIMITS, ...tls, handshakeTimeout: 10_000 }, listener)
      : createServer(LIMITS, listener)
  } catch (error) {
    log.close()
    throw error instanceof SettingsError ? error : unusableTls(error, settings)
  }
  server.on('clientError', refuse)
  server.on('connect', refuseConnect)
  // What a client expects beyond 100-continue changes nothing in a read-only answer.
  server.on('checkExpectation', listener)
  const connections = trackConnections(server, tls ? 'secureConnection' : 'connection')
  try {
    await listen(server, settings.port, settings.host.replace(/^\[(.*)\]$/, '$1'))
  } catch (error) {
    log.close()
    throw listenError(error, settings)
  }
  server.on('error', (error) => log.error(BROKEN, `The server failed: ${describe(error)}`))
  const { port } = server.address() as AddressInfo
  // Nothing is read from a connection before this turn of the event loop ends.
  fetch = withSlicedBodies(service.handler(port), (error) =>
    log.warn(BROKEN, `An answer was cut: ${describe(error)}`),
  )
  const welcome = service.welcome(port)
  let closing: Promise<void> | null = null
  return {
    url: /https?:\/\/\S+/.exec(welcome)![0],
    welcome,
    warnings,
    log,
    close(graceMs = 3000) {
      closing ??= stop(server, connections, graceMs).then((cut) => {
        log.info(STOPPED, cut ? 'nodestate stopped; answers that still ran were cut' : 'nodestate stopped')
        log.close()
      })
      return closing
    },
  }
}

const BAD_REQUEST = new Problem(
  'bad-request',
  'The request is not valid HTTP/1.1; check its target and Host header.',
)

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** The connections of a server, as far as Node does not close them itself. */
interface Connections {
  /** All, below TLS: in a handshake that never ends they are all there is. */
  all: Set<Socket>
  /** Those on which no request has come yet: browsers open them in advance, and Node does not count them as idle. */
  unused: Set<Socket>
}

function trackConnections(server: Server, event: 'connection' | 'secureConnection'): Connections {
  const track = (sockets: Set<Socket>) => (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  const all = new Set<Socket>()
  const unused = new Set<Socket>()
  server.on('connection', track(all))
  server.on(event, track(unused))
  server.on('request', ({ socket }) => unused.delete(socket))
  return { all, unused }
}

/** A connection without a request is closed so many ms after the stop: one may be on its way. */
const UNUSED_MS = 250

/** Whether answers had to be cut. */
function stop(server: Server, { all, unused }: Connections, graceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let cut = false
    const start = performance.now()
    // A connection becomes idle when its answer ends, and nobody tells: look again and again.
    const idle = setInterval(() => {
      server.closeIdleConnections()
      if (performance.now() - start < UNUSED_MS) return
      for (const socket of unused) socket.destroy()
      for (const socket of all) if (socket.bytesRead === 0) socket.destroy()
    }, 50)
    const force = setTimeout(() => {
      cut = true
      server.closeAllConnections()
      for (const socket of all) socket.destroy()
    }, graceMs)
    server.close(() => {
      clearInterval(idle)
      clearTimeout(force)
      resolve(cut)
    })
    server.closeIdleConnections()
  })
}

/** What is not HTTP gets an answer as a problem, unless an answer already runs on that connection. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse | null },
): void {
  // As Node itself asks: half an answer must not be followed by another head.
  // And nothing can be said where the handshake failed: `end` would wait for it, and hold the connection for ever.
  const spoken = /^(HPE_|ERR_HTTP_)/.test(error.code ?? '')
  if (!spoken || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy()
    return
  }
  const [status, phrase, title, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [
          431,
          'Request Header Fields Too Large',
          'The head is too large',
          'Send a shorter URL and fewer headers.',
        ]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'The request took too long', 'Send the whole request at once.']
        : [
            400,
            'Bad Request',
            'The request is not valid HTTP',
            error.code === 'HPE_INVALID_URL'
              ? 'Percent-encode what is not plain ASCII in the URL.'
              : 'Send a valid HTTP/1.1 request.',
          ]
  const body = `${JSON.stringify({ type: '/problems/bad-request', title, status, detail })}\n`
  socket.end(head(`${status} ${phrase}`, body) + body)
}

/** This is no proxy. Without a listener Node would close the connection without a word. */
function refuseConnect(_request: IncomingMessage, socket: Duplex): void {
  const detail = 'This service is read-only and no proxy; use GET or HEAD.'
  const title = 'The method is not allowed'
  const body = `${JSON.stringify({ type: '/problems/method-not-allowed', title, status: 405, detail })}\n`
  socket.on('error', () => {})
  socket.end(head('405 Method Not Allowed', body, 'Allow: GET, HEAD\r\n') + body)
}

function head(status: string, body: string, more = ''): string {
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n${more}` +
    'Cache-Control: private, no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n'
  )
}

function unusableTls(cause: unknown, { tlsCert, tlsKey }: Loaded['settings']): SettingsError {
  const files = `--tls-cert ${shown(tlsCert!)} with --tls-key ${shown(tlsKey!)}`
  return new SettingsError('file', `Cannot use ${files}: OpenSSL refuses them; check both files.`, { cause })
}
