import { createServer, request as httpRequest, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a node of an older version answers instead, or the note beside its answer. */
export interface OlderAnswer {
  problem: string | null
  note: string | null
}

interface Passing {
  /** Bytes per second that pass from the node; null for as fast as they come. */
  rate(): number | null
  /** Makes the node an older one; it may take from the address what that one does not know. @default it is as it is */
  older?(url: URL): OlderAnswer
}

/** A proxy in front of a node, by which it is slow or older. */
export async function proxyTo(port: number, { rate, older }: Passing): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, headers } = request
    const url = new URL(request.url!, 'http://peer')
    const { problem, note } = older?.(url) ?? { problem: null, note: null }
    if (problem !== null)
      return void response.writeHead(400, { 'Content-Type': 'application/problem+json' }).end(problem)
    const path = url.pathname + url.search
    // Each request has its own connection: a kept one that was just closed would be a fault of the proxy.
    const to = { port, host: '127.0.0.1', method, path, headers, agent: false } as const
    const asked = httpRequest(to, async (answer) => {
      response.writeHead(answer.statusCode!, {
        ...answer.headers,
        ...(note && { 'x-nodestate-note': note }),
      })
      try {
        for await (const chunk of answer as AsyncIterable<Buffer>)
          for (let at = 0; at < chunk.length; at += 256) {
            response.write(chunk.subarray(at, at + 256))
            const bytes = rate()
            if (bytes !== null) await sleep((256 / bytes) * 1000)
          }
        response.end()
      } catch {
        // A node that dies in the middle of a body cuts it.
        response.destroy()
      }
    })
    asked.on('error', () => response.destroy())
    response.on('close', () => asked.destroy())
    asked.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
