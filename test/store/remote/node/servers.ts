import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const stops: (() => void)[] = []

/** Runs after the test: closes a server, or removes a folder. */
export function atEnd(stop: () => void): void {
  stops.push(stop)
}

/** Ends what the tests have started. */
export function stopAll(): void {
  for (const stop of stops.splice(0)) stop()
}

/** Listens on a free port of loopback. Connections are counted, and closed at the end. */
export async function listen(server: Server, { protocol = 'http' } = {}) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, sockets, connections: () => sockets.size }
}

/** A server of node:http. */
export const httpServer = (listener: RequestListener) => listen(createServer(listener))

/** A server that sends `length` bytes as fast as they are taken, and how many it has sent when that stands still. */
export async function floodServer(length: number) {
  const part = Buffer.alloc(1_000_000, 'x')
  let sent = 0
  const { url } = await httpServer((_request, response) => {
    response.writeHead(206, { 'Content-Length': length })
    const send = (): unknown => {
      while (sent < length) {
        sent += part.length
        if (!response.write(part)) return response.once('drain', send)
      }
      return response.end()
    }
    send()
  })
  const sentWhenStill = async () => {
    for (let before = -1; before !== sent; ) {
      before = sent
      await sleep(100)
    }
    return sent
  }
  return { url, sentWhenStill }
}
