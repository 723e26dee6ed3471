import { describe, expect, it, vi } from 'vitest'
import type { PeerOptions } from '../../src/fleet/peer.ts'
import { LivingCounts } from '../../src/fleet/peers.ts'
import type { FleetNode } from '../../src/kit/answers.ts'
import { systemClock } from '../../src/kit/limits/clock.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { type AppOptions, createApp, createFleet, type FleetOptions } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'
import { PATIENT } from '../support/patient.ts'

const NODE = {
  hostIp: '192.0.2.7',
  hostName: 'own-name',
  grpcPort: 1,
  httpPort: 2,
  version: '1',
  onlineTime: 3,
}
const line = (second: number, text: string) =>
  `2026-11-14 02:10:${String(second).padStart(2, '0')}.000\tINFO\ta.go:1\t[A] [B]: ${text}\n`
const LOG = (name: string) =>
  [1, 4, 7].map((second, i) => line(second + (name.charCodeAt(3) % 3), `${name} ${i}`)).join('')

/** A living node, and what it was asked. */
function peerOf(id: string, options: Partial<AppOptions> = {}) {
  const logs = memoryStore({ 'a.log': LOG(id), 'b.log': line(30, `${id} b`) })
  const app = createApp({
    logs,
    config: `name = "${id}"\npassword = "hunter2"\n`,
    node: NODE,
    token: 'peer-secret',
    onError() {},
    ...options,
  })
  const state = { isDead: false, isOld: false }
  const asked: Request[] = []
  const peer: PeerOptions = {
    id,
    url: `http://${id}.example:9000/`,
    token: 'peer-secret',
    // Pauses would be as long as its deadlines.
    random: () => 0,
    async fetch(url, init) {
      if (state.isDead) throw new TypeError('connection refused')
      if (state.isOld && url.includes('/histogram'))
        return Response.json({ type: '/problems/bad-parameter' }, { status: 400 })
      const { connectMillis: _, ...rest } = init
      const request = new Request(url, rest)
      asked.push(request)
      const answer = await app.fetch(request)
      const headers = new Headers(answer.headers)
      headers.set('Date', new Date().toUTCString())
      return new Response(answer.body, { status: answer.status, headers })
    },
  }
  return { peer, logs, app, asked, state }
}

function cluster(ids: readonly string[], options: Partial<FleetOptions> = {}) {
  const peers = ids.map((id) => peerOf(id))
  const app = createFleet({
    peers: peers.map(({ peer }) => peer),
    clock: PATIENT,
    onError() {},
    ...options,
  })
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await app.request(path, { headers })
    return { response, status: response.status, text: await response.text(), headers: response.headers }
  }
  return { peers, app, get }
}

describe('a fleet of peers', () => {
  it('has the nodes under the ids of the operator', async () => {
    const { get, peers } = cluster(['db-1', 'db-2'])
    peers[1]!.state.isDead = true
    const nodes = JSON.parse((await get('/api/v1/nodes')).text) as FleetNode[]
    expect(nodes.map(({ id, live, error, node }) => [id, live, error, node?.hostName])).toEqual([
      ['db-1', true, null, 'own-name'],
      ['db-2', false, 'storage-unavailable', undefined],
    ])
    expect(Math.abs(nodes[0]!.clock!)).toBeLessThan(1500)
    expect((await get('/nodes/own-name/api/v1/config')).status).toBe(404)
  })

  it('shows the errors and warnings that the nodes count themselves, while somebody looks', async () => {
    const start = Date.now()
    const at = (minutesAgo: number, level: string) =>
      `${new Date(start - minutesAgo * 60_000).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A] [B]: x\n`
    let passed = 0
    const clock = {
      ...PATIENT,
      now: () => start + passed,
      elapsed: () => systemClock.elapsed() + passed,
    }
    const own = memoryStore({ 'a.log': at(5, 'ERROR') })
    const { get, peers } = cluster(['db-1', 'db-2', 'db-3'], {
      clock,
      tokens: () => [
        { name: 'all', token: 'all' },
        { name: 'some', token: 'some', files: ['a.log'] },
        { name: 'config', token: 'config', scopes: ['config'] },
      ],
      self: { id: 'db-0', logs: own, config: '', node: NODE },
      allowHosts: ['logs.example'],
    })
    peers[0]!.logs.put('a.log', at(1600, 'ERROR') + at(300, 'ERROR') + at(30, 'FATAL') + at(2, 'WARN'))
    peers[0]!.logs.put('b.log', at(10, 'INFO') + at(3, 'ERROR'))
    peers[0]!.logs.put('notes.txt', 'no times\n')
    peers[1]!.state.isDead = true
    peers[2]!.state.isOld = true
    const charts = () => peers[0]!.asked.filter(({ url }) => url.includes('/histogram')).length
    const list = async (token = 'all') => {
      const headers = { Authorization: `Bearer ${token}`, Host: 'logs.example' }
      return JSON.parse((await get('/api/v1/nodes', headers)).text) as FleetNode[]
    }
    const shown = (nodes: FleetNode[]) => nodes.map(({ id, errors, warnings }) => [id, errors, warnings])
    const unknown = ['db-0', 'db-1', 'db-2', 'db-3'].map((id) => [id, null, null])
    expect(shown(await list('some'))).toEqual(unknown)
    expect(shown(await list('config'))).toEqual(unknown)
    const headers = { Authorization: 'Bearer all', Host: 'logs.example' }
    expect((await get('/api/v1/log/view?node=db-1&file=a.log', headers)).status).toBe(200)
    expect(charts()).toBe(0)
    const counted = [
      ['db-0', 1, 0],
      ['db-1', 2, 1],
      ['db-2', null, null],
      ['db-3', null, null],
    ]
    await vi.waitFor(async () => expect(shown(await list())).toEqual(counted), 60_000)
    const [, first, dead] = await list()
    const sum = (counts: (number | null)[]) => counts.reduce<number>((all, each) => all + each!, 0)
    expect([sum(first!.day!.errors), sum(first!.day!.warnings)]).toEqual([3, 1])
    expect([dead!.live, dead!.day]).toEqual([false, null])
    expect(charts()).toBe(2)
    expect(shown(await list('some'))).toEqual(unknown)
    passed += 61_000
    peers[0]!.logs.put('b.log', at(10, 'INFO') + at(3, 'ERROR') + at(0, 'ERROR'))
    await vi.waitFor(async () => expect((await list())[1]!.errors).toBe(3), 60_000)
    expect(sum((await list())[1]!.day!.errors)).toBe(4)
    // Only the last hour is counted again.
    expect(charts()).toBe(3)
    expect(peers[1]!.asked).toEqual([])
  })

  it('gives up a count that takes long by itself, and tries again soon', async () => {
    const clock = manualClock(Date.UTC(2026, 10, 15))
    const asked: AbortSignal[] = []
    const counts = new LivingCounts(
      () => (_, signal) => {
        asked.push(signal)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      clock,
    )
    const counted = counts.ask(['db-1'])
    await clock.pass(8000)
    await counted
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    expect(counts.get('db-1')).toBeNull()
    expect(clock.timers).toBe(0)
    clock.skip(60_000)
    void counts.ask(['db-1'])
    await clock.pass(1)
    expect(asked.length).toBe(2)
  })

  it('gives a timeline of all of them, and names the dead one', async () => {
    const { get, peers } = cluster(['db-1', 'db-2', 'db-3'])
    const all = await get('/api/v1/log/view?node=*&file=a.log&format=ndjson')
    const records = all.text
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(records).toHaveLength(9)
    expect(new Set(records.map(({ node }) => node)).size).toBe(3)
    expect(records.map(({ time }) => time)).toEqual(records.map(({ time }) => time).sort())
    expect(all.headers.get('X-Nodestate-Missing')).toBeNull()
    peers[0]!.state.isDead = true
    const rest = await get('/api/v1/log/view?node=*&file=a.log&format=ndjson')
    expect(rest.text.trim().split('\n')).toHaveLength(6)
    expect(rest.headers.get('X-Nodestate-Missing')).toMatch(/^db-1(\/a\.log)?;storage-unavailable$/)
    const chart = await get('/api/v1/log/histogram?node=*&file=a.log&by=node')
    expect(JSON.parse(chart.text).nodes).toEqual(['db-2', 'db-3'])
    expect((await get('/readyz')).status).toBe(200)
  })

  it('answers below /nodes/ID/ as the node itself does, with its configuration masked', async () => {
    const { get } = cluster(['db-1'])
    expect((await get('/nodes/db-1/api/v1/log/view?file=a.log')).text).toBe(LOG('db-1'))
    expect(JSON.parse((await get('/nodes/db-1/api/v1/log/list')).text)).toHaveLength(2)
    const config = JSON.parse((await get('/nodes/db-1/api/v1/config')).text)
    expect(config.config).toContain('name = "db-1"')
    expect(config.config).not.toContain('hunter2')
    expect(config.node.hostName).toBe('own-name')
    expect(JSON.parse((await get('/nodes/db-1/api/v1/config/history')).text)).toHaveLength(1)
  })

  it('masks what a peer does not', async () => {
    const careless: PeerOptions = {
      id: 'db-1',
      url: 'http://db-1.example/',
      fetch: async (url) =>
        String(url).includes('/config')
          ? Response.json({ config: 'password = "hunter2"\n', node: NODE })
          : Response.json([]),
    }
    const app = createFleet({ peers: [careless], clock: PATIENT, onError() {} })
    const response = await app.request('/nodes/db-1/api/v1/config')
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain('hunter2')
  })

  it('compares the configurations of living nodes', async () => {
    const { get, peers } = cluster(['db-1', 'db-2', 'db-3'])
    peers[2]!.state.isDead = true
    const { nodes, missing, keys } = JSON.parse((await get('/api/v1/config/compare?node=db-*')).text)
    expect(nodes).toEqual(['db-1', 'db-2'])
    expect(missing).toEqual({ 'db-3': 'storage-unavailable' })
    expect(keys.map(({ key }: { key: string }) => key)).toEqual(['name'])
  })

  it('compares their logs, with a dead one named', async () => {
    const { get, peers } = cluster(['db-1', 'db-2', 'db-3'])
    const path = '/api/v1/log/compare?node=*&file=a.log&since=2026-11-14T02:00:00Z&until=2026-11-14T03:00:00Z'
    const all = await get(path)
    expect(all.status).toBe(200)
    expect(JSON.parse(all.text)).toMatchObject({ complete: true, range: { records: 9 } })
    peers[0]!.state.isDead = true
    const rest = await get(path)
    expect(rest.status).toBe(200)
    expect(JSON.parse(rest.text).range.records).toBe(6)
    expect(rest.headers.get('X-Nodestate-Missing')).toMatch(/^db-1/)
  })

  it('reads the times of each node in its own zone', async () => {
    const one = peerOf('db-1', { timezone: 'UTC' })
    const two = peerOf('db-2', { timezone: 'Europe/Berlin' })
    const app = createFleet({
      peers: [one.peer, two.peer],
      timezone: 'America/New_York',
      clock: PATIENT,
      onError() {},
    })
    const response = await app.request('/api/v1/log/view?node=*&file=b.log&format=ndjson')
    const times = (await response.text())
      .trim()
      .split('\n')
      .map((text) => Date.parse(JSON.parse(text).time))
    expect(times).toEqual([Date.parse('2026-11-14T01:10:30Z'), Date.parse('2026-11-14T02:10:30Z')])
    const own = await app.request('/nodes/db-2/api/v1/log/view?file=b.log&format=ndjson')
    expect(Date.parse(JSON.parse(await own.text()).time)).toBe(Date.parse('2026-11-14T01:10:30Z'))
  })

  it('applies the grant of the caller, whose token stays here', async () => {
    const { get, peers } = cluster(['db-1', 'db-2'], {
      tokens: () => [{ name: 'some', token: 'caller', files: ['b.log'], nodes: ['db-2'] }],
    })
    const auth = { Authorization: 'Bearer caller' }
    expect((await get('/api/v1/log/view?node=*&file=a.log', auth)).status).toBe(404)
    expect((await get('/nodes/db-1/api/v1/log/list', auth)).status).toBe(404)
    expect((await get('/nodes/db-2/api/v1/log/view?file=a.log', auth)).status).toBe(404)
    const seen = await get('/nodes/db-2/api/v1/log/list', auth)
    expect(JSON.parse(seen.text).map(({ name }: { name: string }) => name)).toEqual(['b.log'])
    expect((await get('/api/v1/log/list?node=*')).status).toBe(401)
    for (const request of peers.flatMap(({ asked }) => asked)) {
      expect(request.headers.get('Authorization')).toBe('Bearer peer-secret')
      expect(request.headers.get('X-Nodestate-Hop')).toBe('1')
    }
    expect(peers[0]!.asked).toEqual([])
  })

  it('refuses what a coordinator asks for other nodes', async () => {
    const { get } = cluster(['db-1'])
    const hop = { 'X-Nodestate-Hop': '1' }
    for (const path of [
      '/api/v1/log/view?node=db-1&file=a.log',
      '/api/v1/log/list',
      '/api/v1/nodes',
      '/nodes/db-1/api/v1/log/list',
      '/api/v1/config/compare?node=*',
    ]) {
      const { status, text } = await get(path, hop)
      expect([path, status]).toEqual([path, 508])
      expect(JSON.parse(text).type).toBe('/problems/loop')
    }
  })

  it('takes its peers from a function, and keeps those that stay', async () => {
    const one = peerOf('db-1')
    const two = peerOf('db-2')
    let peers = [one.peer]
    const app = createFleet({ peers: () => peers, clock: PATIENT, onError() {} })
    const ids = async () =>
      ((await (await app.request('/api/v1/nodes')).json()) as FleetNode[]).map(({ id }) => id)
    expect(await ids()).toEqual(['db-1'])
    peers = [one.peer, two.peer]
    expect(await ids()).toEqual(['db-1', 'db-2'])
    peers = [two.peer]
    expect(await ids()).toEqual(['db-2'])
  })

  it('asks a peer nothing any more that is not in the list, though its logs are remembered', async () => {
    const [one, two] = [peerOf('db-1'), peerOf('db-2')]
    let peers = [one.peer, two.peer]
    let passed = 0
    const clock = { ...PATIENT, elapsed: () => systemClock.elapsed() + passed }
    const app = createFleet({ peers: () => peers, clock, onError() {} })
    const view = async () => (await app.request('/api/v1/log/view?node=*&file=a.log&q=db')).text()
    expect((await view()).trim().split('\n')).toHaveLength(6)
    passed += 2000
    expect((await view()).trim().split('\n')).toHaveLength(6)
    const before = one.asked.length
    passed += 2000
    peers = [two.peer]
    expect((await view()).trim().split('\n')).toHaveLength(3)
    expect(one.asked.length).toBe(before)
  })

  it.each([
    [[{ id: '../x', url: 'http://a/' }], /not an id/],
    [[{ id: 'a', url: 'nowhere' }], /no valid address/],
    [
      [
        { id: 'a', url: 'http://a/' },
        { id: 'a', url: 'http://b/' },
      ],
      /given twice/,
    ],
  ])('refuses %j', (peers, message) => {
    expect(() => createFleet({ peers })).toThrow(message)
  })
})

describe('a request of a coordinator', () => {
  it('gets 400 for a parameter that the node does not know', async () => {
    const { app } = peerOf('db-1')
    const headers = { Authorization: 'Bearer peer-secret' }
    const url = '/api/v1/log/view?file=a.log&newer=1'
    const usual = await app.request(url, { headers })
    expect([usual.status, usual.headers.get('X-Nodestate-Note')]).toEqual([200, 'unknown-parameter'])
    const hop = await app.request(url, { headers: { ...headers, 'X-Nodestate-Hop': '1' } })
    expect(hop.status).toBe(400)
  })
})

describe('a node that is also a coordinator', () => {
  const setup = () => {
    const other = peerOf('db-2')
    const self = {
      id: 'db-1',
      logs: memoryStore({ 'a.log': LOG('db-1') }),
      config: 'name = "db-1"\n',
      node: { ...NODE, hostName: 'db-one' },
    }
    const app = createFleet({ peers: [other.peer], self, clock: PATIENT, onError() {} })
    return { app, other }
  }

  it('answers as itself without node, and as a fleet with it', async () => {
    const { app } = setup()
    const text = async (path: string) => (await app.request(path)).text()
    expect(await text('/api/v1/log/view?file=a.log')).toBe(LOG('db-1'))
    expect(JSON.parse(await text('/api/v1/config')).node.hostName).toBe('db-one')
    expect(JSON.parse(await text('/api/v1/log/list'))).toEqual([{ name: 'a.log', size: LOG('db-1').length }])
    expect(await text('/nodes/db-1/api/v1/log/view?file=a.log')).toBe(LOG('db-1'))
    expect(await text('/nodes/db-2/api/v1/log/view?file=a.log')).toBe(LOG('db-2'))
    const merged = await text('/api/v1/log/view?node=*&file=a.log&format=ndjson')
    expect(merged.trim().split('\n')).toHaveLength(6)
    const nodes = JSON.parse(await text('/api/v1/nodes')) as FleetNode[]
    expect(nodes.map(({ id, live, node }) => [id, live, node?.hostName])).toEqual([
      ['db-1', true, 'db-one'],
      ['db-2', true, 'own-name'],
    ])
  })

  it('answers a coordinator about itself only', async () => {
    const { app } = setup()
    const status = async (path: string) =>
      (await app.request(path, { headers: { 'X-Nodestate-Hop': '1' } })).status
    expect(await status('/api/v1/log/list?etag=true')).toBe(200)
    expect(await status('/nodes/db-1/api/v1/log/list')).toBe(200)
    expect(await status('/nodes/db-2/api/v1/log/list')).toBe(508)
    expect(await status('/api/v1/log/view?node=db-1&file=a.log')).toBe(508)
  })

  it('can be mounted', async () => {
    const { app } = setup()
    const { Hono } = await import('hono')
    const outer = new Hono().route('/state', app)
    expect(await (await outer.request('/state/api/v1/log/view?file=a.log')).text()).toBe(LOG('db-1'))
    expect(await (await outer.request('/state/nodes/db-2/api/v1/log/view?file=a.log')).text()).toBe(
      LOG('db-2'),
    )
    expect((await outer.request('/state/api/v1/nodes')).status).toBe(200)
  })
})

describe('a fleet of a bucket and peers', () => {
  it('reads a node where it lives, and its copy when it does not answer', async () => {
    const { peer, state } = peerOf('db-1')
    const store = memoryStore({
      'db-1/node.json': JSON.stringify(NODE),
      'db-1/logs/a.log': line(1, 'db-1 0'),
      'db-9/node.json': JSON.stringify(NODE),
      'db-9/logs/a.log': line(2, 'db-9'),
    })
    // A list that was slow is remembered for up to a second.
    let passed = 0
    const clock = { ...PATIENT, elapsed: () => systemClock.elapsed() + passed }
    const app = createFleet({ store, peers: [peer], clock, onError() {} })
    const view = async (path: string) => {
      const answer = await app.request(path)
      const lines = (await answer.text()).trim().split('\n').length
      return { lines, note: answer.headers.get('X-Nodestate-Note') }
    }
    const timeline = '/api/v1/log/view?node=*&file=a.log'
    expect(await view(timeline)).toEqual({ lines: 4, note: null })
    expect(await view('/nodes/db-1/api/v1/log/view?file=a.log')).toEqual({ lines: 3, note: null })
    state.isDead = true
    passed = 2000
    expect(await view(timeline)).toEqual({ lines: 2, note: 'copy' })
    expect(await view('/nodes/db-1/api/v1/log/view?file=a.log')).toEqual({ lines: 1, note: 'copy' })
  })
})
