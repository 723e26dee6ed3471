import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Problem, problemResponse, toProblem } from '../core/http/problem.ts'
import { type HttpSocket, refuse, refuseConnect } from './server/bad-request.ts'
import { stopServer, trackConnections } from './server/connections.ts'
import { NamedResponse } from './server/named-response.ts'
import { withSlicedBodies } from './server/node-body.ts'
import {
  type App,
  refuseNoApp,
  resolveServeOptions,
  type ServeOptions,
  type Server,
  serverAt,
  type Tls,
} from './server/serve.ts'
import { StalledError } from './server/stall.ts'

export { certificateName } from './server/certificate-name.ts'
export type { App, ServeOptions, Server }

/** Slow senders are cut: head within 10 s, whole request within 30 s. A download may take hours. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  // Longer than the 60 s that load balancers keep idle connections, so that they close first.
  keepAliveTimeout: 65_000,
  // A missing Host header is answered below, as a problem.
  requireHostHeader: false,
  noDelay: true,
  ServerResponse: NamedResponse,
}

/**
 * Serves an app on Node. What is not HTTP is answered with a problem, and an answer whose body fails or whose client
 * stops reading is cut, so that it never looks complete.
 */
export async function serve(app: App, options: ServeOptions = {}): Promise<Server> {
  const { port, hostname, tls, stallMs, most, onError, onCut, onConnect } = resolveServeOptions(app, options)
  const fetch = withSlicedBodies((request, env) => {
    if (connections.all.size > most && !isProbe(env.incoming)) return crowded(env)
    if (!hasOneHost(env.incoming)) return problemResponse(BAD_REQUEST, env.incoming.headers.accept)
    return app.fetch(request, env)
  }, onCut)
  const answer = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    hostname: 'localhost',
    errorHandler(error) {
      if (error instanceof RequestError) return problemResponse(BAD_REQUEST, null)
      onError(error)
      return problemResponse(toProblem(error), null)
    },
  })
  const server = tls
    ? createTlsServer({ ...LIMITS, ...contextOf(tls), ...askingFor(tls), handshakeTimeout: 10_000 }, answer)
    : createServer(LIMITS, answer)
  server.on('clientError', refuse)
  server.on('connect', (request, socket) => {
    refuseConnect(socket)
    onConnect(request)
  })
  // What a client expects beyond 100-continue changes nothing in a read-only answer.
  server.on('checkExpectation', answer)
  server.timeout = stallMs
  server.on('timeout', (socket: HttpSocket) => {
    // Nothing waits for the client: the answer is still being made. The timer fires once, so it is set again.
    if (socket._httpMessage && socket.writableLength === 0) {
      socket.setTimeout(stallMs)
      return
    }
    if (socket._httpMessage) onCut(new StalledError(stallMs))
    socket.destroy()
  })
  const connections = trackConnections(server, tls !== null)
  if (most !== Number.POSITIVE_INFINITY) server.maxConnections = 2 * most
  await listen(server, port, hostname)
  server.on('error', onError)
  const bound = (server.address() as AddressInfo).port
  const listening = serverAt({ tls, hostname }, bound, (graceMs) => stopServer(server, connections, graceMs))
  if (!(server instanceof TlsServer)) return listening
  return { ...listening, setTls: (next) => server.setSecureContext(contextOf(next)) }
}

/**
 * An app as a listener of `node:http`, Express or Fastify: `server.use('/db-4', listener(app))`. It takes a request and its
 * response.
 */
export function listener(app: App): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  refuseNoApp(app)
  return getRequestListener((request, env) => app.fetch(request, env)) as ReturnType<typeof listener>
}

/** A client may have a token instead of a certificate, so one without is let in, and the app decides. */
function askingFor({ clientCa }: Tls) {
  return clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }
}

function contextOf({ cert, key, clientCa }: Tls) {
  return { cert, key, ...(clientCa !== undefined && { ca: clientCa }) }
}

const BAD_REQUEST = new Problem(
  'bad-request',
  'The request is not valid HTTP/1.1; check its target and Host header.',
)

const CROWDED = new Problem('too-busy', 'Too many clients are connected; try again in a few seconds.', {
  headers: { 'Retry-After': '5' },
})

/** A probe of the process: restarting it would not help against a crowd. */
function isProbe({ url }: IncomingMessage): boolean {
  return url?.endsWith('/healthz') === true
}

function crowded({ incoming, outgoing }: HttpBindings): Response {
  outgoing.shouldKeepAlive = false
  return problemResponse(CROWDED, incoming.headers.accept)
}

/** RFC 9112, 3.2: HTTP/1.1 names one host. HTTP/1.0 need not, and probes of load balancers do not. */
function hasOneHost({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersionMinor === 0
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1
}

function listen(server: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
