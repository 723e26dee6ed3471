import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
// Must be loaded before the listener is made: loaded later, it crashes the process.
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { slicedBodyOf } from '../http/sliced.ts'
import type { Slices } from '../store/store.ts'
import type { Fetch } from './access.ts'

/**
 * Sends the long bodies of files itself, slice by slice: through a web stream 1 MiB takes twice as long. A client that
 * reads slowly holds one slice; one that reads fast lets the others have their turn after each.
 */
export function withSlicedBodies(
  fetch: Fetch<HttpBindings>,
  onCut: (error: unknown) => void,
): Fetch<HttpBindings> {
  return (request, env) => {
    const send = (response: Response): Response => {
      const body = slicedBodyOf(response)
      if (body === undefined) return response
      const outgoing = env.outgoing as ServerResponse
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      sendSlices(body, outgoing).catch((error) => {
        // The read ended because the client left.
        if (outgoing.destroyed) return
        // An answer that can't be completed is cut off: its length tells the client.
        outgoing.destroy()
        onCut(error)
      })
      return RESPONSE_ALREADY_SENT
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(send) : send(response)
  }
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
    // A slice that fits into the socket is written at once: without this, one client could have all the time.
    await new Promise(setImmediate)
  }
  if (outgoing.destroyed) body.cancel()
  else outgoing.end()
}

/** When all of it is with the system; false when the client has left. */
function isWritten(outgoing: ServerResponse, slice: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => outgoing.write(slice, (error) => resolve(!error)))
}
