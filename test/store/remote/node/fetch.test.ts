import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { SlicedStream } from '../../../../src/store/fast.ts'
import { fetchIt } from '../../../../src/store/remote/node/fetch.ts'
import { floodServer, httpServer, stopAll } from './servers.ts'

afterEach(stopAll)

/** The address of a server. */
const serve = async (listener: RequestListener) => (await httpServer(listener)).url

const BIG = Buffer.alloc(5_000_000, 'abcdefghij')

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
    const answer = await fetchIt(url, {
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

  it('gives a large body in slices, and the same as a stream', async () => {
    const url = await serve((_request, response) => response.end(BIG))
    const { body } = await fetchIt(url, {})
    expect(body).toBeInstanceOf(SlicedStream)
    const parts: Uint8Array[] = []
    for (;;) {
      const slice = await (body as SlicedStream).next()
      if (slice === null) break
      parts.push(slice)
    }
    expect(Buffer.concat(parts).equals(BIG)).toBe(true)
    const again = Buffer.from(await (await fetchIt(url, {})).arrayBuffer())
    expect(again.equals(BIG)).toBe(true)
  })

  it('stops reading from the connection while its reader waits', async () => {
    const { url, sentWhenStill } = await floodServer(400_000_000)
    const { body } = await fetchIt(url, {})
    const slices = body as SlicedStream
    await slices.next()
    // What was sent then waits in the sockets.
    expect(await sentWhenStill()).toBeLessThan(100_000_000)
    await slices.cancel()
  })

  it('fails when the connection breaks inside a body', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Length': 1000 })
      response.write('half', () => response.destroy())
    })
    const answer = await fetchIt(url, {})
    await expect(answer.arrayBuffer()).rejects.toThrow()
  })

  it('fails when nothing listens', async () => {
    await expect(fetchIt('http://127.0.0.1:1/', {})).rejects.toThrow()
  })

  it('ends with its signal, before the answer and inside of it', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/body') response.write('first')
    })
    const early = new AbortController()
    const waiting = fetchIt(url, { signal: early.signal })
    early.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    const late = new AbortController()
    const answer = await fetchIt(`${url}body`, { signal: late.signal })
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
    expect(await (await fetchIt(url, {})).text()).toBe('as stored')
    expect((await fetchIt(`${url}moved`, {})).status).toBe(307)
  })

  it.each(['HEAD', 'GET'])('has no body where there is none: %s', async (method) => {
    const url = await serve((_request, response) => response.writeHead(304, { ETag: '"1"' }).end())
    const answer = await fetchIt(url, { method })
    expect(answer.status).toBe(304)
    expect(answer.body).toBe(null)
  })
})
