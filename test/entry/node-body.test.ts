import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app.ts'
import { withSlicedBodies } from '../../src/entry/node-body.ts'
import { fsStore } from '../../src/store/fs.ts'

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

/** What a tail of so many bytes must be. */
const expected = (size: number) => text.subarray(text.indexOf(10, text.length - size - 1) + 1)

/** A client that sends a request and reads nothing. */
function stall(size: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause()
      socket.write(`GET /api/v1/log/view?file=big.log&size=${size} HTTP/1.1\r\nHost: x\r\n\r\n`)
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
    await expect.poll(openFiles, { timeout: 5000 }).toBeLessThanOrEqual(before)
    expect(cuts).toEqual([])
  })

  it('lets a slow reader hold one slice, however long the answer', async () => {
    const before = process.memoryUsage().arrayBuffers
    const sockets = await Promise.all(Array.from({ length: 30 }, () => stall(9_000_000)))
    await sleep(500)
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

  it('is cut off when the file shrinks below it', async () => {
    const socket = await stall(9_000_000)
    await sleep(100)
    truncateSync(join(directory, 'big.log'), 1000)
    let received = 0
    socket.on('data', (part) => {
      received += part.length
    })
    socket.resume()
    await new Promise((resolve) => socket.on('close', resolve))
    expect(received).toBeLessThan(expected(9_000_000).length)
    expect(cuts).toHaveLength(1)
  })
})
