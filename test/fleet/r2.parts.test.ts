import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHome } from '../../src/core/node/home.ts'
import { page } from '../../src/doors/page.ts'
import { s3Store } from '../../src/store/s3.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { createApp } from '../support/app.ts'
import { bucketWriter } from '../support/bucket.ts'
import { type Flare, placeOf, startMiniflare } from '../support/miniflare.ts'
import { part } from '../support/parts.ts'
import { putLife } from '../support/segments.ts'

const NODE = { hostIp: '192.0.2.7', hostName: 'db', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const AT = Date.UTC(2026, 10, 15, 2)
const text = (name: string) =>
  Array.from({ length: 100 }, (_, i) => {
    const stamp = new Date(AT + i * 1000).toISOString().replace('T', ' ').slice(0, 23)
    return `${stamp}\tINFO\ta.go:1\t[A] [B]: ${name} ${i}\n`
  }).join('')
const beat = JSON.stringify({
  host: 'h',
  run: 'r',
  version: '1',
  node: NODE,
  logs: { 'a.log': { life: 2, size: text('new').length, lagBytes: 7, lagSeconds: 0 } },
  error: null,
})

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)
describe.skipIf(needs)(`a fleet on the R2 binding, in workerd${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  const signed = { headers: { Authorization: 'Bearer secret' } }
  const get = (path: string, init: RequestInit = signed) => fetch(new URL(path, flare.url), init)
  beforeAll(async () => {
    const bindings = { NODESTATE_FLEET: 'prod', NODESTATE_TOKEN: 'secret', NODESTATE_LOKI: '1' }
    flare = await startMiniflare({ main: 'dist/entry/service/cloudflare.js', bindings })
    const { put } = bucketWriter(placeOf(flare))
    for (const id of ['db-1', 'db-2']) {
      const below = (key: string, bytes: Uint8Array | string) => put(`prod/${id}/${key}`, bytes)
      await below('ship.json', beat)
      await below('node.json', JSON.stringify(NODE))
      await below('config.toml', 'a = 1\n')
      await below('logs/mirror.log', text(`mirror of ${id}`))
      const bytes = (name: string) => new TextEncoder().encode(text(name))
      await putLife(below, bytes(`old of ${id}`), { life: 1, how: 'end' })
      await putLife(below, bytes('new'), { life: 2 })
    }
    await put('prod/none/other.txt', 'x')
    await put('elsewhere/db-3/ship.json', beat)
  })
  afterAll(() => flare?.stop())

  it('compares the configurations of its nodes', async () => {
    const compared = await (await get('/api/v1/config/compare?node=db-*')).json()
    expect(compared).toEqual({ nodes: ['db-1', 'db-2'], missing: {}, keys: [] })
    const history = await (await get('/nodes/db-1/api/v1/config/history')).json()
    expect(history).toMatchObject([{ size: 6, changes: [] }])
  })

  it('lists its nodes', async () => {
    const nodes = (await (await get('/api/v1/nodes')).json()) as Record<string, unknown>[]
    expect(nodes.map(({ id, node, lag, error }) => [id, node, lag, error])).toEqual([
      ['db-1', NODE, 7, null],
      ['db-2', NODE, 7, null],
    ])
    expect((await get('/nodes/db-3/api/v1/log/list')).status).toBe(404)
    expect(nodes[0]!.shipped).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const first = await get('/api/v1/nodes?limit=1')
    expect(first.headers.get('Link')).toBe('<?limit=1&after=db-1>; rel="next"')
    expect((await get('/api/v1/nodes?limit=1000')).status).toBe(200)
    const refused = await get('/api/v1/nodes?limit=1001')
    expect([refused.status, ((await refused.json()) as { type: string }).type]).toEqual([
      400,
      '/problems/bad-parameter',
    ])
  })

  it('answers for a node as its home does', async () => {
    const bucket = placeOf(flare)
    const home = s3Store({ ...bucket, prefix: 'prod/db-2' })
    const logs = segmentStore(home, s3Store({ ...bucket, prefix: 'prod/db-2/logs' }))
    const own = createApp({ logs, ...openHome(home), page })
    for (const path of [
      '/api/v1/config',
      '/api/v1/log/list',
      '/api/v1/log/view?file=a.log',
      '/api/v1/log/view?file=a.log&rotated=true&lines=150',
      '/api/v1/log/view?file=a.log@000001&grep=old&format=ndjson',
      '/api/v1/log/view?file=mirror.log&lines=2',
      '/api/v1/log/view?file=none.log',
      '/api/v1/log/download?file=a.log',
      '/',
    ]) {
      const [one, other] = [await get(`/nodes/db-2${path}`), await own.request(path)]
      expect(await one.text(), path).toBe(await other.text())
      expect(one.status, path).toBe(other.status)
    }
  })

  it('knows no other nodes', async () => {
    for (const id of ['-x', 'a%2Fb', '..%2Felsewhere', 'x'.repeat(129)]) {
      const answer = await get(`/nodes/${id}/api/v1/log/list`)
      expect([answer.status, ((await answer.json()) as { type: string }).type], id).toEqual([
        404,
        '/problems/unknown-node',
      ])
    }
  })

  it('is guarded by the token, and its pages are not', async () => {
    for (const path of ['/api/v1/nodes', '/nodes/db-1/api/v1/log/list', '/loki/api/v1/labels'])
      expect([(await get(path, {})).status, (await get(path)).status], path).toEqual([401, 200])
    for (const path of ['/', '/nodes/db-1/', '/healthz']) expect((await get(path, {})).status, path).toBe(200)
  })

  it("answers Loki's queries over all nodes", async () => {
    const query = new URLSearchParams({
      query: '{file="a.log@000001"} |= "old"',
      start: `${AT}000000`,
      end: `${AT + 200_000}000000`,
      limit: '500',
    })
    const answer = (await (await get(`/loki/api/v1/query_range?${query}`)).json()) as {
      data: { result: { stream: Record<string, string>; values: unknown[] }[] }
    }
    const found = answer.data.result.map(({ stream, values }) => [stream.node, stream.file, values.length])
    expect(found.sort()).toEqual([
      ['db-1', 'a.log@000001', 100],
      ['db-2', 'a.log@000001', 100],
    ])
  })
})

describe.skipIf(needs)(`a large fleet on the R2 binding, in workerd${needs ? ` (${needs})` : ''}`, () => {
  let flare: Flare
  const ids = Array.from({ length: 90 }, (_, i) => `db-${String(i).padStart(2, '0')}`)
  const get = (path: string, token: string) =>
    fetch(new URL(path, flare.url), { headers: { Authorization: `Bearer ${token}` } })
  beforeAll(async () => {
    const tokens = `[[tokens]]
name = "all"
token = "all"
[[tokens]]
name = "some"
token = "some"
nodes = ["db-1?"]
`
    const bindings = { NODESTATE_FLEET: '.', NODESTATE_TOKENS: tokens, NODESTATE_LOKI: '1' }
    flare = await startMiniflare({ main: 'dist/entry/service/cloudflare.js', bindings })
    const { put } = bucketWriter(placeOf(flare))
    await Promise.all(ids.map((id) => put(`${id}/ship.json`, beat)))
  })
  afterAll(() => flare?.stop())

  it('has pages of 40 nodes, whatever is asked for', async () => {
    const found: string[] = []
    const sizes: number[] = []
    for (let query = '?limit=1000'; query !== ''; ) {
      const response = await get(`/api/v1/nodes${query}`, 'all')
      const nodes = (await response.json()) as { id: string; error: string | null }[]
      expect(nodes.filter(({ error }) => error !== null)).toEqual([])
      sizes.push(nodes.length)
      found.push(...nodes.map(({ id }) => id))
      query = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1] ?? ''
    }
    expect(sizes).toEqual([40, 40, 10])
    expect(found).toEqual(ids)
  })

  it('takes the tables of tokens from a variable, with the nodes they name', async () => {
    const nodes = (await (await get('/api/v1/nodes', 'some')).json()) as { id: string }[]
    expect(nodes.map(({ id }) => id)).toEqual(ids.filter((id) => id.startsWith('db-1')))
    const status = async (id: string, token: string) =>
      (await get(`/nodes/${id}/api/v1/log/list`, token)).status
    expect([await status('db-11', 'some'), await status('db-21', 'some')]).toEqual([200, 404])
    expect([await status('db-21', 'all'), await status('db-21', 'none')]).toEqual([200, 401])
    const labels = (await (await get('/loki/api/v1/label/node/values', 'some')).json()) as { data: string[] }
    expect(labels.data.every((id) => id.startsWith('db-1'))).toBe(true)
  })
})
