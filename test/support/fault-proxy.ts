import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the proxy does to one request. */
export type Fault =
  | { kind: 'pass' }
  /** Waits before it passes the request on. */
  | { kind: 'delay'; ms: number }
  /** Never answers. */
  | { kind: 'silence' }
  /** Cuts the connection without an answer. */
  | { kind: 'drop' }
  /** Passes the request on, and cuts the connection instead of answering. */
  | { kind: 'lose' }
  /** Passes on this many bytes of the body, then cuts the connection. */
  | { kind: 'truncate'; after: number }
  /** Passes on this many bytes of the body, then nothing more, with the connection open. */
  | { kind: 'stall'; after: number }
  /** Answers by itself. */
  | { kind: 'answer'; status: number; body?: string; headers?: Record<string, string> }

/** An HTTP proxy between a store and its bucket. */
export interface FaultProxy {
  endpoint: string
  /** What to do with the next requests; those after them pass. */
  next(...faults: Fault[]): void
  /** What to do with every request, until it is changed. */
  each(decide: (method: string, url: string) => Fault): void
  /** Called when a request came that is never answered. */
  onSilence: () => void
  /** How many requests came. */
  count: number
  /** How many of them the client cut. */
  cut: number
  close(): Promise<void>
}

/** Starts a proxy to `target` on a free port of loopback. The Host header passes as it is: it is signed. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port, pathname } = new URL(target)
  let queue: Fault[] = []
  let decide: (method: string, url: string) => Fault = () => ({ kind: 'pass' })
  const server = createServer((incoming, outgoing) => {
    proxy.count++
    outgoing.on('close', () => {
      if (!outgoing.writableFinished && !outgoing.errored && !dropped) proxy.cut++
    })
    let dropped = false
    const fault = queue.shift() ?? decide(incoming.method ?? '', incoming.url ?? '')
    const cut = () => {
      dropped = true
      incoming.socket.destroy()
    }
    if (fault.kind === 'drop') return cut()
    if (fault.kind === 'silence') return proxy.onSilence()
    if (fault.kind === 'answer') {
      outgoing.writeHead(fault.status, fault.headers)
      outgoing.end(incoming.method === 'HEAD' ? undefined : fault.body)
      return
    }
    const forward = () => {
      const { method, url: path, headers } = incoming
      const upstream = httpRequest({ hostname, port, method, path, headers, agent: false }, (answer) => {
        if (fault.kind === 'lose') {
          answer.resume()
          answer.on('end', cut)
          return
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        if (fault.kind !== 'truncate' && fault.kind !== 'stall') {
          answer.pipe(outgoing)
          return
        }
        let left = fault.after
        outgoing.flushHeaders()
        answer.on('data', (chunk: Buffer) => {
          if (left > 0) outgoing.write(chunk.subarray(0, left))
          if (left >= 0 && left <= chunk.length && fault.kind === 'truncate') setTimeout(cut, 5)
          left = left <= chunk.length ? -1 : left - chunk.length
        })
        answer.on('end', () => {
          if (left >= 0) outgoing.end()
        })
      })
      upstream.on('error', () => incoming.socket.destroy())
      outgoing.on('close', () => upstream.destroy())
      incoming.pipe(upstream)
    }
    if (fault.kind === 'delay') setTimeout(forward, fault.ms)
    else forward()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`,
    next: (...faults) => {
      queue = faults
      decide = () => ({ kind: 'pass' })
    },
    each: (decision) => {
      queue = []
      decide = decision
    },
    onSilence: () => {},
    count: 0,
    cut: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}
