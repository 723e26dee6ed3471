import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kit/limits/clock.ts'
import { all, codeOf, textOf } from '../../src/store/contract/assert.ts'
import { PeerWire } from '../../src/store/peer/wire.ts'
import { type PeerStoreOptions, peerStore } from '../../src/store/peer.ts'
import { AttemptTimer } from '../../src/store/remote/retry.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A peer that answers as it likes. */
async function peer(answer: RequestListener, options: Partial<PeerStoreOptions> = {}) {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return peerStore({ url, backoff: 1, ...options })
}

const ENTRY = { name: 'a.log', size: 3, modified: '2026-11-14T02:10:00.500Z', etag: '"1"', id: '7' }
const list =
  (entries: unknown, headers = {}): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(entries))
  }
const FILE = { ETag: '"1"', 'Last-Modified': 'Sat, 14 Nov 2026 02:10:00 GMT', 'X-Nodestate-File': '7' }

describe('a peer that lies', () => {
  it.each([
    ['text', 'no list'],
    ['an object', {}],
    ['a negative size', [{ ...ENTRY, size: -1 }]],
    ['a size that is no integer', [{ ...ENTRY, size: 1.5 }]],
    ['a size beyond all files', [{ ...ENTRY, size: 1e300 }]],
    ['no time', [{ ...ENTRY, modified: 'yesterday' }]],
    ['no tag', [{ ...ENTRY, etag: 'x' }]],
    ['a tag with a line break', [{ ...ENTRY, etag: '"x\r\nSet-Cookie: a"' }]],
    ['nothing in the list', [null]],
  ])('with %s is not believed', async (_, body) => {
    expect(await codeOf(all((await peer(list(body))).list()))).toBe('unavailable')
  })

  it('about names has no files of such names', async () => {
    const names = [
      '..',
      '../etc',
      'a/../b',
      '/etc/passwd',
      'x\u0000y',
      'x\ny',
      'x\u001b[31m',
      '',
      './a',
      'ok.log',
    ]
    const store = await peer(list(names.map((name) => ({ ...ENTRY, name }))))
    expect((await all(store.list())).map(({ key }) => key)).toEqual(['ok.log'])
  })

  it('with an endless list is left', async () => {
    let sent = 0
    const store = await peer((_, response) => {
      response.writeHead(200)
      const more = () => {
        sent += 64 * 1024
        if (sent < 64 * 1024 * 1024 && response.write(' '.repeat(64 * 1024))) setImmediate(more)
      }
      response.on('drain', more)
      response.write('[')
      more()
    })
    expect(await codeOf(all(store.list()))).toBe('unavailable')
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  it('with a list that leads back to itself is left', async () => {
    const store = await peer(list([ENTRY], { Link: '<?etag=true&after=a.log>; rel="next"' }))
    expect(await codeOf(all(store.list()))).toBe('unavailable')
  })

  it('with JSON of a million levels is not believed', async () => {
    const store = await peer((_, response) => response.end('['.repeat(1e6)))
    expect(await codeOf(all(store.list()))).toBe('unavailable')
  })

  it.each([
    ['ends early', { 'Content-Length': '3', 'Content-Range': 'bytes 0-2/3' }, 'ab'],
    ['is longer than it says', { 'Content-Range': 'bytes 0-2/3' }, 'abcdefgh'],
    ['is of another range', { 'Content-Length': '3', 'Content-Range': 'bytes 1-3/4' }, 'abc'],
    ['has no range', { 'Content-Length': '3' }, 'abc'],
    ['has no tag', { 'Content-Length': '3', 'Content-Range': 'bytes 0-2/3', ETag: '' }, 'abc'],
    [
      'is compressed',
      { 'Content-Length': '3', 'Content-Range': 'bytes 0-2/3', 'Content-Encoding': 'gzip' },
      'abc',
    ],
  ])('with a body that %s is not believed', async (_, headers, body) => {
    const store = await peer((_, response) => {
      response.writeHead(206, { ...FILE, ...headers })
      response.write(body)
      // What announces more than it sends must be cut, not ended.
      setTimeout(() => response.socket?.destroy(), 10)
    })
    expect(await codeOf(store.read('a.log', { offset: 0, length: 3 }))).toBe('unavailable')
  })

  it('with a list that never ends, page after page, is left', async () => {
    let pages = 0
    const store = await peer(
      (request, response) => {
        pages++
        const name = `log-${String(pages).padStart(9, '0')}`
        list([{ ...ENTRY, name }], { Link: `<?etag=true&after=${name}>; rel="next"` })(request, response)
      },
      { timeout: 60_000, deadline: 60_000, listDeadline: 60_000 },
    )
    expect(await codeOf(all(store.list()))).toBe('unavailable')
    expect(pages).toBe(50)
  })

  it.each(['list', 'body'] as const)('with a %s that drips is left', async (what) => {
    const open = new Set<NodeJS.Timeout>()
    const store = await peer(
      (_, response) => {
        const length = { 'Content-Length': '1000', 'Content-Range': 'bytes 0-999/1000' }
        response.writeHead(what === 'list' ? 200 : 206, { ...FILE, ...(what === 'body' && length) })
        const drip = setInterval(() => response.write(' '), 20)
        open.add(drip)
        response.on('close', () => clearInterval(drip))
      },
      { retries: 0, timeout: 200, deadline: 400, listDeadline: 400, stall: 300 },
    )
    const read = () => store.read('a.log', { offset: 0, length: 1000 })
    expect(await codeOf(what === 'list' ? all(store.list()) : read())).toBe('timeout')
    expect(open.size).toBeGreaterThan(0)
  })

  it('is not followed elsewhere', async () => {
    const asked: string[] = []
    const store = await peer((request, response) => {
      asked.push(request.url!)
      response.writeHead(302, { Location: '/elsewhere' }).end()
    })
    expect(await codeOf(all(store.list()))).toBe('unavailable')
    expect(await codeOf(store.read('a.log'))).toBe('unavailable')
    expect(asked.some((url) => url.includes('elsewhere'))).toBe(false)
  })
})

describe('the clock of a peer', () => {
  const at = Date.parse('2026-11-14T02:10:00Z')
  /** What is known of a clock that is `ahead`, after answers that took so long. */
  const offsetAfter = async (ahead: number, ...answers: number[]) => {
    let elapsed = 0
    const clock = { ...systemClock, elapsed: () => elapsed, now: () => at + elapsed }
    const wire = new PeerWire({
      url: 'http://peer',
      clock,
      fetch: async () => {
        elapsed += answers.shift()!
        return new Response(null, { headers: { Date: new Date(clock.now() + ahead).toUTCString() } })
      },
    })
    const timer = new AttemptTimer(clock, undefined)
    while (answers.length > 0) await wire.send({ path: 'healthz' }, timer)
    timer.end()
    return wire.health.offset!
  }

  it('is known to half a second from a prompt answer', async () => {
    for (const ahead of [-7300, -400, 0, 900, 61_000])
      expect(Math.abs((await offsetAfter(ahead, 40)) - ahead)).toBeLessThanOrEqual(520)
  })

  it('is not ahead because a search took ten seconds', async () => {
    expect(await offsetAfter(0, 10_000)).toBe(0)
    expect(Math.abs(await offsetAfter(0, 40, 10_000))).toBeLessThanOrEqual(520)
    expect(Math.abs((await offsetAfter(30_000, 40, 10_000)) - 30_000)).toBeLessThanOrEqual(1040)
    // Even so, it cannot be right.
    expect(await offsetAfter(60_000, 10_000)).toBeGreaterThanOrEqual(59_000)
    expect(await offsetAfter(-60_000, 10_000)).toBeLessThanOrEqual(-49_000)
  })
})

describe('a peer', () => {
  it('is sent its own token and the mark of a coordinator', async () => {
    const seen: (string | undefined)[] = []
    const store = await peer(
      (request, response) => {
        seen.push(request.headers.authorization, request.headers['x-nodestate-hop'] as string)
        list([ENTRY])(request, response)
      },
      { token: () => 'secret' },
    )
    expect(await all(store.list())).toEqual([
      { key: 'a.log', size: 3, modified: Date.parse('2026-11-14T02:10:00.500Z'), etag: '"1"', id: '7' },
    ])
    expect(seen).toEqual(['Bearer secret', '1'])
  })

  it('tells times of change to the millisecond, in its list and of a file', async () => {
    const headers = { ...FILE, 'Content-Length': '3', 'X-Nodestate-Modified': ENTRY.modified }
    const store = await peer((request, response) => {
      if (request.url!.includes('log/list')) list([ENTRY])(request, response)
      else response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : 'abc')
    })
    const [listed] = await all(store.list())
    expect(listed!.modified).toBe(Date.parse(ENTRY.modified))
    expect(await store.stat('a.log')).toEqual(listed)
    expect((await store.read('a.log'))!.entry).toEqual(listed)
  })

  it('that is no nodestate, or too old, is not an empty one', async () => {
    const other = await peer((_, response) => response.writeHead(404).end('<html>'))
    expect(await codeOf(other.stat('a.log'))).toBe('unavailable')
    expect(await codeOf(other.read('a.log'))).toBe('unavailable')
    const old = await peer(list([{ name: 'a.log', size: 3 }], { 'X-Nodestate-Note': 'unknown-parameter' }))
    expect(await codeOf(all(old.list()))).toBe('unavailable')
  })

  it.each([
    [401, 'unauthorized', 'denied'],
    [403, 'forbidden', 'denied'],
    [429, 'too-many-failures', 'throttled'],
    [503, 'storage-timeout', 'timeout'],
    [503, 'storage-denied', 'denied'],
    [508, 'loop', 'unavailable'],
    [400, 'bad-parameter', 'unavailable'],
  ])('that answers %i %s is %s', async (status, code, expected) => {
    const store = await peer((_, response) =>
      response.writeHead(status).end(JSON.stringify({ type: `/problems/${code}` })),
    )
    expect(await codeOf(all(store.list()))).toBe(expected)
  })

  it('that has just closed its idle connections is not left alone', async () => {
    const used = new WeakSet<object>()
    const answer = list([ENTRY])
    let closed = 0
    const store = await peer((request, response) => {
      if (!used.has(request.socket)) {
        used.add(request.socket)
        return answer(request, response)
      }
      closed++
      return request.socket.resetAndDestroy()
    })
    const four = () => Promise.all([1, 2, 3, 4].map(() => all(store.list())))
    await four()
    expect((await four()).map((entries) => entries.length)).toEqual([1, 1, 1, 1])
    expect(closed).toBeGreaterThanOrEqual(4)
  })

  it('that does not answer is left alone for a moment', async () => {
    let calls = 0
    let isDead = true
    let elapsed = 0
    const clock = { ...systemClock, elapsed: () => elapsed }
    const store = await peer(
      (request, response) => {
        calls++
        if (isDead) return void request.socket.destroy()
        response.writeHead(200, { ...FILE, 'Content-Length': '3' }).end('abc')
      },
      { clock },
    )
    expect(await codeOf(store.read('a.log'))).toBe('unavailable')
    const before = calls
    for (let i = 0; i < 20; i++) expect(await codeOf(store.read('a.log'))).toBe('unavailable')
    expect(calls).toBe(before)
    isDead = false
    elapsed += 60_000
    expect(await textOf(await store.read('a.log'))).toBe('abc')
    // The probe, and the read.
    expect(calls).toBe(before + 2)
  })
})
