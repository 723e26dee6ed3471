import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createRawServer, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { SlicedStream } from '../../../../src/store/fast.ts'
import { fetchIt } from '../../../../src/store/remote/node/fetch.ts'
import { certificate, hasOpenssl } from '../../../support/certificate.ts'
import { atEnd, floodServer, httpServer, listen, stopAll } from './servers.ts'

afterEach(stopAll)

const LENGTH = 3_000_000
const BIG = Buffer.from(Uint32Array.from({ length: LENGTH / 4 }, (_, i) => (i * 2654435761) >>> 0).buffer)
const RANGE = { Range: `bytes=0-${LENGTH - 1}` }
const HEAD = `HTTP/1.1 206 Partial Content\r\nETag: "1"\r\nContent-Length: ${LENGTH}\r\n\r\n`

/** A server that answers each request with what `answer` writes to its socket, and the requests it got. */
async function rawServer(answer: (socket: Socket, count: number) => void) {
  const requests: string[] = []
  const server = createRawServer((socket) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        requests.push(text.slice(0, end))
        text = text.slice(end + 4)
        answer(socket, requests.length)
      }
    })
  })
  return { ...(await listen(server)), requests }
}

const slicesOf = (answer: Response) => answer.body as SlicedStream

/** The body as a search reads it. */
async function collected(answer: Response): Promise<Buffer> {
  const parts: Buffer[] = []
  await slicesOf(answer).each!((slice) => parts.push(Buffer.from(slice)))
  return Buffer.concat(parts)
}

describe('large reads on Node', () => {
  it('sends the request as it was signed, and passes the answer on', async () => {
    const { url } = await httpServer((request, response) => {
      const said = `${request.method} ${request.url} ${request.headers.host} ${request.headers.authorization}`
      response.writeHead(206, { ETag: '"1"', 'X-Said': said, 'Content-Length': LENGTH }).end(BIG)
    })
    const headers = new Headers({ ...RANGE, Authorization: 'AWS4 x' })
    const answer = await fetchIt(`${url}a%20b?c=d%2Fe`, { headers })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('etag')).toBe('"1"')
    expect(answer.headers.get('x-said')).toBe(`GET /a%20b?c=d%2Fe ${new URL(url).host} AWS4 x`)
    expect((await collected(answer)).equals(BIG)).toBe(true)
  })

  it('gives the same bytes at once, in slices and as a stream, over one connection', async () => {
    const { url, connections } = await httpServer((_request, response) =>
      response.writeHead(206, { 'Content-Length': LENGTH }).end(BIG),
    )
    expect((await collected(await fetchIt(url, { headers: RANGE }))).equals(BIG)).toBe(true)
    const slices = slicesOf(await fetchIt(url, { headers: RANGE }))
    const parts: Uint8Array[] = []
    for (let slice = await slices.next(); slice !== null; slice = await slices.next()) parts.push(slice)
    expect(Buffer.concat(parts).equals(BIG)).toBe(true)
    const whole = await (await fetchIt(url, { headers: RANGE })).arrayBuffer()
    expect(Buffer.from(whole).equals(BIG)).toBe(true)
    expect(connections()).toBe(1)
  })

  it('puts an answer together however it was cut on the way, with requests side by side', async () => {
    const answer = Buffer.concat([Buffer.from(HEAD), BIG])
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: HEAD.length + 2000 }), { maxLength: 6 }),
        async (cuts) => {
          const { url } = await rawServer(async (socket) => {
            socket.setNoDelay(true)
            const places = [0, ...cuts.sort((a, b) => a - b), answer.length]
            for (let i = 1; i < places.length; i++) {
              socket.write(answer.subarray(places[i - 1], places[i]))
              await sleep(1)
            }
          })
          const bodies = await Promise.all(
            [1, 2, 3].map(async () => collected(await fetchIt(url, { headers: RANGE }))),
          )
          expect(bodies.every((body) => body.equals(BIG))).toBe(true)
        },
      ),
      { numRuns: 30 },
    )
  })

  it.each([
    ['in chunks', (response) => response.writeHead(206).end(BIG)],
    ['until the connection closes', 'HTTP/1.1 206 OK\r\nConnection: close\r\n\r\n'],
    ['as HTTP/1.0', `HTTP/1.0 206 OK\r\nContent-Length: ${LENGTH}\r\n\r\n`],
    ['after an early hint', `HTTP/1.1 103 Early Hints\r\n\r\n${HEAD}`],
  ] as [string, string | ((response: Parameters<RequestListener>[1]) => void)][])(
    'asks again in the usual way for an answer that comes %s',
    async (_how, answer) => {
      const { url } =
        typeof answer === 'function'
          ? await httpServer((_request, response) => answer(response))
          : await rawServer((socket) => {
              socket.write(answer)
              socket.end(BIG)
            })
      const body = await (await fetchIt(url, { headers: RANGE })).arrayBuffer()
      expect(Buffer.from(body).equals(BIG)).toBe(true)
    },
  )

  it.each([
    ['a header that is none', 'HTTP/1.1 206 OK\r\nX\u0000: y\r\n\r\n'],
    ['a head without an end', `HTTP/1.1 206 OK\r\nX: ${'x'.repeat(100_000)}`],
    ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ])('fails on what is no answer of a store: %s', async (_what, text) => {
    const { url } = await rawServer((socket) => socket.end(text))
    await expect(fetchIt(url, { headers: RANGE })).rejects.toThrow()
  })

  it('asks a server only once whose answers it could not read before', async () => {
    let requests = 0
    const { url } = await httpServer((_request, response) => {
      requests++
      response.writeHead(206).end(BIG)
    })
    for (const expected of [2, 3, 4]) {
      const body = await (await fetchIt(url, { headers: RANGE })).arrayBuffer()
      expect(Buffer.from(body).equals(BIG)).toBe(true)
      expect(requests).toBe(expected)
    }
  })

  it('has no body where there is none, and uses the connection again', async () => {
    const { url, connections } = await rawServer((socket) =>
      socket.write('HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 3000000\r\n\r\n'),
    )
    for (let i = 0; i < 2; i++) {
      const answer = await fetchIt(url, { headers: RANGE })
      expect([answer.status, answer.body, answer.headers.get('ETag')]).toEqual([304, null, '"1"'])
    }
    expect(connections()).toBe(1)
  })

  it('passes an error of the store on, and uses the connection again', async () => {
    const { url, connections } = await httpServer((_request, response) =>
      response.writeHead(503, { 'Content-Length': 4 }).end('busy'),
    )
    for (let i = 0; i < 3; i++) {
      const answer = await fetchIt(url, { headers: RANGE })
      expect([answer.status, await answer.text()]).toEqual([503, 'busy'])
    }
    expect(connections()).toBe(1)
  })

  it('fails when the connection breaks inside a body, however it is read', async () => {
    const { url } = await rawServer((socket) => {
      socket.write(HEAD)
      socket.write(BIG.subarray(0, 1000), () => socket.destroy())
    })
    await expect(fetchIt(url, { headers: RANGE }).then(collected)).rejects.toThrow()
    await expect(fetchIt(url, { headers: RANGE }).then((answer) => answer.arrayBuffer())).rejects.toThrow()
  })

  it('does not use a connection again that brought more than the answer', async () => {
    const { url, connections } = await rawServer((socket) => {
      socket.write(HEAD)
      socket.write(Buffer.concat([BIG, Buffer.from('HTTP/1.1 206 OK\r\nContent-Length: 4\r\n\r\nevil')]))
    })
    for (let i = 0; i < 2; i++)
      expect((await collected(await fetchIt(url, { headers: RANGE }))).equals(BIG)).toBe(true)
    expect(connections()).toBe(2)
  })

  it('asks again when the server closes an idle connection just as it is used again', async () => {
    const { url, requests } = await rawServer((socket, count) => {
      if (count === 2) socket.destroy()
      else socket.write(Buffer.concat([Buffer.from(HEAD), BIG]))
    })
    for (let i = 0; i < 2; i++)
      expect((await collected(await fetchIt(url, { headers: RANGE }))).equals(BIG)).toBe(true)
    expect(requests.length).toBe(3)
  })

  it('fails when a new connection is closed without an answer', async () => {
    const { url, requests } = await rawServer((socket) => socket.destroy())
    await expect(fetchIt(url, { headers: RANGE })).rejects.toThrow()
    expect(requests.length).toBe(1)
  })

  it('fails when nothing listens', async () => {
    await expect(fetchIt('http://127.0.0.1:1/', { headers: RANGE })).rejects.toThrow('ECONNREFUSED')
  })

  it('ends with its signal, before the answer and inside of it, and closes the connection', async () => {
    const { url, sockets } = await rawServer((socket, count) => {
      if (count === 2) socket.write(`${HEAD}first`)
    })
    const before = AbortSignal.abort(new Error('gone'))
    await expect(fetchIt(url, { headers: RANGE, signal: before })).rejects.toThrow('gone')
    for (const count of [1, 2]) {
      const { signal, abort } = abortable()
      const asked = fetchIt(url, { headers: RANGE, signal })
      const read = count === 1 ? asked : asked.then(collected)
      if (count === 2) await asked
      else await expect.poll(() => sockets.size).toBe(1)
      abort(new Error('left'))
      await expect(read).rejects.toThrow('left')
      const last = [...sockets].at(-1)!
      await expect.poll(() => last.destroyed || last.readableEnded).toBe(true)
    }
  })

  it('closes the connection when its reader stops', async () => {
    const { url, sockets } = await rawServer((socket) => socket.write(`${HEAD}first`))
    const slices = slicesOf(await fetchIt(url, { headers: RANGE }))
    expect(Buffer.from((await slices.next())!).toString()).toBe('first')
    await slices.cancel()
    const [socket] = sockets
    await expect.poll(() => socket!.destroyed || socket!.readableEnded).toBe(true)
  })

  it('ends with what the reader throws', async () => {
    const { url, sockets } = await rawServer((socket) =>
      socket.write(Buffer.concat([Buffer.from(HEAD), BIG.subarray(0, 1_000_000)])),
    )
    const answer = await fetchIt(url, { headers: RANGE })
    const read = slicesOf(answer).each!(() => {
      throw new Error('no room')
    })
    await expect(read).rejects.toThrow('no room')
    const [socket] = sockets
    await expect.poll(() => socket!.destroyed || socket!.readableEnded).toBe(true)
  })

  it('is not complete when it was ended without a reason', async () => {
    const { url } = await rawServer((socket) => socket.write(`${HEAD}first`))
    const controller = new AbortController()
    const answer = await fetchIt(url, { headers: RANGE, signal: controller.signal })
    const read = collected(answer)
    controller.abort(null)
    await expect(read).rejects.toThrow()
  })

  it.skipIf(!hasIpv6())('reads from an address of IPv6', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(206, { 'Content-Length': LENGTH }).end(BIG),
    )
    const { url } = await listen(server, { host: '::1' })
    expect((await collected(await fetchIt(url, { headers: RANGE }))).equals(BIG)).toBe(true)
  })

  it('stops reading from the connection while its reader waits', async () => {
    const MANY = 400_000_000
    const { url, sentWhenStill } = await floodServer(MANY)
    const slices = slicesOf(await fetchIt(url, { headers: { Range: `bytes=0-${MANY - 1}` } }))
    const first = await slices.next()
    // What was sent then waits in the sockets.
    expect(await sentWhenStill()).toBeLessThan(100_000_000)
    let size = first!.length
    await slices.each!((slice) => {
      size += slice.length
    })
    expect(size).toBe(MANY)
  })

  it.skipIf(!hasOpenssl())('reads over TLS, and only from a server it trusts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-'))
    atEnd(() => rmSync(directory, { recursive: true }))
    const { cert, key } = certificate(directory, 'store')
    const pair = { cert: readFileSync(cert), key: readFileSync(key) }
    const server = createTlsServer(pair, (_request, response) =>
      response.writeHead(206, { 'Content-Length': LENGTH }).end(BIG),
    )
    const { url } = await listen(server, { protocol: 'https' })
    await expect(fetchIt(url, { headers: RANGE })).rejects.toThrow('self-signed certificate')
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      for (let i = 0; i < 2; i++)
        expect((await collected(await fetchIt(url, { headers: RANGE }))).equals(BIG)).toBe(true)
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })
})

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: Error) => controller.abort(reason) }
}
