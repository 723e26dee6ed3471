import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openHome } from '../../../../src/core/node/home.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { versionKey } from '../../../../src/store/segment/configs.ts'
import type { Store } from '../../../../src/store/store.ts'
import { cleanUp, serve, temporaryDirectory } from '../../../program.ts'
import { createApp, createFleet } from '../../../support/app.ts'

afterEach(cleanUp)

const NODE = { hostIp: '192.0.2.4', hostName: 'db-4', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const T = Date.UTC(2026, 10, 14, 2)
const HISTORY = '/api/v1/config/history'

/** A home with versions a minute apart, the oldest first. */
function homeOf(texts: string[], more: Record<string, string> = {}) {
  const versions = texts.map((text, i) => [versionKey({ time: T + i * 60_000, crc: i }), text] as const)
  const files = { 'node.json': JSON.stringify(NODE), ...Object.fromEntries(versions), ...more }
  const store = memoryStore(files)
  const reads: string[] = []
  const counting: Store = {
    ...store,
    read: (key, ...rest) => {
      reads.push(key)
      return store.read(key, ...rest)
    },
  }
  const app = createApp({ logs: memoryStore(), ...openHome(counting), onError: () => {} })
  const get = async (path: string, init?: RequestInit) => {
    const answer = await app.request(path, init)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text && JSON.parse(text) }
  }
  return { get, store, reads, app }
}

describe('GET /api/v1/config/history', () => {
  it('has every version, newest first, with what changed', async () => {
    const texts = [
      '[query]\nmax = 30\n',
      '[query]\nmax = 30 # é\n',
      '[query]\nmax = 64\n',
      '[query]\nmax = 30\n',
    ]
    const { get } = homeOf(texts, { 'config.toml': texts[3]! })
    const { status, body } = await get(HISTORY)
    expect(status).toBe(200)
    expect(body.map(({ time }: { time: number }) => (time - T) / 60_000)).toEqual([3, 2, 1, 0])
    expect(body.map(({ changes }: { changes: unknown }) => changes)).toEqual([
      [{ key: 'query.max', before: '64', after: '30' }],
      [{ key: 'query.max', before: '30', after: '64' }],
      [],
      [],
    ])
    for (const entry of body) expect(Object.keys(entry)).toEqual(['time', 'etag', 'size', 'changes'])
    expect(body[2].size).toBe(new TextEncoder().encode(texts[1]).length)
    expect(body[0].etag).toBe(body[3].etag)
    expect(body[0].etag).not.toBe(body[1].etag)
  })

  it('has the newest N, and knows the version before them', async () => {
    const { get } = homeOf(['a = 1', 'a = 2', 'a = 3'])
    const { body } = await get(`${HISTORY}?limit=2`)
    expect(body.map(({ changes }: { changes: unknown }) => changes)).toEqual([
      [{ key: 'a', before: '2', after: '3' }],
      [{ key: 'a', before: '1', after: '2' }],
    ])
    for (const bad of ['0', '-1', '1001', 'x', '1&limit=2'])
      expect((await get(`${HISTORY}?limit=${bad}`)).status, bad).toBe(400)
  })

  it('answers 304 without reading a version, and reads each one once', async () => {
    const { get, reads, store } = homeOf(Array.from({ length: 30 }, (_, i) => `a = ${i}`))
    const first = await get(HISTORY)
    expect(reads).toHaveLength(30)
    const headers = { 'If-None-Match': first.headers.get('ETag')! }
    expect((await get(HISTORY, { headers })).status).toBe(304)
    expect((await get(HISTORY)).body).toEqual(first.body)
    expect((await get(HISTORY, { method: 'HEAD' })).body).toBe('')
    expect(reads).toHaveLength(30)
    store.put(versionKey({ time: T + 1e9, crc: 1 }), 'a = 99')
    const next = await get(HISTORY, { headers })
    expect(next.status).toBe(200)
    expect(next.body[0].changes).toEqual([{ key: 'a', before: '29', after: '99' }])
    expect(next.body.slice(1)).toEqual(first.body)
    expect(reads).toHaveLength(32)
  })

  it('has the one version that there is where none are kept', async () => {
    const { get, store } = homeOf([], { 'config.toml': 'a = 1\npassword = "hunter22"\n' })
    const { modified } = (await store.stat('config.toml'))!
    const { body, headers } = await get(HISTORY)
    expect(body).toEqual([{ time: modified, etag: expect.any(String), size: 28, changes: [] }])
    expect((await get(HISTORY, { headers: { 'If-None-Match': headers.get('ETag')! } })).status).toBe(304)
    const online = createApp({ logs: memoryStore(), config: 'a = 1', facts: { onlineTime: 5 } })
    expect(await (await online.request(HISTORY)).json()).toMatchObject([{ time: 5, size: 5, changes: [] }])
  })

  it('masks again what a bucket has, and does not tell that a secret changed', async () => {
    const { get } = homeOf(['password = "first-one"\na = 1', 'password = "second-one"\na = 2'])
    const history = await get(HISTORY)
    expect(history.body[0].changes).toEqual([{ key: 'a', before: '1', after: '2' }])
    const version = await get(`/api/v1/config?at=${T}`)
    expect(version.body.config).toBe('password = "********"\na = 1')
    expect(JSON.stringify([history.body, version.body])).not.toMatch(/-one/)
  })

  it('says which changes are not known', async () => {
    const { get } = homeOf(['a = 1', 'a = ', 'a = 2', `a = "${'x'.repeat(1024 * 1024)}"`])
    const { body } = await get(HISTORY)
    expect(body.map((entry: { error?: string; changes: [] }) => [entry.error, entry.changes])).toEqual([
      ['too-large', []],
      ['not-toml', []],
      ['not-toml', []],
      [undefined, []],
    ])
  })

  it('stops within its budget, and says so', async () => {
    const store = memoryStore()
    for (let i = 0; i < 20; i++)
      store.put(versionKey({ time: T + i, crc: i }), `a = ${i} #${'x'.repeat(1000)}`)
    const app = createApp({ logs: memoryStore(), ...openHome(store), limits: { scanBytes: 5000 } })
    const answer = await app.request(HISTORY)
    expect(answer.headers.get('X-Nodestate-Note')).toBe('scan-budget')
    expect(answer.headers.has('ETag')).toBe(false)
    const body = await answer.json()
    expect(body.length).toBeLessThan(20)
    expect(body[0].changes).toEqual([{ key: 'a', before: '18', after: '19' }])
  })

  it('reads no more than it shows, of however many versions', async () => {
    let listed = 0
    const store = memoryStore({ 'node.json': JSON.stringify(NODE) })
    const endless: Store = {
      ...store,
      async *list() {
        for (let i = 0; ; i++, listed++) {
          const key = versionKey({ time: T - i, crc: i })
          yield { key, size: 5, modified: T, etag: `"${i}"` }
        }
      },
      read: async (key, range, options) => store.read(key, range, options),
    }
    for (let i = 0; i < 1100; i++) store.put(versionKey({ time: T - i, crc: i }), `a = ${i}`)
    const app = createApp({ logs: memoryStore(), ...openHome(endless), onError: () => {} })
    const answer = await app.request(`${HISTORY}?limit=1000`)
    expect(await answer.json()).toHaveLength(1000)
    expect(listed).toBeLessThanOrEqual(1001)
    expect((await app.request(`/api/v1/config?at=${T}`)).status).toBe(200)
  })

  it('stops at a folder that is full of something else, and says so', async () => {
    const store = memoryStore({ 'node.json': JSON.stringify(NODE) })
    const endless: Store = {
      ...store,
      async *list() {
        for (let i = 0; ; i++) yield { key: `configs/${i}.txt`, size: 5, modified: T, etag: `"${i}"` }
      },
    }
    const app = createApp({ logs: memoryStore(), ...openHome(endless), onError: () => {} })
    for (const path of [HISTORY, `/api/v1/config?at=${T}`])
      expect(await (await app.request(path)).json(), path).toMatchObject({
        type: '/problems/bad-object',
        detail: expect.stringContaining('delete them'),
      })
  })

  it('needs the scope config, and is there for each node of a fleet', async () => {
    const store = memoryStore({
      'db-1/node.json': JSON.stringify(NODE),
      [`db-1/${versionKey({ time: T, crc: 1 })}`]: 'a = 1',
      [`db-1/${versionKey({ time: T + 1, crc: 2 })}`]: 'a = 2',
    })
    const tokens = [
      { name: 'c', token: 'config-token', scopes: ['config'] as const },
      { name: 'l', token: 'logs-token', scopes: ['logs'] as const },
      { name: 'n', token: 'other-token', nodes: ['db-2'] },
    ]
    const fleet = createFleet({ store, tokens: () => tokens, onError: () => {} })
    const get = (token: string) =>
      fleet.request(`/nodes/db-1${HISTORY}`, { headers: { Authorization: `Bearer ${token}` } })
    const answer = await get('config-token')
    expect(await answer.json()).toMatchObject([{ time: T + 1 }, { time: T }])
    expect((await get('logs-token')).status).toBe(403)
    expect((await get('other-token')).status).toBe(404)
  })
})

describe('a home in a directory', () => {
  it.each(['--home', '--fleet'])('has a history, with %s and with versions or without', async (flag) => {
    const homes = temporaryDirectory()
    for (const id of ['db-1', 'db-2']) {
      mkdirSync(join(homes, id, 'logs'), { recursive: true })
      writeFileSync(join(homes, id, 'node.json'), JSON.stringify(NODE))
      writeFileSync(join(homes, id, 'config.toml'), 'a = 2')
      utimesSync(join(homes, id, 'config.toml'), 5, 5)
    }
    mkdirSync(join(homes, 'db-1/configs'))
    for (const [i, text] of ['a = 1', 'a = 2'].entries())
      writeFileSync(join(homes, 'db-1', versionKey({ time: T + i, crc: i })), text)
    const expected = {
      'db-1': [
        { time: T + 1, changes: [{ key: 'a', before: '1', after: '2' }] },
        { time: T, changes: [] },
      ],
      'db-2': [{ time: 5000, changes: [] }],
    }
    for (const [id, history] of Object.entries(expected)) {
      const place = flag === '--home' ? join(homes, id) : homes
      const { url } = await serve(['--port=0', flag, place])
      const base = flag === '--home' ? url : `${url}/nodes/${id}`
      expect(await (await fetch(base + HISTORY)).json()).toMatchObject(history)
    }
  })

  it('is not needed next to a node, where the file has a time', async () => {
    const logs = temporaryDirectory()
    const config = join(logs, 'node.toml')
    writeFileSync(config, 'a = 1')
    utimesSync(config, 7, 7)
    const { url } = await serve(['--port=0', '--logs', logs, '--config', config])
    expect(await (await fetch(url + HISTORY)).json()).toMatchObject([{ time: 7000, size: 5, changes: [] }])
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('changed_timestamp_seconds 7\n')
  })
})

describe('GET /api/v1/config?at=', () => {
  it('refuses a version that takes more memory than the service has, and says what to do', async () => {
    const large = `text = '${'x'.repeat(1000 * 1024)}'\n`
    const versions = {
      [versionKey({ time: T, crc: 1 })]: large,
      [versionKey({ time: T + 1, crc: 2 })]: 'a = 1\n',
    }
    const store = memoryStore({ 'node.json': JSON.stringify(NODE), ...versions })
    const open = (memory: number) =>
      createApp({ logs: memoryStore(), ...openHome(store), limits: { memory }, onError: () => {} })
    const small = open(16 * 1024 * 1024)
    const refused = await small.request(`/api/v1/config?at=${T}`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('Retry-After')).not.toBeNull()
    expect(await refused.json()).toMatchObject({
      type: '/problems/too-busy',
      detail: expect.stringContaining('memory'),
    })
    expect((await small.request(`/api/v1/config?at=${T + 1}`)).status).toBe(200)
    expect((await open(512 * 1024 * 1024).request(`/api/v1/config?at=${T}`)).status).toBe(200)
  })

  it('is a 413 above 1 MiB, of which no more than that is read', async () => {
    const large = `# ${'x'.repeat(1024 * 1024)}`
    const { get, reads } = homeOf(['a = 1', large], { 'config.toml': large })
    const problem = {
      type: '/problems/config-too-large',
      status: 413,
      detail:
        'The configuration has more than 1 MiB, the most that is parsed and masked; read it on the node, or move data out of it.',
    }
    expect((await get('/api/v1/config?at=now')).body).toMatchObject(problem)
    expect(reads.filter((key) => key.startsWith('configs/'))).toEqual([])
    expect((await get(`/api/v1/config?at=${T}`)).body).toMatchObject({ config: 'a = 1' })
    expect((await get('/api/v1/config')).body).toMatchObject(problem)
    expect((await get(HISTORY)).body).toMatchObject([{ error: 'too-large' }, { changes: [] }])
    const alone = createApp({ logs: memoryStore(), config: large })
    for (const path of ['/api/v1/config', '/api/v1/config?at=now', HISTORY])
      expect(await (await alone.request(path)).json(), path).toMatchObject(problem)
    const exact = `# ${'é'.repeat(512 * 1024 - 1)}`
    const shown = await createApp({ logs: memoryStore(), config: exact }).request('/api/v1/config')
    expect((await shown.json()).config).toBe(exact)
    const above = await createApp({ logs: memoryStore(), config: `${exact}x` }).request('/api/v1/config')
    expect(above.status).toBe(413)
  })

  it('has the version that held at a time', async () => {
    const { get } = homeOf(['a = 1', 'a = 2', 'a = 3'])
    const at = async (time: number | string) => (await get(`/api/v1/config?at=${time}`)).body
    expect(await at(T)).toEqual({ config: 'a = 1', node: NODE, time: T })
    expect(await at(T + 59_999)).toMatchObject({ config: 'a = 1', time: T })
    expect(await at(T + 60_000)).toMatchObject({ config: 'a = 2', time: T + 60_000 })
    expect(await at('2026-11-14T02:01:30Z')).toMatchObject({ config: 'a = 2' })
    expect(await at('9999-12-31')).toMatchObject({ config: 'a = 3' })
    expect(Object.keys((await get(`/api/v1/config?at=${T}&detail=true`)).body)).toEqual([
      'config',
      'node',
      'known',
      'time',
    ])
  })

  it('is a 404 before the first, and a 400 for what is no time', async () => {
    const { get } = homeOf(['a = 1'])
    for (const time of [T - 1, '1970-01-01', '1969-12-31', '0001-01-01']) {
      const { status, body } = await get(`/api/v1/config?at=${time}`)
      expect([status, body.type], String(time)).toEqual([404, '/problems/no-version'])
    }
    expect((await get('/api/v1/config?at=whenever')).status).toBe(400)
    const single = homeOf([], { 'config.toml': 'a = 1' })
    expect((await single.get('/api/v1/config?at=now')).body).toMatchObject({ config: 'a = 1' })
    expect((await single.get('/api/v1/config?at=1h')).body.type).toBe('/problems/no-version')
  })

  it('has a tag unless it depends on the clock', async () => {
    const { get } = homeOf(['a = 1'])
    const { headers } = await get(`/api/v1/config?at=${T}`)
    const again = { headers: { 'If-None-Match': headers.get('ETag')! } }
    expect((await get(`/api/v1/config?at=${T}`, again)).status).toBe(304)
    for (const at of ['1ms', '1ms ago', '-1ms', 'now-1ms'])
      expect((await get(`/api/v1/config?at=${at}`)).headers.has('ETag'), at).toBe(false)
  })
})
