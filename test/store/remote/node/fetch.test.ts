import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { SlicedStream } from '../../../../src/store/fast.ts'
import { fetchFromStore } from '../../../../src/store/remote/node/fetch.ts'
import { certificate, hasOpenssl } from '../../../support/certificate.ts'
import { atEnd, floodServer, httpServer, listen, stopAll } from './servers.ts'

afterEach(stopAll)

/** The address of a server. */
const serve = async (listener: RequestListener) => (await httpServer(listener)).url

const READ = { reconnects: true }

/** A server that closes each idle connection at the moment it is used again. */
async function closesIdle(onClose = () => {}) {
  const used = new WeakSet<object>()
  let requests = 0
  const url = await serve((request, response) => {
    requests++
    if (!used.has(request.socket)) {
      used.add(request.socket)
      return response.end('fresh')
    }
    onClose()
    return request.socket.resetAndDestroy()
  })
  return { url, requests: () => requests }
}

const BIG = Buffer.alloc(5_000_000, 'abcdefghij')

/** The body as a search reads it. */
async function collected(answer: Response): Promise<Buffer> {
  const parts: Uint8Array[] = []
  await (answer.body as SlicedStream).each!((slice) => parts.push(slice))
  return Buffer.concat(parts)
}

describe('fetch on Node', () => {
  it('passes method, headers and body on, and the answer back as it was sent', async () => {
    const url = await serve((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        response.writeHead(206, {
          'X-Method': request.method,
          'X-Given': request.headers['x-own'],
          ETag: '"1"',
        })
        response.end(Buffer.concat(chunks))
      })
    })
    const answer = await fetchFromStore(url, {
      method: 'PUT',
      headers: new Headers({ 'X-Own': 'yes' }),
      body: new Uint8Array([1, 2, 3]),
    })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('X-Method')).toBe('PUT')
    expect(answer.headers.get('x-given')).toBe('yes')
    expect(answer.headers.get('ETag')).toBe('"1"')
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([1, 2, 3])
  })

  it('gives a large body in slices, as they arrive and as a stream, over one connection', async () => {
    const { url, connections } = await httpServer((_request, response) => response.end(BIG))
    const { body } = await fetchFromStore(url, {})
    expect(body).toBeInstanceOf(SlicedStream)
    const slices = body as SlicedStream
    const parts: Uint8Array[] = []
    for (let slice = await slices.next(); slice !== null; slice = await slices.next()) parts.push(slice)
    expect(Buffer.concat(parts).equals(BIG)).toBe(true)
    expect((await collected(await fetchFromStore(url, {}))).equals(BIG)).toBe(true)
    const again = Buffer.from(await (await fetchFromStore(url, {})).arrayBuffer())
    expect(again.equals(BIG)).toBe(true)
    expect(connections()).toBe(1)
  })

  it('reads again over a new connection where idle ones were closed, but never sends a body twice', async () => {
    const { url, requests } = await closesIdle()
    const four = () => Promise.all([1, 2, 3, 4].map(async () => (await fetchFromStore(url, READ)).text()))
    expect(await four()).toEqual(Array(4).fill('fresh'))
    expect(requests()).toBe(4)
    expect(await four()).toEqual(Array(4).fill('fresh'))
    const before = requests()
    expect(before).toBeGreaterThanOrEqual(4 + 2 * 4)
    const put = fetchFromStore(url, { ...READ, method: 'PUT', body: new Uint8Array([1]) })
    await expect(put).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(requests()).toBe(before + 1)
  })

  it('does not read again where a new connection is closed, nor for a client that has left', async () => {
    let requests = 0
    const url = await serve((request) => {
      requests++
      request.socket.destroy()
    })
    await expect(fetchFromStore(url, READ)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(requests).toBe(1)
    const leaving = new AbortController()
    const closing = await closesIdle(() => leaving.abort(new Error('left')))
    await (await fetchFromStore(closing.url, READ)).text()
    await expect(fetchFromStore(closing.url, { ...READ, signal: leaving.signal })).rejects.toThrow('left')
    expect(closing.requests()).toBe(2)
  })

  it('keeps apart what arrives on many connections, whoever reads when', async () => {
    const body = (seed: number) => Buffer.alloc(2_000_000, `${seed} `.repeat(seed + 1))
    const { url, connections } = await httpServer((request, response) =>
      response.end(body(Number(request.url!.slice(1)))),
    )
    const slow = async (answer: Response) => {
      const slices = answer.body as SlicedStream
      const parts: Uint8Array[] = []
      for (let slice = await slices.next(); slice !== null; slice = await slices.next()) {
        parts.push(slice)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      return Buffer.concat(parts)
    }
    const answers = Array.from({ length: 12 }, async (_, i) => {
      const answer = await fetchFromStore(`${url}${i}`, {})
      return i % 3 === 0 ? slow(answer) : collected(answer)
    })
    for (const [i, got] of (await Promise.all(answers)).entries())
      expect(got.equals(body(i)), `body ${i}`).toBe(true)
    expect(connections()).toBe(12)
  })

  it('stops reading from the connection while its reader waits', async () => {
    const MANY = 400_000_000
    const { url, sentWhenStill } = await floodServer(MANY)
    const slices = (await fetchFromStore(url, {})).body as SlicedStream
    let size = (await slices.next())!.length
    // What was sent then waits in the sockets.
    expect(await sentWhenStill()).toBeLessThan(100_000_000)
    await slices.each!((slice) => {
      size += slice.length
    })
    expect(size).toBe(MANY)
  })

  it('closes the connection of a body that is cancelled or not taken', async () => {
    const { url, sockets } = await httpServer((_request, response) => response.write(BIG))
    const cancelled = (await fetchFromStore(url, {})).body as SlicedStream
    await cancelled.next()
    await cancelled.cancel()
    const answer = await fetchFromStore(url, {})
    const taken = (answer.body as SlicedStream).each!(() => {
      throw new Error('no room')
    })
    await expect(taken).rejects.toThrow('no room')
    await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true)
    expect(sockets.size).toBe(2)
  })

  it('fails when the connection breaks inside a body', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Length': 1000 })
      response.write('half', () => response.destroy())
    })
    const answer = await fetchFromStore(url, {})
    await expect(answer.arrayBuffer()).rejects.toThrow()
    await expect(fetchFromStore(url, {}).then(collected)).rejects.toThrow()
  })

  it('fails when nothing listens', async () => {
    await expect(fetchFromStore('http://127.0.0.1:1/', {})).rejects.toThrow()
  })

  it('ends with its signal, before the answer and inside of it', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/body') response.write('first')
    })
    const early = new AbortController()
    const waiting = fetchFromStore(url, { signal: early.signal })
    early.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    const late = new AbortController()
    const answer = await fetchFromStore(`${url}body`, { signal: late.signal })
    const body = answer.body as SlicedStream
    expect(Buffer.from((await body.next())!).toString()).toBe('first')
    const rest = body.next()
    late.abort()
    await expect(rest).rejects.toThrow()
  })

  it('does not decode bodies, and does not follow redirects', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/moved') return response.writeHead(307, { Location: '/' }).end()
      return response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('as stored')
    })
    expect(await (await fetchFromStore(url, {})).text()).toBe('as stored')
    expect((await fetchFromStore(`${url}moved`, {})).status).toBe(307)
  })

  it.each(['HEAD', 'GET'])('has no body where there is none: %s', async (method) => {
    const url = await serve((_request, response) => response.writeHead(304, { ETag: '"1"' }).end())
    const answer = await fetchFromStore(url, { method })
    expect(answer.status).toBe(304)
    expect(answer.body).toBe(null)
  })

  it.skipIf(!hasOpenssl())('reads over TLS, and only from a server it trusts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-'))
    atEnd(() => rmSync(directory, { recursive: true }))
    const { cert, key } = certificate(directory, 'store')
    const pair = { cert: readFileSync(cert), key: readFileSync(key) }
    const server = createTlsServer(pair, (_request, response) => response.end(BIG))
    const { url } = await listen(server, { protocol: 'https' })
    await expect(fetchFromStore(url, {})).rejects.toThrow('self-signed certificate')
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      for (let i = 0; i < 2; i++)
        expect((await collected(await fetchFromStore(url, {}))).equals(BIG)).toBe(true)
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })
})
