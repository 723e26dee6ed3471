import { describe, expect, it } from 'vitest'
import { EVERYTHING, type Token } from '../../src/core/access/grant.ts'
import { loki } from '../../src/doors/loki.ts'
import { FleetNodes, type NodesOptions } from '../../src/fleet/nodes.ts'
import type { FleetNode } from '../../src/kit/answers.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { type Store, StoreError } from '../../src/store/store.ts'
import { createFleet, type FleetOptions } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'

const NODE = { hostIp: '192.0.2.7', hostName: 'db', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const MIB = 1024 * 1024
const beat = (more: object = {}) => JSON.stringify({ host: 'h', run: 'r', node: NODE, logs: {}, ...more })
const lags = (logs: Record<string, number>) => ({
  logs: Object.fromEntries(
    Object.entries(logs).map(([name, lagBytes]) => [name, { life: 1, size: 1, lagBytes, lagSeconds: 0 }]),
  ),
})

/** A store that notes its calls. */
function noting(store: Store) {
  const calls: string[] = []
  const noted: Store = {
    list: (prefix, options) => {
      calls.push(`LIST ${prefix}`)
      return store.list(prefix, options)
    },
    stat: (key, options) => store.stat(key, options),
    read: (key, ...rest) => {
      calls.push(`GET ${key}`)
      return store.read(key, ...rest)
    },
  }
  return { noted, calls }
}

const idOf = (i: number) => `n${String(i).padStart(4, '0')}`
const many = (count: number) =>
  memoryStore(Object.fromEntries(Array.from({ length: count }, (_, i) => [`${idOf(i)}/ship.json`, beat()])))

function nodesOf(store: Store, options: NodesOptions = {}) {
  const nodes = new FleetNodes(store, options)
  const list = async (limit = 1000) => (await nodes.page({ after: '', limit }, EVERYTHING)).nodes
  return { nodes, list, errors: async () => (await list()).map(({ error }) => error) }
}

function fleetOf(files: Record<string, string>, options: Partial<FleetOptions> = {}) {
  const app = createFleet({ store: memoryStore(files), onError: () => {}, ...options })
  const get = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const response = await app.request(path, { headers })
    const text = await response.text()
    return { status: response.status, text, json: () => JSON.parse(text) }
  }
  return { app, get }
}

describe('objects that others wrote', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const nested = `{"host":"h","run":"r","node":${deep(40_000)}}`
  it.each([
    ['ship.json', 'larger than 1 MiB', beat({ pad: 'x'.repeat(MIB) })],
    ['node.json', 'larger than 1 MiB', JSON.stringify({ ...NODE, pad: 'x'.repeat(MIB) })],
    ['ship.json', 'nested too deep', nested],
    ['ship.json', 'nested too deep in what is ignored', `{"host":"h","run":"r","x":${deep(40_000)}}`],
    ['node.json', 'nested too deep', `{"x":${deep(40_000)}}`],
    ['ship.json', 'not JSON', '{"host":'],
    ['ship.json', 'not a heartbeat', '[]'],
    ['ship.json', 'the heartbeat of an odd node', beat({ node: { ...NODE, hostName: 7 } })],
    ['ship.json', 'with a node of endless texts', beat({ node: { ...NODE, version: 'x'.repeat(2000) } })],
    ['node.json', 'not a node', '{"hostIp": 1}'],
  ])(
    '%s %s is the error of that node alone, and is read again only when it changes',
    async (name, _, text) => {
      const clock = manualClock()
      const store = memoryStore({ 'a/ship.json': beat(), [`b/${name}`]: text, 'c/ship.json': beat() })
      const bytes: number[] = []
      const counting: Store = {
        ...store,
        async read(...asked) {
          const read = await store.read(...asked)
          if (asked[0] === `b/${name}`) bytes.push(read?.length ?? 0)
          return read
        },
      }
      const { list } = nodesOf(counting, { clock })
      const states = async () => (await list()).map(({ id, error }) => [id, error])
      const expected = [
        ['a', null],
        ['b', 'bad-object'],
        ['c', null],
      ]
      expect(await states()).toEqual(expected)
      expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(MIB + 64 * 1024)
      // It is unchanged, so not a byte of it is read again.
      const before = bytes.length
      clock.skip(6000)
      expect(await states()).toEqual(expected)
      expect(bytes).toHaveLength(before)
      store.put(`b/${name}`, name === 'ship.json' ? beat() : JSON.stringify(NODE))
      clock.skip(6000)
      expect((await states())[1]).toEqual(['b', null])
    },
  )

  it('do not stop the routes of their node', async () => {
    const text = beat({ pad: 'x'.repeat(2 * MIB) })
    const { get } = fleetOf({ 'b/ship.json': text, 'b/logs/a.log': 'x\n', 'b/node.json': text })
    expect((await get('/nodes/b/api/v1/log/list')).json()).toEqual([{ name: 'a.log', size: 2 }])
    expect((await get('/nodes/b/api/v1/log/view?file=a.log')).text).toBe('x\n')
    const config = await get('/nodes/b/api/v1/config')
    expect([config.status, config.json().type]).not.toEqual([500, '/problems/internal'])
    expect(config.status).toBeGreaterThanOrEqual(500)
  })

  it('are read whole up to 1 MiB', async () => {
    const pad = 'x'.repeat(900_000)
    const { list } = nodesOf(memoryStore({ 'a/ship.json': beat({ pad }), 'b/ship.json': beat({ pad }) }))
    expect((await list()).map(({ node, error }) => [node, error])).toEqual([
      [NODE, null],
      [NODE, null],
    ])
  })
})

describe('a home', () => {
  it.each(['config.toml', 'logs/a.log', 'segments/a.log/99999998/x', 'ship.json', 'node.json'])(
    'is a folder with %s',
    async (name) => {
      const text = name === 'ship.json' ? beat() : name === 'node.json' ? JSON.stringify(NODE) : 'a = 1\n'
      const described = name.endsWith('.json')
      const { get } = fleetOf({ [`db/${name}`]: text })
      expect((await get('/api/v1/nodes')).json()).toMatchObject([
        { id: 'db', described, node: described ? NODE : null, error: null },
      ])
      expect((await get('/nodes/db/api/v1/log/list')).status).toBe(200)
    },
  )

  it.each(['notes.txt', 'log/a.log', 'config.toml/x', 'logs', 'deep/node.json'])(
    'is not a folder with %s',
    async (name) => {
      const { get } = fleetOf({ [`db/${name}`]: 'x' })
      expect((await get('/api/v1/nodes')).json()).toEqual([])
      expect((await get('/nodes/db/api/v1/log/list')).status).toBe(404)
    },
  )

  it('has the description in its node.json where its shipper does not know one', async () => {
    const { get } = fleetOf({ 'db/ship.json': beat({ node: null }), 'db/node.json': JSON.stringify(NODE) })
    const [node] = (await get('/api/v1/nodes')).json() as FleetNode[]
    expect(node).toMatchObject({ node: NODE, described: true, age: 0 })
  })
})

describe('the list of nodes', () => {
  it('is one LIST and one GET for each in five seconds, however many ask', async () => {
    const clock = manualClock()
    const { noted, calls } = noting(many(30))
    const { list, nodes } = nodesOf(noted, { clock })
    await Promise.all([list(), list(), list(7), nodes.ids(EVERYTHING)])
    await list()
    expect(calls.filter((call) => call.startsWith('LIST'))).toEqual(['LIST '])
    expect(calls).toHaveLength(31)
    clock.skip(4900)
    await list()
    expect(calls).toHaveLength(31)
    clock.skip(200)
    await list()
    expect(calls).toHaveLength(62)
  })

  it('asks many nodes at once', async () => {
    const store = many(300)
    let most = 0
    let running = 0
    const slow: Store = {
      ...store,
      async read(...asked) {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 30))
        running--
        return store.read(...asked)
      },
    }
    const { errors } = nodesOf(slow)
    expect(new Set(await errors())).toEqual(new Set([null]))
    expect(most).toBe(64)
  })

  it('lets others have their turn while a disk answers at once', async () => {
    const store = many(200)
    const busy: Store = {
      ...store,
      read(...asked) {
        for (const end = performance.now() + 1; performance.now() < end; );
        return store.read(...asked)
      },
    }
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await nodesOf(busy).list()
    clearInterval(timer)
    expect(turns).toBeGreaterThan(5)
  })

  it('waits four seconds at most, says what is not known yet, and knows it later', async () => {
    const store = many(200)
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow: Store = {
      ...store,
      async read(key, ...rest) {
        if (key.startsWith('n0007/')) await gate
        return store.read(key, ...rest)
      },
    }
    const { errors } = nodesOf(slow)
    const start = performance.now()
    const first = await errors()
    expect(performance.now() - start).toBeLessThan(4500)
    expect(first.flatMap((error, i) => (error === null ? [] : [[i, error]]))).toEqual([[7, 'not-asked']])
    release()
    // It was still being asked: nothing has to wait for it again.
    const again = performance.now()
    expect(new Set(await errors())).toEqual(new Set([null]))
    expect(performance.now() - again).toBeLessThan(2000)
  }, 15_000)

  it('fails when the names cannot be listed in time', async () => {
    const store: Store = {
      ...many(1),
      async *list() {
        await new Promise(() => {})
      },
    }
    await expect(nodesOf(store).list()).rejects.toMatchObject({ code: 'timeout' })
  }, 15_000)

  it('makes no more requests than a platform allows, and gets on with the next', async () => {
    const folders = Array.from({ length: 40 }, (_, i) => [`${idOf(i)}/logs/a.log`, 'x'])
    const { noted, calls } = noting(memoryStore(Object.fromEntries(folders)))
    const { errors } = nodesOf(noted, { calls: 48, atOnce: 6, shared: false })
    // Three requests each, as nothing describes them.
    const unknown = async () => (await errors()).filter((error) => error === 'not-asked').length
    const left: number[] = []
    while (left.at(-1) !== 0 && left.length < 5) {
      calls.length = 0
      left.push(await unknown())
      expect(calls.length).toBeLessThanOrEqual(48)
    }
    expect(left[0]).toBeGreaterThan(20)
    expect(left.at(-1)).toBe(0)
  })

  it('has forty nodes a page where it is told to', async () => {
    const { noted, calls } = noting(many(90))
    const app = createFleet({ store: noted, pageNodes: 40, listCalls: 48, follow: { shared: false } })
    const ids: string[] = []
    const sizes: number[] = []
    for (let query = '?limit=1000'; query !== ''; ) {
      calls.length = 0
      const response = await app.request(`/api/v1/nodes${query}`)
      const nodes = (await response.json()) as FleetNode[]
      expect(nodes.map(({ error }) => error)).toEqual(nodes.map(() => null))
      expect(calls.length).toBeLessThanOrEqual(48)
      sizes.push(nodes.length)
      ids.push(...nodes.map(({ id }) => id))
      query = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1] ?? ''
    }
    expect(sizes).toEqual([40, 40, 10])
    expect(ids).toEqual(Array.from({ length: 90 }, (_, i) => idOf(i)))
  })
})

describe('an unknown node', () => {
  const files = { 'db-prod-14/ship.json': beat(), 'db-prod-15/ship.json': beat(), 'web/ship.json': beat() }

  it('is a 404 that names the nearest one', async () => {
    const { get } = fleetOf(files)
    for (const path of ['log/list', 'log/view?file=a.log', 'config', 'log/histogram?file=a.log', 'nope']) {
      const { status, json } = await get(`/nodes/db-prod-41/api/v1/${path}`)
      expect([status, json().type]).toEqual([404, '/problems/unknown-node'])
      expect(json().detail).toBe(
        'There is no node with this id: did you mean db-prod-14? Take one from /api/v1/nodes.',
      )
    }
    expect((await get('/nodes/elsewhere/api/v1/config')).json().detail).toBe(
      'There is no node with this id; take one from /api/v1/nodes.',
    )
  })

  it('is a 401 without a token', async () => {
    const { get } = fleetOf(files, { token: 'secret' })
    for (const id of ['db-prod-41', '-x', 'a%2Fb']) {
      expect((await get(`/nodes/${id}/api/v1/config`)).status, id).toBe(401)
      expect((await get(`/nodes/${id}/api/v1/config`, 'secret')).status, id).toBe(404)
    }
  })

  it('exists a second after it appears, and its failure is not hidden', async () => {
    const store = memoryStore(files)
    const app = createFleet({ store, onError: () => {} })
    const status = async () => (await app.request('/nodes/new/api/v1/log/list')).status
    expect(await status()).toBe(404)
    store.put('new/logs/a.log', 'x')
    await expect.poll(status, { timeout: 3000 }).toBe(200)
    const failing: Store = {
      ...store,
      read: () => Promise.reject(new StoreError('denied', 'no')),
      // biome-ignore lint/correctness/useYield: it fails at once
      async *list() {
        throw new StoreError('denied', 'no')
      },
    }
    const refused = await createFleet({ store: failing, onError: () => {} }).request(
      '/nodes/x/api/v1/log/list',
    )
    expect([refused.status, ((await refused.json()) as { type: string }).type]).toEqual([
      503,
      '/problems/storage-denied',
    ])
  })
})

describe('tokens', () => {
  const files = {
    'db-1/ship.json': beat(lags({ 'a.log': 5, 'b.log': 7 })),
    'db-1/logs/a.log': 'x\n',
    'db-2/ship.json': beat(),
    'db-2/logs/a.log': 'x\n',
    'web-1/ship.json': beat(),
    'web-1/logs/secret.log': 'x\n',
  }
  const tokens: Token[] = [
    { name: 'all', token: 'all' },
    { name: 'metrics', token: 'metrics', scopes: ['metrics'] },
    { name: 'config', token: 'config', scopes: ['config'] },
    { name: 'logs', token: 'logs', scopes: ['logs'] },
    { name: 'a', token: 'a', files: ['a.log'] },
    { name: 'db', token: 'db', nodes: ['db-*'] },
    { name: 'two', token: 'two', nodes: ['db-2'], scopes: ['logs'] },
    { name: 'none', token: 'none', nodes: [] },
  ]
  const { get } = fleetOf(files, { tokens: () => tokens, loki })
  const idsFor = async (token: string) =>
    ((await get('/api/v1/nodes', token)).json() as FleetNode[]).map(({ id }) => id)

  it('need the scope logs or config to list nodes', async () => {
    expect((await get('/api/v1/nodes')).status).toBe(401)
    const refused = await get('/api/v1/nodes', 'metrics')
    expect([refused.status, refused.json().type]).toEqual([403, '/problems/forbidden'])
    for (const token of ['config', 'two']) expect((await get('/api/v1/nodes', token)).status).toBe(200)
  })

  it('see each member of a node by its scope', async () => {
    const counts = { 'a.log': { lastLine: 9, minutes: {}, day: { from: 0, step: 1, text: '' } } }
    const beats = { 'db/ship.json': beat({ ...lags({ 'a.log': 5 }), counts }) }
    const one = fleetOf(beats, { tokens: () => tokens })
    const known = async (token: string) => {
      const [node] = (await one.get('/api/v1/nodes', token)).json() as FleetNode[]
      const told = Object.entries(node!).filter(([, value]) => value !== null)
      return [node, told.map(([name]) => name)] as const
    }
    const all = ['id', 'node', 'described', 'shipped', 'age', 'lag', 'errors', 'warnings', 'lastLine', 'day']
    expect((await known('all'))[1]).toEqual(all)
    expect((await known('config'))[1]).toEqual(['id', 'node', 'described'])
    const [node, told] = await known('logs')
    expect(told).toEqual(all.filter((name) => name !== 'node'))
    // Members that are not told are null, and not left out.
    expect(node).toMatchObject({ node: null, described: true, error: null })
    expect(Object.keys((await known('config'))[0]!)).toEqual(Object.keys(node!))
  })

  it('see the lag of their files only, however many lag', async () => {
    const hidden = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`hidden-${i}.log`, 7]))
    const lagging = { 'db/ship.json': beat(lags({ 'a.log': 5, ...hidden })) }
    const many = fleetOf(lagging, { tokens: () => tokens })
    const lagFor = async (token: string) =>
      ((await many.get('/api/v1/nodes', token)).json() as FleetNode[])[0]!.lag
    expect([await lagFor('all'), await lagFor('a')]).toEqual([2105, 5])
  })

  it('see the lag of their files only', async () => {
    const lagFor = async (token: string) =>
      ((await get('/api/v1/nodes', token)).json() as FleetNode[])[0]!.lag
    expect(await lagFor('all')).toBe(12)
    expect(await lagFor('a')).toBe(5)
    const narrow = fleetOf(files, { include: ['b*'] })
    expect(((await narrow.get('/api/v1/nodes')).json() as FleetNode[])[0]!.lag).toBe(7)
  })

  it('see their nodes only: others are not there, in lists, by path and in Loki', async () => {
    expect(await idsFor('all')).toEqual(['db-1', 'db-2', 'web-1'])
    expect(await idsFor('db')).toEqual(['db-1', 'db-2'])
    expect(await idsFor('two')).toEqual(['db-2'])
    expect(await idsFor('none')).toEqual([])
    for (const path of [
      'log/list',
      'log/view?file=secret.log',
      'log/view?file=secret.log&follow=true',
      'nope',
    ])
      expect((await get(`/nodes/web-1/api/v1/${path}`, 'db')).text).toBe(
        (await get(`/nodes/web-9/api/v1/${path}`, 'db')).text,
      )
    expect((await get('/nodes/web-1/api/v1/log/list', 'db')).status).toBe(404)
    expect((await get('/nodes/web-1/loki/api/v1/label/file/values', 'db')).status).toBe(404)
    expect((await get('/nodes/db-1/api/v1/log/list', 'db')).status).toBe(200)
    expect((await get('/nodes/db-1/api/v1/log/list', 'two')).status).toBe(404)
    // The nearest id is one that the token may see.
    expect((await get('/nodes/web-2/api/v1/log/list', 'db')).text).not.toContain('web-1')
    expect((await get('/nodes/web-2/api/v1/log/list', 'all')).text).toContain('web-1')
    const values = async (label: string, token: string) =>
      (await get(`/loki/api/v1/label/${label}/values`, token)).json().data
    expect(await values('node', 'all')).toEqual(['db-1', 'db-2', 'web-1'])
    expect(await values('node', 'db')).toEqual(['db-1', 'db-2'])
    expect(await values('file', 'two')).toEqual(['a.log'])
    const query = encodeURIComponent('{node="web-1"}')
    expect((await get(`/loki/api/v1/query_range?query=${query}`, 'db')).json().data.result).toEqual([])
  })
})
