import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { finished } from 'node:stream'
import { SlicedStream, type Slices } from '../../fast.ts'

/**
 * Where all connections read to. What arrives is parsed at once, and the parser copies bodies: into memory of its own,
 * each read would take and leave behind as much again (`npm run bench:bucket`, row `q`).
 */
const arrived = Buffer.allocUnsafeSlow(64 * 1024)

const agents = {
  'http:': readingInPlace(new http.Agent({ keepAlive: true })),
  'https:': readingInPlace(new https.Agent({ keepAlive: true })),
}

function readingInPlace(agent: http.Agent): http.Agent {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const onread = {
      buffer: arrived,
      callback(count: number, buffer: Uint8Array) {
        socket!.emit('data', buffer.subarray(0, count))
        return true
      },
    }
    const socket = connect({ ...options, onread } as typeof options, callback)
    return socket
  }
  return agent
}

/**
 * What a store needs of fetch, on Node's http and https: global fetch takes twice the CPU time for large bodies, more
 * than a search of them (docs/decisions/0010). Bodies are not decoded, and redirects not followed.
 */
export function fetchFromStore(
  url: string,
  init: RequestInit & { connectMillis?: number; reconnects?: boolean },
): Promise<Response> {
  const { method = 'GET', headers, signal, body, connectMillis, reconnects = false } = init
  const { protocol } = new URL(url)
  const { request } = protocol === 'https:' ? https : http
  const options = {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    agent: agents[protocol as keyof typeof agents],
    ...(signal && { signal }),
  }
  const mayRepeat = reconnects && (method === 'GET' || method === 'HEAD')
  return new Promise((resolve, reject) => {
    const send = () => {
      let isAnswered = false
      const sent = request(url, options, (answer) => {
        isAnswered = true
        try {
          resolve(responseOf(answer, method))
        } catch (error) {
          answer.destroy()
          reject(error)
        }
      })
      if (connectMillis !== undefined) sent.once('socket', (socket) => connectWithin(socket, connectMillis))
      sent.on('error', (error) => {
        if (signal?.aborted) reject(signal.reason)
        else if (mayRepeat && !isAnswered && isStale(sent, error)) send()
        else reject(error)
      })
      sent.end(body ?? undefined)
    }
    send()
  })
}

/**
 * Whether the server had closed an idle connection before it saw the request, which says nothing about the server. Such
 * a connection is gone, so that after the last of them there is a new one: https://nodejs.org/api/http.html#requestreusedsocket
 */
function isStale({ reusedSocket }: http.ClientRequest, { code }: NodeJS.ErrnoException): boolean {
  return reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
}

/** Fails a connection that is not made in time: the system would wait for minutes. */
function connectWithin(socket: Socket, ms: number): void {
  if (!socket.connecting) return
  const late = () => socket.destroy(Object.assign(new Error('Cannot connect in time'), { code: 'ETIMEDOUT' }))
  const timer = setTimeout(late, ms)
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
}

function responseOf(answer: http.IncomingMessage, method: string): Response {
  const status = answer.statusCode!
  const headers = new Headers()
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!)
  const isEmpty = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (isEmpty) answer.resume()
  return new Response(isEmpty ? null : new SlicedStream(incomingBody(answer)), { status, headers })
}

/** A body as it arrives. Node stops reading from the connection while nobody asks for more. */
function incomingBody(answer: http.IncomingMessage): Slices {
  let isOver = false
  let failure: unknown = null
  let wake = () => {}
  finished(answer, (error) => {
    isOver = true
    failure = error
    wake()
  })
  /** Until something can be read, or the end. */
  const arrival = () =>
    new Promise<void>((resolve) => {
      wake = resolve
      answer.once('readable', resolve)
    })
  const next: Slices['next'] = () => {
    const slice = answer.read()
    if (slice !== null) return slice
    if (failure) throw failure
    return isOver ? null : arrival().then(next)
  }
  async function each(take: (slice: Uint8Array) => void): Promise<void> {
    answer.on('data', (slice: Uint8Array) => {
      try {
        take(slice)
      } catch (error) {
        answer.destroy(error as Error)
      }
    })
    // Not a listener for `readable`: with one, nothing flows.
    if (!isOver)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    if (failure) throw failure
  }
  return { next, each, release() {}, cancel: () => void answer.destroy() }
}
