import { afterEach, describe, expect, it } from 'vitest'
import type { PeerOptions } from '../../src/fleet/peer.ts'
import { type Clock, systemClock } from '../../src/kit/limits/clock.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { httpServer, stopAll } from '../store/remote/node/servers.ts'
import { createApp, createFleet } from '../support/app.ts'
import { fractions } from '../support/random.mjs'

afterEach(stopAll)

const START = Date.parse('2026-11-14T02:00:00Z')
const stamp = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, 23)

// A busy machine is not a dead peer.
const PATIENT: Clock = { ...systemClock, after: (ms, then) => systemClock.after(20 * ms, then) }

type Through = (url: string, fetch: () => Promise<Response>, id: string) => Promise<Response>

/** Three nodes whose logs are those of `filesOf`, and two fleets: one asks the nodes, the other reads their stores. */
function fleets(
  filesOf: (node: number) => Record<string, string | Uint8Array>,
  through: Through = (_, fetch) => fetch(),
) {
  const asked: string[] = []
  const stores = [0, 1, 2].map((node) => memoryStore(filesOf(node)))
  const peers = stores.map((logs, node): PeerOptions => {
    const id = `db-${node}`
    const app = createApp({ logs, config: '', onError() {} })
    return {
      id,
      url: `http://${id}.example`,
      fetch: async (url, { connectMillis: _, ...init }) => {
        asked.push(url.slice(url.indexOf('.example') + 8))
        return through(url, async () => app.fetch(new Request(url, init)), id)
      },
    }
  })
  const options = { peers, clock: PATIENT, onError() {} }
  return {
    asked,
    stores,
    handing: createFleet(options),
    reading: createFleet({ ...options, include: ['*'] }),
  }
}

type App = ReturnType<typeof createFleet>

interface Walk {
  pages: string[][]
  missing: string[]
}

/** Pages of a view until there is none; `appOf` says who answers the page of a number. */
async function walk(appOf: (page: number) => App, query: string, rel: 'prev' | 'next'): Promise<Walk> {
  const found: Walk = { pages: [], missing: [] }
  for (let search: string | undefined = `?${query}`, page = 0; search !== undefined; page++) {
    const response = await appOf(page).request(`/api/v1/log/view${search}`)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const lines = text.split('\n').filter((line) => line !== '')
    found.pages.push(lines)
    found.missing.push(response.headers.get('X-Nodestate-Missing') ?? '')
    const links = response.headers.get('Link') ?? ''
    search = links.split(', ').find((link) => link.endsWith(`rel="${rel}"`))
    search = search && /<([^>]*)>/.exec(search)![1]
    if (rel === 'next' && lines.length === 0) search = undefined
    expect(page).toBeLessThan(400)
  }
  return found
}

const inOrder = ({ pages }: Walk, rel: 'prev' | 'next') =>
  (rel === 'prev' ? pages.toReversed() : pages).flat()

/** A log with records out of order, several lines each, bursts of equal times and a rotated file. */
function wildLog(node: number, seed: number): Record<string, string> {
  const random = fractions(seed * 31 + node)
  let at = START + Math.floor(random() * 5000)
  const records = Array.from({ length: 150 }, (_, i) => {
    at += random() < 0.2 ? 0 : Math.floor(random() * 3000)
    const wrong = random() < 0.05 ? Math.floor((random() - 0.5) * 200_000) : 0
    const level = ['DEBUG', 'INFO', 'WARN', 'ERROR'][Math.floor(random() * 4)]
    const more = random() < 0.1 ? '\n  at some.place(1)\n  at another.place(2)' : ''
    return `${stamp(at + wrong)}\t${level}\ta.go:${i}\t[A] [B]: db-${node} record ${i}${more}\n`
  })
  const cut = Math.floor(random() * 100)
  return { 'a.log.1': records.slice(0, cut).join(''), 'a.log': records.slice(cut).join('') }
}

const FILTERS = ['', '&level=error', '&q=record+1', '&regex=record+%5B0-9%5D*7', '&q=nowhere', '&not=3']

describe('a timeline that is read where the logs are', () => {
  it.each([1, 3])('has the pages that the stores would give, in both directions: %i', async (seed) => {
    const { handing, reading } = fleets((node) => wildLog(node, seed))
    const filter = FILTERS[seed % FILTERS.length]
    for (const rel of ['prev', 'next'] as const) {
      const part = rel === 'prev' ? 'lines' : 'first'
      const query = `node=*&file=a.log&format=ndjson&${part}=${7 + seed}${filter}`
      const there = await walk(() => handing, query, rel)
      const here = await walk(() => reading, query, rel)
      expect(there).toEqual(here)
      // A page may be read either way, whichever way the one before it was.
      const mixed = await walk((page) => (page % 2 ? handing : reading), query, rel)
      expect(inOrder(mixed, rel)).toEqual(inOrder(here, rel))
    }
    const all = await reading.request(
      `/api/v1/log/view?node=*&file=a.log&format=ndjson&download=true${filter}`,
    )
    const exported = await handing.request(
      `/api/v1/log/view?node=*&file=a.log&format=ndjson&download=true${filter}`,
    )
    expect(await exported.text()).toBe(await all.text())
  })

  it('sends no more than the records, and what shows their format', async () => {
    const line = (i: number) => `${stamp(START + i * 100)}\tINFO\ta.go:1\t[A] [B]: record ${i}\n`
    const log = Array.from({ length: 40_000 }, (_, i) => line(i)).join('')
    let bytes = 0
    const { asked, handing } = fleets(
      () => ({ 'a.log': log }),
      async (_url, fetch) => {
        const answer = await fetch()
        const body = new Uint8Array(await answer.arrayBuffer())
        bytes += body.length
        return new Response(answer.status === 304 ? null : body, answer)
      },
    )
    const response = await handing.request('/api/v1/log/view?node=*&file=a.log&q=record+7')
    expect((await response.text()).split('\n').length).toBeGreaterThan(3000)
    expect(asked.filter((path) => path.includes('lane=true')).length).toBeGreaterThanOrEqual(3)
    expect(log.length).toBeGreaterThan(1_900_000)
    expect(bytes).toBeLessThan(3_000_000)
  })

  it('has the bytes of the log, even if they are not UTF-8', async () => {
    const text = new TextEncoder().encode(`${stamp(START)}\tINFO\ta.go:1\t[A] [B]: broken x\n`)
    const broken = text.map((byte) => (byte === 0x78 ? 0xff : byte))
    const { handing } = fleets(() => ({ 'a.log': broken }))
    const response = await handing.request('/api/v1/log/view?node=db-0&file=a.log&q=broken')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(bytes.slice(bytes.indexOf(9) + 1)).toEqual(broken)
  })

  it('has long records, too', async () => {
    const long = (node: number) =>
      [0, 1, 2]
        .map(
          (i) => `${stamp(START + i * 1000)}\tINFO\ta.go:1\t[A] [B]: ${node} ${i} ${'x'.repeat(1_500_000)}\n`,
        )
        .join('')
    const { handing } = fleets((node) => ({ 'a.log': long(node) }))
    const response = await handing.request('/api/v1/log/view?node=*&file=a.log&size=20000000')
    const lines = (await response.text()).trim().split('\n')
    expect(lines.map((line) => /B]: (\d \d) /.exec(line)![1])).toEqual([
      '0 0',
      '1 0',
      '2 0',
      '0 1',
      '1 1',
      '2 1',
      '0 2',
      '1 2',
      '2 2',
    ])
  })
})

describe('a warm page', () => {
  const log = (node: number, from = 0) =>
    Array.from(
      { length: 40 },
      (_, i) => `${stamp(START + (from + i) * 1000 + node)}\tINFO\ta.go:1\t[A] [B]: db-${node} ${from + i}\n`,
    ).join('')
  const path = '/api/v1/log/view?node=*&file=a.log&lines=12&q=db'

  /** The peers over HTTP, whose requests are seen before they are answered. */
  async function living(seen: (url: string, id: string) => Promise<void> | void) {
    const stores = [0, 1, 2].map((node) => memoryStore({ 'a.log': log(node) }))
    const peers: PeerOptions[] = []
    for (const [node, logs] of stores.entries()) {
      const id = `db-${node}`
      const app = createApp({ logs, config: '', onError() {} })
      const { url } = await httpServer(async (request, response) => {
        try {
          await seen(request.url!, id)
        } catch {
          return void request.socket.destroy()
        }
        const headers = new Headers(Object.entries(request.headers) as [string, string][])
        const answer = await app.fetch(new Request(`http://peer${request.url}`, { headers }))
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.end(Buffer.from(await answer.arrayBuffer()))
      })
      peers.push({ id, url })
    }
    let passed = 0
    const clock: Clock = { ...PATIENT, elapsed: () => systemClock.elapsed() + passed }
    const fleet = createFleet({ peers, clock, onError() {} })
    /** After this, no list is fresh. */
    const wait = () => {
      passed += 2000
    }
    return { stores, peers, fleet, wait }
  }
  const linesOf = async (fleet: App, missing: string | null = null) => {
    const response = await fleet.request(path)
    expect(response.headers.get('X-Nodestate-Missing')).toBe(missing)
    return (await response.text()).trim().split('\n')
  }
  it('is that of the files that there are now, whatever there was before', async () => {
    const { stores, fleet, wait } = await living(() => {})
    await linesOf(fleet)
    wait()
    stores[1]!.put('a.log.1', log(1))
    stores[1]!.put('a.log', log(1, 40))
    expect((await linesOf(fleet)).at(-1)).toContain('db-1 79')
    expect((await linesOf(fleet)).map((line) => line.split(' ').at(-1))).toEqual(
      Array.from({ length: 12 }, (_, i) => String(68 + i)),
    )
    wait()
    stores[2]!.delete('a.log')
    await linesOf(fleet, 'db-2/a.log;unknown-file')
    wait()
    stores[2]!.put('a.log', log(2, 90))
    expect((await linesOf(fleet)).every((line) => line.startsWith('db-2'))).toBe(true)
  })

  it('names a peer that has died since, and is whole without it', async () => {
    let isDead = false
    const { fleet, wait } = await living((_, id) => {
      if (isDead && id === 'db-1') throw new Error('dead')
    })
    await linesOf(fleet)
    isDead = true
    for (let i = 0; i < 3; i++) {
      wait()
      const lines = await linesOf(fleet, 'db-1;storage-unavailable')
      expect(lines.map((line) => line.split('/')[0])).toEqual(Array(6).fill(['db-0', 'db-2']).flat())
    }
  })
})

describe('a node that fails while a timeline is read', () => {
  const log = (node: number) => ({
    'a.log': Array.from(
      { length: 300 },
      (_, i) => `${stamp(START + i * 1000 + node)}\tINFO\ta.go:1\t[A] [B]: db-${node} record ${i}\n`,
    ).join(''),
  })

  it.each(['prev', 'next'] as const)('is named, and goes on where it was: %s', async (rel) => {
    let calls = 0
    const failing = new Set([5, 6, 7, 11, 12, 16])
    const { handing } = fleets(log, async (url, fetch, id) => {
      if (id !== 'db-1' || !url.includes('/log/')) return fetch()
      if (failing.has(++calls)) throw new TypeError('connection lost')
      return fetch()
    })
    const part = rel === 'prev' ? 'lines' : 'first'
    const found = await walk(() => handing, `node=*&file=a.log&${part}=50&q=record`, rel)
    const lines = inOrder(found, rel).filter((line) => !line.startsWith('db-1'))
    expect(lines).toHaveLength(600)
    const own = found.pages.flat().filter((line) => line.startsWith('db-1'))
    expect(new Set(own).size).toBe(own.length)
    if (own.length < 300) expect(found.missing.some((names) => names.includes('db-1'))).toBe(true)
  })

  const lie = (edit: (head: { records: unknown[][] }) => void) => async (fetch: () => Promise<Response>) => {
    const answer = await fetch()
    const [head = '', ...rest] = (await answer.text()).split('\n')
    const parsed = JSON.parse(head)
    edit(parsed)
    return new Response([JSON.stringify(parsed), ...rest].join('\n'), answer)
  }
  it.each<[string, (fetch: () => Promise<Response>) => Promise<Response>]>([
    ['another log', lie((head) => Object.assign(head, { log: '../b.log' }))],
    ['lengths that are too long', lie(({ records }) => records[0]!.splice(0, 1, 100_000))],
    ['a negative length', lie(({ records }) => records[0]!.splice(0, 1, -5))],
    ['a time that is none', lie(({ records }) => records[0]!.splice(2, 1, 'soon'))],
    ['a place of nothing', lie((head) => Object.assign(head, { onward: 'AAAA' }))],
    ['a record without a place', lie(({ records }) => records[0]!.splice(3, 1, 7))],
    ['notes with line breaks', lie((head) => Object.assign(head, { notes: ['a\r\nSet-Cookie: x'] }))],
    [
      'no head',
      async () => new Response('nothing', { headers: { 'Content-Type': 'application/octet-stream' } }),
    ],
    [
      'an endless head',
      async () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(97)) }),
          { headers: { 'Content-Type': 'application/octet-stream' } },
        ),
    ],
    ['a page', async () => new Response('<script>', { headers: { 'Content-Type': 'text/html' } })],
    ['a redirect', async () => Response.redirect('http://169.254.169.254/', 302)],
    [
      'a problem of an older one',
      async () => Response.json({ type: '/problems/bad-parameter' }, { status: 400 }),
    ],
    ['a record at a place that is none', lie(({ records }) => records[0]!.splice(3, 1, 'AAAA'))],
  ])('and sends %s harms no page: it is what its store would give', async (_, answer) => {
    const { handing, reading } = fleets(log, (url, fetch) =>
      url.includes('lane=true') ? answer(fetch) : fetch(),
    )
    const path = '/api/v1/log/view?node=*&file=a.log&lines=50&q=record&format=ndjson'
    const [there, here] = await Promise.all([handing.request(path), reading.request(path)])
    expect(await there.text()).toBe(await here.text())
    expect(there.headers.get('X-Nodestate-Missing')).toBeNull()
    expect(there.headers.get('Set-Cookie')).toBeNull()
  })
})
