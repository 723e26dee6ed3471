import { describe, expect, it } from 'vitest'
import { Budget } from '../../src/kit/limits/budget.ts'
import { Comparison, TooManyDifferences } from '../../src/routes/insight/config/compare.ts'
import { valuesOf } from '../../src/routes/insight/config/values.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { type Store, StoreError } from '../../src/store/store.ts'
import { createFleet, type FleetOptions } from '../support/app.ts'

const NODE = { hostIp: '10.0.0.1', hostName: 'h', grpcPort: 0, httpPort: 0, version: '1', onlineTime: 3 }
const COMPARE = '/api/v1/config/compare'

/** The home of a node with a port and an address of its own. */
function home(id: string, config: string | null, node: Partial<typeof NODE> = {}): Record<string, string> {
  return {
    [`${id}/node.json`]: JSON.stringify({ ...NODE, hostName: id, ...node }),
    ...(config !== null && { [`${id}/config.toml`]: config }),
  }
}

function fleetOf(files: Record<string, string>, options: Partial<FleetOptions> = {}) {
  const store = memoryStore(files)
  const asked: string[] = []
  const counting: Store = {
    ...store,
    list: (...given) => {
      asked.push('LIST')
      return store.list(...given)
    },
    read: (key, ...rest) => {
      asked.push(key)
      return store.read(key, ...rest)
    },
  }
  const app = createFleet({ store: counting, onError: () => {}, ...options })
  const get = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await app.request(`${COMPARE}${query}`, { headers })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, body: text && JSON.parse(text) }
  }
  return { app, get, asked, store }
}

describe('GET /api/v1/config/compare', () => {
  it('has exactly the documented members', async () => {
    const { get } = fleetOf({
      ...home('db-1', '[query]\nconcurrency = 16\nregion = "eu"\n'),
      ...home('db-2', '# the same\nquery = { region = "eu", concurrency = 16 }\n'),
      ...home('db-7', '[query]\nconcurrency = 64\nregion = "eu"\nextra = true\n'),
      ...home('db-9', null),
    })
    const { status, body, text } = await get('?node=db-*')
    expect(status).toBe(200)
    expect(body).toEqual({
      nodes: ['db-1', 'db-2', 'db-7'],
      missing: { 'db-9': 'no-config' },
      keys: [
        {
          key: 'query.concurrency',
          values: [
            { value: '16', nodes: ['db-1', 'db-2'] },
            { value: '64', nodes: ['db-7'] },
          ],
          expected: false,
        },
        {
          key: 'query.extra',
          values: [{ nodes: ['db-1', 'db-2'] }, { value: 'true', nodes: ['db-7'] }],
          expected: false,
        },
      ],
    })
    expect(Object.keys(JSON.parse(text))).toEqual(['nodes', 'missing', 'keys'])
  })

  it('shows the one planted difference first, of forty that are expected', async () => {
    const files: Record<string, string> = {}
    const configOf = (i: number) => {
      const own = [`db-${i}`, `10.0.0.${i}`, 2890 + i, 3000 + i] as const
      const [id, ip, grpc, http] = own
      const lines = Array.from({ length: 10 }, (_, k) => [
        `a${k} = "${id}:${grpc}"`,
        `b${k} = "/data/${id}/${k}"`,
        `c${k} = { url = "http://${ip}:${http}/${k}", port = ${http} }`,
        `d${k} = "${(i * 7919 + k).toString(36)}-serial"`,
      ]).flat()
      return `${lines.join('\n')}\n[query]\nmax-workers = ${i === 7 ? 64 : 30}\n`
    }
    for (let i = 1; i <= 12; i++)
      Object.assign(
        files,
        home(`db-${i}`, configOf(i), { hostIp: `10.0.0.${i}`, grpcPort: 2890 + i, httpPort: 3000 + i }),
      )
    const { get } = fleetOf(files)
    const { body } = await get('?node=db-*')
    expect(body.nodes).toHaveLength(12)
    const [first, ...others] = body.keys
    expect(first).toMatchObject({ key: 'query.max-workers', expected: false })
    expect(first.values[1]).toEqual({ value: '64', nodes: ['db-7'] })
    expect(others).toHaveLength(50)
    for (const { key, expected } of others) expect([key, expected]).toEqual([key, true])
    expect(others.map(({ key }: { key: string }) => key)).toEqual(
      others.map(({ key }: { key: string }) => key).sort(),
    )
  })

  it('puts what few nodes have before what many have, and does not excuse what is missing', async () => {
    const files: Record<string, string> = {}
    for (let i = 1; i <= 6; i++) {
      const serial = i === 3 ? '' : `serial = "s${i}x"\n`
      const peer = i === 5 ? 'db-4' : `db-${i}`
      Object.assign(
        files,
        home(`db-${i}`, `half = ${i % 2}\nodd = ${i === 2}\nowner = "${peer}"\n${serial}same = 1\n`),
      )
    }
    const { get } = fleetOf(files)
    const { body } = await get('?node=db-?')
    expect(body.keys.map(({ key, expected }: { key: string; expected: boolean }) => [key, expected])).toEqual(
      [
        // One node is called as another.
        ['odd', false],
        ['owner', false],
        ['half', false],
        ['serial', false],
      ],
    )
    const three = await get('?node=db-1&node=db-2&node=db-4')
    const serial = three.body.keys.find(({ key }: { key: string }) => key === 'serial')
    expect(serial.expected, 'three nodes are too few').toBe(false)
  })

  it('does not take a table for a difference of its own', async () => {
    const { get } = fleetOf({ ...home('a', '[t]\n'), ...home('b', '[t]\nx = 1\n') })
    const keys = async () => (await get('?node=*')).body.keys.map(({ key }: { key: string }) => key)
    expect(await keys()).toEqual(['t.x'])
    const absent = fleetOf({ ...home('a', '[t]\n'), ...home('b', '') })
    expect((await absent.get('?node=*')).body.keys).toEqual([
      { key: 't', values: [{ nodes: ['b'] }, { value: '{}', nodes: ['a'] }], expected: false },
    ])
  })

  it('names every node that it cannot compare', async () => {
    const files = {
      ...home('ok-1', 'a = 1'),
      ...home('ok-2', 'a = 2'),
      ...home('none', null),
      ...home('broken', 'a = '),
      ...home('large', `a = "${'x'.repeat(1024 * 1024)}"`),
      ...home('denied', 'a = 3'),
      ...home('busy', 'a = 3'),
      'folder/other.txt': 'x',
    }
    const store = memoryStore(files)
    const failing: Store = {
      ...store,
      read: (key, ...rest) => {
        if (key === 'denied/config.toml') return Promise.reject(new StoreError('denied', 'x'))
        if (key === 'busy/config.toml') return Promise.reject(new StoreError('throttled', 'x'))
        return store.read(key, ...rest)
      },
    }
    const { get } = fleetOf({}, { store: failing })
    const { body } = await get('?node=*')
    expect(body.nodes).toEqual(['ok-1', 'ok-2'])
    expect(body.missing).toEqual({
      broken: 'not-toml',
      busy: 'storage-throttled',
      denied: 'storage-denied',
      large: 'too-large',
      none: 'no-config',
    })
    expect((await get('?node=folder')).body.type).toBe('/problems/unknown-node')
    expect((await get('?node=ok-1&node=fold*')).status).toBe(404)
  })

  it('is a 400 without a node, and a 404 for a pattern without one', async () => {
    const { get } = fleetOf({ ...home('db-1', 'a = 1'), ...home('db-2', 'a = 1') })
    for (const query of ['', '?node=', '?nodes=db-1']) expect((await get(query)).status, query).toBe(400)
    for (const query of ['?node=db-9', '?node=x*', '?node=db-1&node=x*', '?node=..', '?node=db-1/']) {
      const { status, body } = await get(query)
      expect([status, body.type], query).toEqual([404, '/problems/unknown-node'])
    }
    expect((await get(`?node=${'{a,b}'.repeat(11)}`)).status).toBe(400)
    expect((await get('?node=db-1')).body).toEqual({ nodes: ['db-1'], missing: {}, keys: [] })
    expect((await get('?node=db-[12]&node=db-1')).body.nodes).toEqual(['db-1', 'db-2'])
  })

  it('compares 200 nodes and no more', async () => {
    const files: Record<string, string> = {}
    for (let i = 1; i <= 200; i++) Object.assign(files, home(`db-${i}`, `a = ${i === 77 ? 2 : 1}`))
    const ids = Array.from({ length: 200 }, (_, i) => `node=db-${i + 1}`).join('&')
    const { get, store } = fleetOf(files)
    for (const query of ['?node=*', `?${ids}`]) {
      const { body } = await get(query)
      expect(body.nodes).toHaveLength(200)
      expect(body.keys[0].values[1]).toEqual({ value: '2', nodes: ['db-77'] })
    }
    store.put('db-201/config.toml', 'a = 1')
    const fleet = createFleet({ store })
    const many = await fleet.request(`${COMPARE}?node=*`)
    expect(many.status).toBe(400)
    expect((await many.json()).detail).toContain('200')
    expect((await get(`?${ids}&node=db-201`)).status).toBe(400)
  })

  it('never shows a secret, nor that two differ', async () => {
    const { get } = fleetOf({
      ...home('db-1', 'password = "first-secret"\nurl = "pg://u:first-secret@h/x"\na = 1'),
      ...home('db-2', 'password = "other-secret"\nurl = "pg://u:other-secret@h/x"\na = 2'),
    })
    const { body, text } = await get('?node=*')
    expect(body.keys.map(({ key }: { key: string }) => key)).toEqual(['a'])
    expect(text).not.toContain('-secret')
  })

  it('applies the scope and the nodes of a token', async () => {
    const tokens = [
      { name: 'a', token: 'all-token', scopes: ['config'] as const },
      { name: 'l', token: 'logs-token', scopes: ['logs'] as const },
      { name: 'n', token: 'some-token', nodes: ['db-1', 'db-2'] },
    ]
    const files = { ...home('db-1', 'a = 1'), ...home('db-2', 'a = 1'), ...home('db-3', 'a = 3') }
    const { get } = fleetOf(files, { tokens: () => tokens })
    const as = (token: string, query: string) => get(query, { Authorization: `Bearer ${token}` })
    expect((await as('all-token', '?node=*')).body.nodes).toHaveLength(3)
    expect((await as('logs-token', '?node=*')).status).toBe(403)
    expect((await as('some-token', '?node=*')).body).toEqual({
      nodes: ['db-1', 'db-2'],
      missing: {},
      keys: [],
    })
    expect((await as('some-token', '?node=db-3')).status).toBe(404)
    expect((await get('?node=*')).status).toBe(401)
  })

  it('stays within the requests of the platform, and says what it did not reach', async () => {
    const files: Record<string, string> = {}
    for (let i = 10; i < 60; i++) Object.assign(files, home(`db-${i}`, 'a = 1'))
    const { get, asked } = fleetOf(files, { listCalls: 48, limits: { parallelReads: 6 } })
    const { body, headers } = await get('?node=*')
    expect(asked.length).toBeLessThanOrEqual(48)
    expect(body.nodes.length).toBeGreaterThan(10)
    expect(body.nodes.length + Object.keys(body.missing).length).toBe(50)
    expect(new Set(Object.values(body.missing))).toEqual(new Set(['budget']))
    expect(headers.has('ETag')).toBe(false)
  })

  it('ends in time if a home does not answer', async () => {
    const store = memoryStore({
      ...home('db-1', 'a = 1'),
      ...home('db-2', 'a = 2'),
      ...home('db-3', 'a = 3'),
    })
    const hanging: Store = {
      ...store,
      read: (key, ...rest) => (key === 'db-2/config.toml' ? new Promise(() => {}) : store.read(key, ...rest)),
    }
    const { get } = fleetOf({}, { store: hanging, limits: { scanMillis: 300 } })
    const { body } = await get('?node=*')
    expect(body.nodes).toEqual(['db-1', 'db-3'])
    expect(body.missing).toEqual({ 'db-2': 'budget' })
  })

  it('stays within the memory of the process, and says what did not fit', async () => {
    const files: Record<string, string> = {}
    for (let i = 0; i < 8; i++) {
      const keys = Array.from({ length: 5000 }, (_, k) => `k${i}x${k} = 1`)
      Object.assign(files, home(`db-${i}`, keys.join('\n')))
    }
    const { get } = fleetOf(files, {
      limits: { memory: 32 * 1024 * 1024, parallelReads: 2, scanMillis: 60_000 },
    })
    const { body } = await get('?node=*')
    expect(body.nodes.length).toBeGreaterThan(1)
    expect(new Set(Object.values(body.missing))).toEqual(new Set(['budget']))
    expect(body.nodes.length + Object.keys(body.missing).length).toBe(8)
    expect(body.keys).toHaveLength(5000 * body.nodes.length)
  })

  it('refuses an answer that would be too large', async () => {
    const comparison = new Comparison()
    for (const id of ['a', 'b']) comparison.add({ id, node: null, values: valuesOf(`${id} = 1`) })
    await expect(comparison.differences(new Budget(), 1000)).resolves.toHaveLength(2)
    await expect(comparison.differences(new Budget(), 100)).rejects.toThrow(TooManyDifferences)
  })

  it('has a tag, and no body for HEAD', async () => {
    const { get, app } = fleetOf({ ...home('db-1', 'a = 1'), ...home('db-2', 'a = 2') })
    const { headers } = await get('?node=*')
    expect((await get('?node=*', { 'If-None-Match': headers.get('ETag')! })).status).toBe(304)
    const head = await app.request(`${COMPARE}?node=*`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await app.request(`${COMPARE}?node=*`, { method: 'POST' })).status).toBe(405)
  })
})
