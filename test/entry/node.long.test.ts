import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type ServeOptions, type Server, serve } from '../../src/entry/node.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const servers: Server[] = []
const directories: string[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

async function start(app: Parameters<typeof serve>[0], options: ServeOptions = {}): Promise<Server> {
  const server = await serve(app, { port: 0, ...options })
  servers.push(server)
  return server
}

/** Everything that a server says on one connection until it closes it. */
function exchange(port: number, ...pieces: string[]): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece)
    })
    socket.setEncoding('latin1').on('data', (data) => {
      text += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

const small = () => createApp({ logs: memoryStore({ 'a.log': 'one\n' }), config: '' })
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1])

describe('serve', () => {
  it('listens on loopback and says where, and stops when told', async () => {
    const server = await start(small())
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
    expect(await (await fetch(`${server.url}/api/v1/log/view?file=a.log`)).text()).toBe('one\n')
    expect(await server.close()).toBe(false)
    await expect(fetch(server.url)).rejects.toThrow()
  })

  it('answers 503 on connections beyond the most, but not to a probe', async () => {
    const server = await start(small(), { connections: 3 })
    for (let i = 0; i < 3; i++)
      await new Promise((resolve) => sockets.push(connect(server.port, '127.0.0.1', () => resolve(null))))
    const ask = (path: string) => exchange(server.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const refused = await ask('/api/v1/log/list')
    expect(statuses(refused)).toEqual(['503'])
    expect(refused).toMatch(/retry-after: 5/i)
    expect(refused).toMatch(/connection: close/i)
    expect(refused).toContain('/problems/too-busy')
    const probe = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    expect(statuses(await exchange(server.port, probe))).toEqual(['200'])
    sockets.pop()!.destroy()
    await expect.poll(async () => (await fetch(`${server.url}/api/v1/log/list`)).status).toBe(200)
  })

  it('takes a host with the brackets of a URL, and throws what the system says', async () => {
    const server = await start(small(), { hostname: '[::1]' })
    expect(server.url).toBe(`http://[::1]:${server.port}`)
    await expect(serve(small(), { hostname: '::1', port: server.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
  })

  it('tells of an app that throws, and answers with a problem', async () => {
    const errors: unknown[] = []
    const app = { fetch: () => Promise.reject(new Error('secret path')) }
    const { url } = await start(app, { onError: (error) => errors.push(error) })
    const answer = await fetch(url)
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('secret')
    expect(errors).toHaveLength(1)
  })
})

describe('odd requests', () => {
  const GOOD = 'GET /api/v1/log/view?file=a.log HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const CLOSE = 'Connection: close\r\n'

  it.each([
    ['two hosts', `GET /healthz HTTP/1.1\r\nHost: a\r\nhOst: b\r\n${CLOSE}\r\n`, '400'],
    ['the same host twice', `GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n${CLOSE}\r\n`, '400'],
    ['no host', `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`, '400'],
    ['one host', `GET /healthz HTTP/1.1\r\nX-Host: b\r\nHost: a\r\n${CLOSE}\r\n`, '200'],
    ['no host in HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', '200'],
  ])('%s', async (_, request, status) => {
    const { port } = await start(small())
    const answer = await exchange(port, request)
    expect(statuses(answer)).toEqual([status])
    if (status === '400') expect(answer).toContain('/problems/bad-request')
  })

  it.each([
    ['in one piece', [`${GOOD}garbage \x01\r\n\r\n`]],
    ['in pieces', [GOOD, 'gar', 'bage\r\n', 'and more\r\n\r\n']],
    ['behind two', [`${GOOD}${GOOD}\x00\x00`]],
  ])('garbage behind a good request comes after its answer, %s', async (_, pieces) => {
    const { port } = await start({
      // Slow enough for the garbage to be read before the answer is ready.
      fetch: async (request: Request) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return small().fetch(request)
      },
    })
    const text = await exchange(port, ...pieces)
    const good = pieces.join('').split(GOOD).length - 1
    expect(statuses(text)).toEqual([...Array(good).fill('200'), '400'])
    expect(text.match(/one\n/g)).toHaveLength(good)
    expect(text.trimEnd().endsWith('}')).toBe(true)
  })
})

describe('an answer that its client does not read', () => {
  /** A client that sends a request and reads only the first bytes. */
  function stall(port: number, path: string): Promise<{ closed: Promise<void> }> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
      )
      sockets.push(socket)
      const closed = new Promise<void>((done) => socket.on('close', () => done()))
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.pause()
        resolve({ closed })
      })
    })
  }

  function bigLog(): string {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-stall-'))
    directories.push(directory)
    writeFileSync(join(directory, 'big.log'), 'a line of a log\n'.repeat(2_000_000))
    return directory
  }

  it.each([
    ['from a file', '/api/v1/log/view?file=big.log&size=30000000'],
    ['that is searched', '/api/v1/log/view?file=big.log&q=line&size=30000000'],
  ])('is cut, %s', async (_, path) => {
    const cuts: unknown[] = []
    const app = createApp({ logs: fsStore(bigLog()), config: '' })
    const { port } = await start(app, { stallSeconds: 1, onCut: (reason) => cuts.push(reason) })
    await stall(port, path)
    await expect.poll(() => cuts.length).toBe(1)
    expect(String(cuts[0])).toContain('read nothing for 1 s')
  })

  it('is cut when it is one large piece', async () => {
    const cuts: unknown[] = []
    const body = new Uint8Array(30_000_000)
    const { port } = await start(
      { fetch: () => new Response(body) },
      { stallSeconds: 1, onCut: (reason) => cuts.push(reason) },
    )
    await stall(port, '/')
    await expect.poll(() => cuts.length).toBe(1)
  })

  it('is not cut while it is being made, nor while nothing is to be sent', async () => {
    const cuts: unknown[] = []
    let finish = () => {}
    const ready = new Promise<void>((resolve) => {
      finish = resolve
    })
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const { url, port } = await start(
      {
        fetch: async (request: Request) => {
          if (!request.url.endsWith('/late')) return new Response(new Uint8Array(30_000_000))
          begin()
          await ready
          return new Response('late')
        },
      },
      { stallSeconds: 1, onCut: (reason) => cuts.push(reason) },
    )
    const answer = fetch(`${url}/late`)
    await begun
    // Meanwhile, two clients stall one after the other: it waits twice as long as they may.
    for (const cut of [1, 2]) {
      await stall(port, '/')
      await expect.poll(() => cuts.length).toBe(cut)
    }
    finish()
    expect(await (await answer).text()).toBe('late')
    expect(cuts).toHaveLength(2)
  })
})
