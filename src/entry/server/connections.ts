import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The connections of a server that Node does not close by itself. */
export function trackConnections(server: Server, secure: boolean) {
  const track = (sockets: Set<Socket>) => (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  /** All of them, below TLS: a handshake that never ends has nothing else. */
  const all = new Set<Socket>()
  /** Those without a request so far: browsers open them in advance, and Node does not count them as idle. */
  const unused = new Set<Socket>()
  server.on('connection', track(all))
  server.on(secure ? 'secureConnection' : 'connection', track(unused))
  server.on('request', ({ socket }) => unused.delete(socket))
  return { all, unused }
}

/** A connection without a request is closed this long after the stop: a request may still arrive. */
const UNUSED_MS = 250

/** Closes the server; whether answers had to be cut. */
export function stopServer(
  server: Server,
  { all, unused }: ReturnType<typeof trackConnections>,
  graceMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    let cut = false
    const start = performance.now()
    // A connection becomes idle when its response ends, and there is no event for that: poll.
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
