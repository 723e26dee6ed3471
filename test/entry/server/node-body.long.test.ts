import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withSlicedBodies } from '../../../src/entry/server/node-body.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'

const text = Buffer.from(
  Array.from({ length: 200_000 }, (_, i) => `line ${i} of a log that is longer than a slice\n`).join(''),
)
let directory: string
let server: Server
let port: number
let cuts: unknown[]

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-body-'))
  writeFileSync(join(directory, 'big.log'), text)
  cuts = []
  const app = createApp({ logs: fsStore(directory), config: '' })
  const fetch = withSlicedBodies(
    (request, env) => app.fetch(request, env),
    (error) => cuts.push(error),
  )
  server = createServer(getRequestListener((request, env) => fetch(request, env as HttpBindings)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  rmSync(directory, { recursive: true, force: true })
})

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const view = (size: number) =>
  new Promise<Buffer>((resolve, reject) => {
    get({ port, agent, path: `/api/v1/log/view?file=big.log&size=${size}` }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => resolve(Buffer.concat(parts)))
      response.on('error', reject)
      expect(response.headers['content-length']).toMatch(/^\d+$/)
    }).on('error', reject)
  })
const openFiles = () =>
  readdirSync('/proc/self/fd', { withFileTypes: true }).filter((entry) => entry.isSymbolicLink()).length

/** What a tail of this many bytes must be. */
const expected = (size: number) => text.subarray(text.indexOf(10, text.length - size - 1) + 1)

/** A client that sends a request and reads nothing. */
function stall(size: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause()
      socket.write(`GET /api/v1/log/view?file=big.log&size=${size} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      resolve(socket)
    })
    socket.on('error', () => {})
  })
}

describe('a long answer on Node', () => {
  it('is right to the byte, again and again on one connection', async () => {
    for (const size of [1_500_000, 3_000_000, 524_288, 7_000_000, 1_048_577, 2_000_000])
      expect((await view(size)).equals(expected(size))).toBe(true)
    expect(cuts).toEqual([])
  })

  it('leaves no file open when its client leaves', async () => {
    const before = openFiles()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => stall(9_000_000)))
    await expect.poll(openFiles).toBeGreaterThan(before + 20)
    for (const socket of sockets) socket.destroy()
    await expect.poll(openFiles).toBeLessThanOrEqual(before)
    expect(cuts).toEqual([])
  })

  it('lets a slow reader hold one slice, however long the answer', async () => {
    const accepted: Socket[] = []
    server.on('connection', (socket) => accepted.push(socket))
    const before = process.memoryUsage().arrayBuffers
    const sockets = await Promise.all(Array.from({ length: 30 }, () => stall(9_000_000)))
    // All of them wait for their clients: nothing more is read.
    await expect.poll(() => accepted.filter((socket) => socket.writableNeedDrain).length).toBe(30)
    // 30 clients ask for 270 MB: the cache, a slice for each, and no more.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16e6 + 31 * 524_288)
    for (const socket of sockets) socket.destroy()
  })

  it('lets a short answer pass while long ones run', async () => {
    const sockets = await Promise.all(Array.from({ length: 30 }, () => stall(9_000_000)))
    for (const socket of sockets) socket.resume()
    const short = await fetch(`http://127.0.0.1:${port}/api/v1/log/view?file=big.log&size=100`)
    expect(await short.text()).toBe(expected(100).toString())
    for (const socket of sockets) socket.destroy()
  })
})

/** All that comes on a connection until it ends, without the head. */
function rawBody(path: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    )
    socket.on('data', (part) => parts.push(part))
    socket.on('error', () => {})
    socket.on('close', () => {
      const all = Buffer.concat(parts)
      resolve(all.subarray(all.indexOf('\r\n\r\n') + 4))
    })
  })
}

/** The content of chunks, and whether the last one came. */
function unchunk(body: Buffer): { text: string; whole: boolean } {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, end), 16)
    if (length === 0) return { text, whole: true }
    text += body.toString('latin1', end + 2, end + 2 + length)
    at = end + 2 + length + 2
  }
  return { text, whole: false }
}

describe('an answer that fails on its way', () => {
  it.each(['size=100', 'lines=2', 'size=9000000'])(
    'of a broken archive gives what is readable and is then cut (%s)',
    async (query) => {
      const archive = gzipSync(text.subarray(0, 2_000_000))
      writeFileSync(join(directory, 'cut.log.gz'), archive.subarray(0, archive.length / 2))
      const { text: got, whole } = unchunk(await rawBody(`/api/v1/log/view?file=cut.log.gz&${query}`))
      expect(whole).toBe(false)
      expect(got.length).toBeGreaterThan(0)
      expect(text.includes(got)).toBe(true)
      await expect.poll(() => cuts).toHaveLength(1)
    },
  )

  it.each([
    ['a tail', '/api/v1/log/view?file=big.log&size=9000000'],
    ['a view', '/api/v1/log/view?file=big.log&lines=150000&size=9000000'],
    ['a download', '/api/v1/log/download?file=big.log'],
    ['a range', '/api/v1/log/download?file=big.log', 'Range: bytes=10-\r\n'],
  ])(
    'of %s is cut with its length told, and nothing but bytes of the file in it',
    async (_, path, more = '') => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`)
      const parts: Buffer[] = []
      const closed = new Promise((resolve) => socket.on('close', resolve))
      socket.on('data', (part) => parts.push(part))
      await new Promise<void>((resolve) =>
        socket.once('data', () => {
          socket.pause()
          resolve()
        }),
      )
      truncateSync(join(directory, 'big.log'), 1000)
      socket.resume()
      await closed
      const all = Buffer.concat(parts)
      const body = all.subarray(all.indexOf('\r\n\r\n') + 4)
      expect(body.length).toBeLessThan(
        Number(/content-length: (\d+)/i.exec(all.toString('latin1', 0, 2000))![1]),
      )
      expect(text.includes(body)).toBe(true)
      await expect.poll(() => cuts).toHaveLength(1)
    },
  )

  it('searches at the same time do not write into each other', async () => {
    const line = (i: number, who: string) => `line ${i} ${who} ${'-'.repeat(i % 97)}\n`
    const logs = ['ann', 'bob'].map((who) => {
      const all = Array.from({ length: 500_000 }, (_, i) => line(i, i % 10 ? who : 'none'))
      writeFileSync(join(directory, `${who}.log`), all.join(''))
      return { who, hits: Buffer.from(all.filter((_, i) => i % 10).join('')) }
    })
    const search = (who: string, after: () => Promise<unknown>) =>
      new Promise<Buffer>((resolve, reject) => {
        const path = `/api/v1/log/view?file=${who}.log&size=50000000&q=${who}`
        get({ port, agent: false, path }, (response) => {
          const parts: Buffer[] = []
          response.on('data', (part) => {
            parts.push(part)
            if (parts.length !== 40) return
            response.pause()
            void after().then(() => response.resume())
          })
          response.on('end', () => resolve(Buffer.concat(parts)))
          response.on('error', reject)
        }).on('error', reject)
      })
    const [ann, bob] = logs as [(typeof logs)[0], (typeof logs)[0]]
    expect(ann.hits.length).toBeGreaterThan(25_000_000)
    const others: Buffer[] = []
    // While one answer is half sent, others are found in what memory is free, and sent.
    const found = await search('ann', async () => {
      for (let i = 0; i < 4; i++) others.push(await search('bob', async () => {}))
    })
    expect(found.equals(ann.hits)).toBe(true)
    expect(others.map((other) => other.equals(bob.hits))).toEqual([true, true, true, true])
  })
})
