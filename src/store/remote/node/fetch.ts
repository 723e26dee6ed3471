import * as http from 'node:http'
import * as https from 'node:https'
import { SlicedStream } from '../../fast.ts'
import { Arriving, hasBody } from './arriving.ts'
import { Connection, type DirectGet } from './connection.ts'

/** From this length on, a read is worth a connection of its own. */
const LARGE = 1024 * 1024
/** How many connections for large reads may be idle, per origin. */
const MAX_IDLE = 32
/** How long large reads go through Node's client after an answer that only it can read. */
const UNREADABLE_MILLIS = 600_000

const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
}

/**
 * What a store needs of fetch, on Node's own client: its bodies skip the web streams, which take more time than a
 * search does. Large reads have connections of their own, which take less still (docs/decisions/0010). Bodies are not
 * decoded, and redirects not followed.
 */
export async function fetchIt(url: string, init: RequestInit): Promise<Response> {
  const { method = 'GET', signal } = init
  const headers = new Headers(init.headers)
  signal?.throwIfAborted()
  const isLarge = method === 'GET' && rangeLength(headers.get('Range')) > LARGE
  const answer = isLarge ? await getDirectly({ url: new URL(url), headers, signal }) : null
  return answer ?? fetchUsually(url, { ...init, method, headers })
}

function fetchUsually(
  url: string,
  init: { method: string; headers: Headers } & RequestInit,
): Promise<Response> {
  const { protocol } = new URL(url)
  const { request } = protocol === 'https:' ? https : http
  const options = {
    method: init.method,
    headers: Object.fromEntries(init.headers),
    agent: agents[protocol as keyof typeof agents],
    ...(init.signal && { signal: init.signal }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (answer) => {
      try {
        resolve(responseOf(answer, options.method))
      } catch (error) {
        answer.destroy()
        reject(error)
      }
    })
    asked.on('error', (error) => reject(init.signal?.aborted ? init.signal.reason : error))
    asked.end(init.body ?? undefined)
  })
}

function responseOf(answer: http.IncomingMessage, method: string): Response {
  const status = answer.statusCode!
  const headers = new Headers()
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!)
  const isEmpty = method === 'HEAD' || !hasBody(status)
  if (isEmpty) answer.resume()
  return new Response(isEmpty ? null : new SlicedStream(bodyOf(answer)), { status, headers })
}

function bodyOf(answer: http.IncomingMessage): Arriving {
  const body = new Arriving(answer)
  answer.on('data', (bytes: Uint8Array) => body.push(bytes))
  answer.on('error', (error) => body.end(error))
  answer.on('close', () => body.end(answer.complete ? null : new Error('The connection was closed')))
  answer.on('end', () => body.end())
  answer.pause()
  return body
}

/** A store: its idle connections for large reads, and when its answers could not be read there. */
interface Origin {
  idle: Set<Connection>
  unreadable: number
}

const origins = new Map<string, Origin>()

/** The answer over a connection for large reads; null if it has to be asked for in the usual way. */
function getDirectly(get: DirectGet): Promise<Response | null> | null {
  const origin = origins.get(get.url.origin) ?? { idle: new Set(), unreadable: Number.NEGATIVE_INFINITY }
  origins.set(get.url.origin, origin)
  if (performance.now() - origin.unreadable < UNREADABLE_MILLIS) return null
  const { idle } = origin
  for (const connection of idle) {
    idle.delete(connection)
    return connection.ask(get)
  }
  const connection = new Connection(get.url, {
    free: () => (idle.size < MAX_IDLE ? idle.add(connection) : connection.close()),
    over: () => idle.delete(connection),
    unreadable: () => {
      origin.unreadable = performance.now()
    },
  })
  return connection.ask(get)
}

/** How many bytes are asked for; 0 if that is not known. */
function rangeLength(range: string | null): number {
  const match = /^bytes=(\d+)-(\d+)$/.exec(range ?? '')
  return match ? Number(match[2]) - Number(match[1]) + 1 : 0
}
