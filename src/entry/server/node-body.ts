import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
// Must be loaded before the listener is made: loaded later, it crashes the process.
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { streamOf } from '../../http/sliced.ts'
import { yieldToEventLoop } from '../../limits/yield.ts'
import { SlicedStream, type Slices, slicesOf } from '../../store/fast.ts'

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
      const sent =
        body instanceof SlicedStream ? sendSlices(slicesOf(body), outgoing) : sendStream(body, outgoing)
      sent.catch((error) => {
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

async function sendSlices(body: Slices, outgoing: ServerResponse): Promise<void> {
  const leave = () => body.cancel()
  outgoing.once('close', leave)
  while (!outgoing.destroyed) {
    const next = body.next()
    const slice = next instanceof Promise ? await next : next
    if (slice === null) break
    if (outgoing.destroyed || !(await isWritten(outgoing, slice))) break
    body.release(slice)
    // A slice that fits into the socket is written at once; without this, one client could take all the CPU time. Turns
    // stay short in a crowd: Node accepts one connection in each, so 400 clients would hold up the next one for seconds.
    await yieldToEventLoop()
  }
  if (outgoing.destroyed) body.cancel()
  else outgoing.end()
}

async function sendStream(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  outgoing.once('close', leave)
  if (outgoing.destroyed) return leave()
  // A follower of a quiet log must not wait for the head until something happens.
  outgoing.flushHeaders()
  for (;;) {
    const { done, value } = await reader.read()
    if (outgoing.destroyed) return
    if (done) break
    if (!(await isWritten(outgoing, value))) return
  }
  outgoing.end()
}

/** When all of it is with the system; false when the client has left. */
function isWritten(outgoing: ServerResponse, slice: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => outgoing.write(slice, (error) => resolve(!error)))
}
