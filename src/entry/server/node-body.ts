import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { streamOf } from '../../core/http/sliced.ts'
import { yieldToEventLoop } from '../../kit/limits/yield.ts'
import { SlicedStream, slicesOf } from '../../store/fast.ts'

/** One that was made after a listener is a light response, which would be sent. Whoever asks for its type makes it a whole one. */
void RESPONSE_ALREADY_SENT.type

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/**
 * Sends streams itself. A stream that fails cuts the connection after what was read, and the bodies of files go out
 * slice by slice: through a web stream 1 MiB takes twice as long. A client that reads slowly holds one slice; one that
 * reads fast lets the others have their turn after each.
 */
export function withSlicedBodies(fetch: Fetch, onCut: (error: unknown, request: Request) => void): Fetch {
  return (request, env) => {
    const send = (response: Response): Response => {
      const body = streamOf(response)
      if (body === undefined) return response
      const outgoing = env.outgoing as ServerResponse
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      sendBody(body, outgoing).catch((error) => {
        // The read ended because the client left.
        if (outgoing.destroyed) return
        cut(outgoing)
        onCut(error, request)
      })
      return RESPONSE_ALREADY_SENT
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(send) : send(response)
  }
}

/** The client sees it by the missing last chunk or the length. HTTP/1.0 has neither, so there it takes a reset. */
function cut(outgoing: ServerResponse): void {
  if (outgoing.req.httpVersionMinor === 0 && !outgoing.hasHeader('Content-Length'))
    outgoing.socket?.resetAndDestroy()
  outgoing.destroy()
}

const LARGE = 8 * 1024

async function sendBody(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const isSliced = body instanceof SlicedStream
  const slices = slicesOf(body)
  outgoing.once('close', () => slices.cancel())
  // A follower of a quiet log must not wait for the head until something happens.
  if (!isSliced && !outgoing.destroyed) outgoing.flushHeaders()
  while (!outgoing.destroyed) {
    const next = slices.next()
    const slice = next instanceof Promise ? await next : next
    if (slice === null) break
    if (outgoing.destroyed || !(await isWritten(outgoing, slice))) break
    slices.release(slice)
    // A slice that fits into the socket is written at once; without this, one client could take all the CPU time. Turns
    // stay short in a crowd: Node accepts one connection in each, so 400 clients would hold up the next one for seconds.
    // So do followers that catch up; those that are up to date get little at a time.
    if (isSliced || slice.length >= LARGE) await yieldToEventLoop()
  }
  if (outgoing.destroyed) slices.cancel()
  else outgoing.end()
}

/** When all of it is with the system; false when the client has left. */
function isWritten(outgoing: ServerResponse, slice: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => outgoing.write(slice, (error) => resolve(!error)))
}
