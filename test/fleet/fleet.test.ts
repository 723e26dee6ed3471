import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/core/node/home.ts'
import { loki } from '../../src/doors/loki.ts'
import { createMetrics } from '../../src/kit/observe/metrics.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { type Store, StoreError } from '../../src/store/store.ts'
import { createApp, createFleet, type FleetOptions } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'
import { putLife } from '../support/segments.ts'

const NODE = { hostIp: '192.0.2.7', hostName: 'db', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const beat = (lagBytes = 0) =>
  JSON.stringify({
    host: 'h',
    run: 'r',
    version: '1',
    node: NODE,
    logs: { 'a.log': { life: 1, size: 5, lagBytes, lagSeconds: 0 } },
    error: null,
  })
const page = { html: '<p>', etag: '"p"', assets: {} }

function fleetOf(files: Record<string, string>, options: Partial<FleetOptions> = {}) {
  const store = memoryStore(files)
  const asked: string[] = []
  const counting: Store = {
    list: (prefix, options) => {
      asked.push(`LIST ${prefix}`)
      return store.list(prefix, options)
    },
    stat: (key) => {
      asked.push(`HEAD ${key}`)
      return store.stat(key)
    },
    read: (key, range, options) => {
      asked.push(`GET ${key}`)
      return store.read(key, range, options)
    },
  }
  const app = createFleet({ store: counting, page, onError: () => {}, ...options })
  const get = async (path: string, init?: RequestInit) => answerOf(await app.request(path, init))
  return { store, asked, app, get }
}

describe('a fleet', () => {
  it('counts the requests for its own resources and for those of its nodes', async () => {
    const metrics = createMetrics()
    const files = {
      'db-2/ship.json': beat(),
      'db-2/node.json': JSON.stringify(NODE),
      'db-2/config.toml': 'a = 1\n',
    }
    const { get } = fleetOf(files, { metrics, loki })
    const paths = [
      '/api/v1/nodes',
      '/',
      '/healthz',
      '/readyz',
      '/loki/api/v1/labels',
      '/nodes/db-2/api/v1/config',
    ]
    for (const path of paths) expect((await get(path)).status, path).toBe(200)
    expect((await get('/elsewhere')).status).toBe(404)
    const { text: body } = await get('/metrics')
    const routes = ['/api/v1/nodes', '/', '/healthz', '/readyz', '/loki/*', '/api/v1/config']
    for (const route of routes) {
      expect(body).toContain(`nodestate_http_requests_total{route="${route}",method="GET",status="200"} 1\n`)
      expect(body).toContain(`nodestate_http_response_size_bytes_count{route="${route}"} 1\n`)
    }
    expect(body).toContain('nodestate_http_requests_total{route="other",method="GET",status="404"} 1\n')
    expect(body).toContain('nodestate_http_requests_in_flight 1\n')
    expect(body).toMatch(/nodestate_store_requests_total\{operation="list"\} [1-9]/)
  })

  it('lists its nodes by id, with one LIST and one GET for each that ships', async () => {
    // What was asked is kept for five seconds.
    const clock = manualClock(Date.now())
    const files = {
      'db-2/ship.json': beat(7),
      'db-10/ship.json': beat(),
      'db-1/node.json': JSON.stringify(NODE),
      'a-b/ship.json': beat(),
      'a/ship.json': beat(),
      'bare/logs/x.log': 'x',
      'junk/other/x.log': 'x',
      '-odd/ship.json': beat(),
      'stray.txt': 'x',
    }
    const { get, asked } = fleetOf(files, { clock })
    const answer = await get('/api/v1/nodes')
    const nodes = JSON.parse(answer.text)
    expect(nodes.map(({ id }: { id: string }) => id)).toEqual(['a', 'a-b', 'bare', 'db-1', 'db-10', 'db-2'])
    expect(Object.keys(nodes[0])).toEqual([
      'id',
      'node',
      'described',
      'shipped',
      'age',
      'lag',
      'errors',
      'warnings',
      'lastLine',
      'day',
      'error',
    ])
    expect(nodes[5]).toMatchObject({ id: 'db-2', node: NODE, described: true, lag: 7, error: null })
    expect(nodes[5].shipped).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(nodes[5].age).toBeLessThan(60)
    const counts = { errors: null, warnings: null, lastLine: null, day: null }
    const unknown = {
      node: null,
      described: false,
      shipped: null,
      age: null,
      lag: null,
      ...counts,
      error: null,
    }
    expect(nodes[3]).toEqual({ ...unknown, id: 'db-1', node: NODE, described: true })
    expect(nodes[2]).toEqual({ ...unknown, id: 'bare' })
    // One for the names; for those that did not ship, one for node.json; for the others, one to see what is in them.
    expect(asked).toHaveLength(1 + 7 + 3 + 2)
    asked.length = 0
    await get('/api/v1/nodes')
    expect(asked).toEqual([])
  })

  it('pages by id', async () => {
    const names = Array.from({ length: 450 }, (_, i) => `n${String(i).padStart(4, '0')}`)
    const { get } = fleetOf(Object.fromEntries(names.map((name) => [`${name}/ship.json`, beat()])))
    const ids: string[] = []
    for (let query = ''; ; ) {
      const { text, headers } = await get(`/api/v1/nodes${query}`)
      const nodes = JSON.parse(text)
      expect(nodes.length).toBeLessThanOrEqual(200)
      ids.push(...nodes.map(({ id }: { id: string }) => id))
      const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
      if (!next) break
      query = next
    }
    expect(ids).toEqual(names)
    expect(JSON.parse((await get('/api/v1/nodes?limit=1000')).text)).toHaveLength(450)
    expect(JSON.parse((await get('/api/v1/nodes?limit=2&after=n0003')).text)[0].id).toBe('n0004')
    for (const bad of ['1001', '0', '-1', 'x', '1.5']) {
      const { status, text } = await get(`/api/v1/nodes?limit=${bad}`)
      expect([status, JSON.parse(text).type], bad).toEqual([400, '/problems/bad-parameter'])
    }
  })

  it('shows the others when one fails', async () => {
    const { store } = fleetOf({
      'a/ship.json': beat(),
      'b/ship.json': beat(),
      'c/ship.json': 'no JSON',
      'd/node.json': '{}',
    })
    const failing: Store = {
      ...store,
      read: (key, ...rest) =>
        key.startsWith('b/') ? Promise.reject(new StoreError('denied', 'no')) : store.read(key, ...rest),
    }
    const app = createFleet({ store: failing })
    const nodes = (await (await app.request('/api/v1/nodes')).json()) as {
      id: string
      error: string | null
    }[]
    expect(nodes.map(({ id, error }) => [id, error])).toEqual([
      ['a', null],
      ['b', 'storage-denied'],
      ['c', 'bad-object'],
      ['d', 'bad-object'],
    ])
  })

  it('answers for a node as an app of its home would', async () => {
    const { store, app } = fleetOf({
      'db-4/config.toml': 'a = 1\n',
      'db-4/node.json': JSON.stringify(NODE),
      'db-4/logs/old.log': 'mirror\n',
    })
    await putLife((key, bytes) => store.put(`db-4/${key}`, bytes), new TextEncoder().encode('one\ntwo\n'))
    const home = memoryStore({ 'config.toml': 'a = 1\n', 'node.json': JSON.stringify(NODE) })
    await putLife(home.put, new TextEncoder().encode('one\ntwo\n'))
    const own = createApp({
      logs: segmentStore(home, memoryStore({ 'old.log': 'mirror\n' })),
      ...openHome(home),
      page,
    })
    for (const path of [
      '/api/v1/config',
      '/api/v1/log/list',
      '/api/v1/log/view?file=a.log',
      '/api/v1/log/view?file=a.log&lines=1&format=ndjson',
      '/api/v1/log/view?file=old.log',
      '/api/v1/log/view?file=none',
      '/api/v1/log/download?file=a.log',
      '/api/v1/nope',
      '/healthz',
      '/',
    ]) {
      const [one, other] = [await app.request(`/nodes/db-4${path}`), await own.request(path)]
      expect(await one.text(), path).toBe(await other.text())
      expect(one.status, path).toBe(other.status)
      expect(one.headers.get('Link'), path).toBe(other.headers.get('Link'))
    }
    expect((await app.request('/nodes/db-4')).status).toBe(200)
  })

  it.each(['-x', '_x', 'a%2Fb', 'a b', 'x'.repeat(129), '%ff', '%00'])(
    'knows no node %j, without asking',
    async (id) => {
      const { get, asked } = fleetOf({})
      for (const rest of ['', '/', '/api/v1/log/list']) {
        const { status, text } = await get(`/nodes/${id}${rest}`)
        expect([status, JSON.parse(text).type]).toEqual([404, '/problems/unknown-node'])
      }
      expect(asked).toEqual([])
    },
  )

  it('guards the nodes and their APIs with the token, and not the pages', async () => {
    const { get } = fleetOf({ 'a/ship.json': beat() }, { token: 'secret' })
    const signed = { headers: { Authorization: 'Bearer secret' } }
    for (const path of ['/api/v1/nodes', '/nodes/a/api/v1/log/list']) {
      expect((await get(path)).status, path).toBe(401)
      expect((await get(path, signed)).status, path).toBe(200)
    }
    for (const path of ['/', '/nodes/a/', '/nodes/a', '/healthz'])
      expect((await get(path)).status, path).toBe(200)
    expect((await get('/api/v1/nope')).status).toBe(401)
  })

  it('has a page with its files, and works wherever it is mounted', async () => {
    const { get, app } = fleetOf({ 'a/ship.json': beat() })
    const { text, headers } = await get('/')
    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    for (const [, name] of text.matchAll(/"\.\/(assets\/[^"]+)"/g))
      expect((await get(`/${name}`)).status).toBe(200)
    const { Hono } = await import('hono')
    const outer = new Hono().route('/deep/fleet', app)
    expect((await outer.request('/deep/fleet/api/v1/nodes')).status).toBe(200)
    expect((await outer.request('/deep/fleet/nodes/a/api/v1/log/list')).status).toBe(200)
    expect((await outer.request('/deep/fleet/')).status).toBe(200)
    expect((await outer.request('/deep/fleet/nodes/a/')).status).toBe(200)
    expect((await get('/api/v1/nodes', { method: 'POST' })).status).toBe(405)
  })
})

describe("Loki's API of a fleet", () => {
  const AT = Date.UTC(2026, 10, 15, 2)
  const line = (text: string, second: number) =>
    `${new Date(AT + second * 1000).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A] [B]: ${text}\n`
  const FILES = {
    'db-1/node.json': JSON.stringify(NODE),
    'db-1/logs/a.log': line('one', 1) + line('three', 3),
    'db-2/node.json': JSON.stringify(NODE),
    'db-2/logs/a.log': line('two', 2),
    'db-2/logs/b.log': line('four', 4),
    'other/notes.log': line('not a node', 5),
  }
  type Get = ReturnType<typeof fleetOf>['get']
  const ask = async (get: Get, path: string, params: Record<string, string>, init?: RequestInit) => {
    const range = { start: `${AT}000000`, end: `${AT + 60_000}000000` }
    return get(`/loki/api/v1/${path}?${new URLSearchParams({ ...range, ...params })}`, init)
  }
  const data = async (...asked: Parameters<typeof ask>) => JSON.parse((await ask(...asked)).text).data

  it('is there when it is wanted', async () => {
    expect((await fleetOf(FILES).get('/loki/api/v1/labels')).status).toBe(501)
    const { get, asked } = fleetOf(FILES, { loki })
    expect((await data(get, 'labels', {})) as string[]).toEqual(['file', 'level', 'node'])
    expect(asked.filter((request) => !request.startsWith('LIST'))).toEqual([])
    expect((await get('/loki/api/v1/labels', { method: 'DELETE' })).status).toBe(405)
  })

  const beat = (node: object | null) => JSON.stringify({ host: 'h', run: 'r', node, logs: {} })
  it.each([
    ['describes it in its ship.json', { 'ship.json': beat(NODE) }, NODE.hostName, 200],
    ['does not describe it', { 'ship.json': beat(null) }, 'db-1', 503],
    ['has a broken node.json', { 'node.json': '{' }, 'db-1', 500],
    ['has only logs', {}, 'db-1', 503],
  ])('answers for a node whose home %s, like its logs', async (_, files, name, config) => {
    const home = { 'config.toml': 'a = 1\n', 'logs/a.log': line('one', 1), ...files }
    const { get } = fleetOf(
      Object.fromEntries(Object.entries(home).map(([key, text]) => [`db-1/${key}`, text])),
      { loki },
    )
    expect((await get('/nodes/db-1/api/v1/log/view?file=a.log')).status).toBe(200)
    const answer = await get('/nodes/db-1/loki/api/v1/label/node/values')
    expect([answer.status, JSON.parse(answer.text).data]).toEqual([200, [name]])
    expect((await get('/nodes/db-1/api/v1/config')).status).toBe(config)
  })

  it('has the lines of all nodes in one order, each with the id of its node', async () => {
    const { get } = fleetOf(FILES, { loki })
    const query = { query: '{file=~".+"}' }
    const { result } = await data(get, 'query_range', query)
    const found = (result as { stream: Record<string, string>; values: [string, string][] }[]).flatMap(
      ({ stream, values }) => values.map(([at, text]) => [at, stream.node, stream.file, text.split(': ')[1]]),
    )
    expect(found.sort().map(([, ...rest]) => rest)).toEqual([
      ['db-1', 'a.log', 'one'],
      ['db-2', 'a.log', 'two'],
      ['db-1', 'a.log', 'three'],
      ['db-2', 'b.log', 'four'],
    ])
    const newest = (await data(get, 'query_range', { ...query, limit: '1' })).result
    expect(newest).toHaveLength(1)
    expect(newest[0].stream).toEqual({ file: 'b.log', level: 'info', node: 'db-2' })
    expect(await data(get, 'label/node/values', {})).toEqual(['db-1', 'db-2'])
    expect(await data(get, 'label/file/values', {})).toEqual(['a.log', 'b.log'])
    const counts = {
      query: 'sum by (node) (count_over_time({file=~".+"}[1m]))',
      time: `${AT + 60_000}000000`,
    }
    const vector = (await data(get, 'query', counts)).result as { metric: object; value: [number, string] }[]
    expect(vector.map(({ metric, value }) => [metric, value[1]])).toEqual([
      [{ node: 'db-1' }, '2'],
      [{ node: 'db-2' }, '2'],
    ])
  })

  it('asks only the nodes that a selector wants', async () => {
    const { get, asked } = fleetOf(FILES, { loki })
    const { result } = await data(get, 'query_range', { query: '{node="db-2", file="a.log"}' })
    expect(result.map(({ stream }: { stream: object }) => stream)).toEqual([
      { file: 'a.log', level: 'info', node: 'db-2' },
    ])
    expect(asked[0]).toBe('LIST ')
    expect(asked.slice(1).every((request) => request.includes(' db-2/'))).toBe(true)
  })

  it('fails when a node that is wanted fails', async () => {
    const { store } = fleetOf(FILES)
    const failing: Store = {
      ...store,
      list: (prefix = '', options) => {
        if (prefix.startsWith('db-2/')) throw new StoreError('unavailable', 'no')
        return store.list(prefix, options)
      },
    }
    const app = createFleet({ store: failing, loki, onError: () => {} })
    const get = async (path: string) => answerOf(await app.request(path))
    const status = async (query: string) => (await ask(get, 'query_range', { query })).status
    expect(await status('{node="db-1"}')).toBe(200)
    expect(await status('{file="a.log"}')).toBe(503)
  })

  it('is guarded by the token, its scope and its files', async () => {
    const tokens = [
      { name: 'one', token: 'only-a', files: ['a.log'] },
      { name: 'two', token: 'config', scopes: ['config'] as const },
    ]
    const { get } = fleetOf(FILES, { loki, tokens: () => tokens })
    const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
    expect((await ask(get, 'labels', {})).status).toBe(401)
    expect((await ask(get, 'labels', {}, as('config'))).status).toBe(403)
    expect(await data(get, 'label/file/values', {}, as('only-a'))).toEqual(['a.log'])
    const { result } = await data(get, 'query_range', { query: '{node="db-2"}' }, as('only-a'))
    expect(result.map(({ stream }: { stream: { file: string } }) => stream.file)).toEqual(['a.log'])
  })
})

async function answerOf(response: Response) {
  return { status: response.status, headers: response.headers, text: await response.text() }
}
