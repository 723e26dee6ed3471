import { describe, expect, it } from 'vitest'
import type { PeerOptions } from '../../src/fleet/peer.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'
import { UNHURRIED } from '../support/patient.ts'

const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR']
const stamp = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, 23)
const START = Date.parse('2026-11-14T02:00:00Z')

/** A log of one node, whose records are interleaved with those of the others. */
const logOf = (seed: number, count = 400) =>
  Array.from({ length: count }, (_, i) => {
    const level = LEVELS[(i * 7 + seed) % 4]
    return `${stamp(START + i * 977 + seed * 13)}\t${level}\ta.go:${i}\t[A] [B]: node ${seed} took ${i}ms\t{"shard":${i % 5}}\n`
  }).join('')

type Fetch = NonNullable<PeerOptions['fetch']>

function peerOf(
  id: string,
  seed: number,
  through: (url: string, fetch: () => Promise<Response>) => Promise<Response>,
) {
  const rotated = logOf(seed, 100).replaceAll('02:', '01:')
  const app = createApp({
    logs: memoryStore({ 'a.log': logOf(seed), 'a.log.1': rotated, 'notes.txt': 'no times\n' }),
    config: '',
    timezone: seed === 1 ? 'Europe/Berlin' : 'UTC',
    clock: UNHURRIED,
    onError() {},
  })
  const asked: string[] = []
  const fetch: Fetch = async (url, { connectMillis: _, ...init }) => {
    asked.push(url.slice(url.indexOf('/api/')))
    return through(url, async () => app.fetch(new Request(url, init)))
  }
  return { asked, peer: { id, url: `http://${id}.example`, fetch } satisfies PeerOptions }
}

const passing = (_: string, fetch: () => Promise<Response>) => fetch()

function fleets(through = passing) {
  const peers = [0, 1, 2].map((seed) => peerOf(`db-${seed}`, seed, through))
  // The cursor of an answer without records has the time of day.
  const clock = { ...UNHURRIED, now: () => START }
  const options = { peers: peers.map(({ peer }) => peer), clock, onError() {} }
  return {
    peers,
    handing: createFleet(options),
    // Patterns are applied here, so nothing is handed on.
    reading: createFleet({ ...options, include: ['*'] }),
  }
}

async function answerOf(app: ReturnType<typeof createFleet>, path: string) {
  const response = await app.request(path)
  const header = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    body: await response.text(),
    type: header('Content-Type'),
    link: header('Link'),
    note: header('X-Nodestate-Note'),
    missing: header('X-Nodestate-Missing')?.split(', ').sort(),
  }
}

const ONE = '/nodes/db-1/api/v1/log'
const REQUESTS = [
  `${ONE}/view?file=a.log`,
  `${ONE}/view?file=a.log&size=500`,
  `${ONE}/view?file=a.log&q=took+1&lines=7`,
  `${ONE}/view?file=a.log&level=error&first=5&format=ndjson`,
  `${ONE}/view?file=a.log&rotated=true&q=took+3&format=ndjson`,
  `${ONE}/view?file=*.log&q=took+3&lines=9`,
  `${ONE}/view?file=a.log&since=2026-11-14T01:02:00Z&until=2026-11-14T01:03:00Z`,
  `${ONE}/view?file=a.log&where=shard:3&download=true`,
  `${ONE}/histogram?file=a.log&buckets=10`,
  `${ONE}/histogram?file=a.log&q=took+1&step=1m`,
  `${ONE}/fields?file=a.log&level=warn`,
  `${ONE}/view?file=none.log&q=x`,
  `${ONE}/view?file=notes.txt&level=error`,
  `${ONE}/view?file=a.log&regex=(`,
  `${ONE}/view?file=a.log&before=nonsense`,
  '/api/v1/log/histogram?node=*&file=a.log',
  '/api/v1/log/histogram?node=*&file=a.log&by=node&buckets=7',
  '/api/v1/log/histogram?node=*&file=a.log&level=error&step=30s',
  '/api/v1/log/histogram?node=*&file=*&q=took+2&step=1h&by=file',
  '/api/v1/log/histogram?node=db-0&node=db-2&file=a.log&where=shard:3&not=9ms&since=2026-11-14T02:01:00Z',
  '/api/v1/log/view?node=*&file=a.log&level=error&lines=20',
  '/api/v1/log/view?node=*&file=a.log',
  '/api/v1/log/view?node=*&file=a.log&lines=33&format=ndjson',
  '/api/v1/log/view?node=*&file=a.log&first=33&format=ndjson',
  '/api/v1/log/view?node=*&file=a.log&first=5&where=shard:2&since=2026-11-14T02:01:00Z&format=csv',
  '/api/v1/log/view?node=*&file=a.log&q=took+39&format=ndjson',
  '/api/v1/log/view?node=*&file=a.log&q=nowhere',
  '/api/v1/log/view?node=db-1&node=db-2&file=a.log&regex=took+.7&size=900',
  '/api/v1/log/view?node=*&file=a.log&file=notes.txt&level=error&lines=20',
  '/api/v1/log/view?node=*&file=notes.txt&level=error',
  '/api/v1/log/view?node=*&file=a.log&level=error&download=true&format=ndjson',
  '/api/v1/log/view?node=*&file=a.log&download=true',
  '/api/v1/log/fields?node=*&file=a.log&level=warn',
  '/api/v1/log/groups?node=*&file=a.log&by=shard',
  '/api/v1/log/groups?node=*&file=a.log&by=shard&of=took&sort=p95',
  '/api/v1/log/groups?node=*&file=a.log&by=shard&of=shard&limit=3&level=warn&since=2026-11-14T02:01:00Z',
  '/api/v1/log/groups?node=*&file=a.log&file=notes.txt&by=level',
  '/api/v1/log/groups?node=*&file=a.log&by=nothing',
  ...['', '&q=took', '&level=warn', '&where=shard:3', '&node=db-1'].map(
    (more) =>
      `/api/v1/log/compare?node=db-*&file=a.log&since=2026-11-14T02:04:00Z&until=2026-11-14T02:07:00Z${more}`,
  ),
  '/api/v1/log/compare?node=db-0&base-node=*&file=a.log&since=2026-11-14T02:01:00Z&until=2026-11-14T02:05:00Z',
]

describe('what is asked of a peer', () => {
  const { handing, reading } = fleets()
  it.each(REQUESTS)('is what its store would give: %s', async (path) => {
    expect(await answerOf(handing, path)).toEqual(await answerOf(reading, path))
  })

  it('is answered where the log is: no file is read over the network', async () => {
    const { handing, peers } = fleets()
    await answerOf(handing, `${ONE}/view?file=a.log&q=took+1`)
    const followed = await handing.request(`${ONE}/view?file=a.log&follow=true`)
    await followed.body?.cancel()
    expect(peers[1]!.asked.filter((path) => path.includes('download'))).toEqual([])
    expect(peers[1]!.asked.some((path) => path.startsWith('/api/v1/log/view?file=a.log&q='))).toBe(true)
  })

  it('is grouped where the log is', async () => {
    const { handing, peers } = fleets()
    const { body } = await answerOf(handing, '/api/v1/log/groups?node=*&file=a.log&by=shard&of=shard')
    expect(JSON.parse(body).records).toBe(1500)
    for (const { asked } of peers) {
      expect(asked.filter((path) => path.includes('download'))).toEqual([])
      expect(asked.filter((path) => path.startsWith('/api/v1/log/groups'))).toHaveLength(1)
    }
  })

  it('is compared where the log is', async () => {
    const { handing, peers } = fleets()
    const since = 'since=2026-11-14T02:04:00Z&until=2026-11-14T02:07:00Z'
    const path = `/api/v1/log/compare?node=*&file=a.log&${since}&q=took`
    const { status, body, missing } = await answerOf(handing, path)
    expect([status, JSON.parse(body).complete, missing]).toEqual([200, true, undefined])
    await answerOf(handing, path)
    // The clock of the other one is in another zone: it has no records then.
    for (const { asked } of [peers[0]!, peers[2]!]) {
      // What shows the format of a log is read, and not its records.
      const read = asked.filter((path) => path.includes('download')).length
      await answerOf(handing, path)
      expect(asked.filter((path) => path.includes('download')).length).toBe(read)
      expect(asked.some((path) => path.startsWith('/api/v1/log/histogram'))).toBe(true)
      expect(asked.some((path) => path.includes('lane=true'))).toBe(true)
    }
  })

  it('is paged both ways, whichever way each page takes', async () => {
    const { handing, reading } = fleets()
    const query = 'file=a.log&q=took&lines=37&format=ndjson'
    const seen: string[] = []
    let path: string | null = `${ONE}/view?${query}`
    for (let i = 0; path !== null; i++) {
      const { body, link }: { body: string; link: string | null } = await answerOf(
        i % 2 ? handing : reading,
        path,
      )
      seen.unshift(...body.split('\n').filter((line) => line !== ''))
      const prev = /<([^>]*)>; rel="prev"/.exec(link ?? '')?.[1] ?? null
      path = prev && `${ONE}/view${prev}`
      expect(i).toBeLessThan(50)
    }
    expect(seen).toHaveLength(400)
    expect(new Set(seen).size).toBe(400)
  })

  it('is read from the store for a token that sees only some files', async () => {
    const { peers } = fleets()
    const tokens = () => [{ name: 'some', token: 'caller', files: ['a.log'] }]
    const app = createFleet({ peers: peers.map(({ peer }) => peer), tokens, onError() {} })
    const headers = { Authorization: 'Bearer caller' }
    const view = (query: string) => app.request(`${ONE}/view?${query}`, { headers })
    const found = await view('file=a.log&rotated=true&format=ndjson')
    expect((await found.text()).trim().split('\n')).toHaveLength(400)
    expect((await view('file=notes.txt')).status).toBe(404)
    expect(peers[1]!.asked.some((path) => path.startsWith('/api/v1/log/view'))).toBe(false)
  })

  it.each([
    [
      'does not know a parameter and says so',
      async () =>
        new Response('[]', {
          headers: { 'X-Nodestate-Note': 'unknown-parameter', 'Content-Type': 'application/json' },
        }),
    ],
    ['refuses a parameter', async () => Response.json({ type: '/problems/bad-parameter' }, { status: 400 })],
    ['sends a page', async () => new Response('<script>', { headers: { 'Content-Type': 'text/html' } })],
    [
      'sends a chart that makes no sense',
      async () => Response.json({ complete: true, levels: [], buckets: [{}] }),
    ],
    [
      'leads elsewhere',
      async () =>
        new Response('x', {
          headers: { 'Content-Type': 'text/plain', Link: '<https://elsewhere/?before=x>; rel="prev"' },
        }),
    ],
    ['fails', async () => Response.json({ type: '/problems/internal' }, { status: 500 })],
  ])('is read from the store of one that %s', async (_, answer) => {
    const odd = fleets((url, fetch) => (/\/log\/(view|histogram|fields)/.test(url) ? answer() : fetch()))
    for (const path of [`${ONE}/view?file=a.log&q=took+1`, '/api/v1/log/histogram?node=*&file=a.log&q=took'])
      expect(await answerOf(odd.handing, path)).toEqual(await answerOf(odd.reading, path))
  })

  it('is cut, not ended, when the peer dies in the middle', async () => {
    const { handing } = fleets(async (url, fetch) => {
      const answer = await fetch()
      if (!url.includes('/view')) return answer
      const pieces = [new TextEncoder().encode('half a line')]
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces.shift()
          if (piece) controller.enqueue(piece)
          else controller.error(new Error('connection lost'))
        },
      })
      return new Response(body, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
    })
    const response = await handing.request(`${ONE}/view?file=a.log&q=took`)
    await expect(response.text()).rejects.toThrow()
  })
})
