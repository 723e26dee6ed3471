import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { type Store, StoreError } from '../../src/store/store.ts'
import { createFleet, type FleetOptions } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'

const line = (second: number, text: string, level = 'INFO') =>
  `2026-11-16 02:41:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`
const NODE = { hostIp: '192.0.2.7', hostName: 'db', grpcPort: 1, httpPort: 2, version: '1', onlineTime: 3 }
const node = JSON.stringify(NODE)
const beat = (lagSeconds: number) =>
  JSON.stringify({
    host: 'h',
    run: 'r',
    node: NODE,
    logs: { 'a.log': { life: 1, size: 5, lagBytes: 1, lagSeconds } },
  })

const FILES = {
  'db-4/node.json': node,
  'db-4/logs/broker.log': line(1, 'one') + line(3, 'three', 'ERROR'),
  'db-4/logs/storage.log': line(2, 'two'),
  'db-7/node.json': node,
  'db-7/logs/broker.log': line(2, 'also two') + line(4, 'four'),
  'misc/readme.txt': 'no node\n',
}

function fleetOf(files: Record<string, string> = FILES, options: Partial<FleetOptions> = {}) {
  const store = memoryStore(files)
  const down = new Set<string>()
  const check = (key: string) => {
    for (const id of down) if (key.startsWith(`${id}/`)) throw new StoreError('timeout', 'down')
  }
  const failing: Store = {
    async *list(prefix, options) {
      check(prefix ?? '')
      yield* store.list(prefix, options)
    },
    async stat(key, options) {
      check(key)
      return store.stat(key, options)
    },
    async read(key, range, options) {
      check(key)
      return store.read(key, range, options)
    },
  }
  const app = createFleet({ store: failing, onError: () => {}, ...options })
  const get = (query: string, headers: Record<string, string> = {}) =>
    app.request(`http://localhost/api/v1/log/${query}`, { headers })
  return { store, down, get }
}

describe('the logs of a fleet', () => {
  it('are listed with their nodes', async () => {
    const { get } = fleetOf()
    const list = (await (await get('list?node=*')).json()) as { node: string; name: string; size: number }[]
    expect(list.map(({ node, name }) => `${node}/${name}`)).toEqual([
      'db-4/broker.log',
      'db-4/storage.log',
      'db-7/broker.log',
    ])
    expect(Object.keys(list[0]!).sort()).toEqual(['name', 'node', 'size'])
    const details = (await (await get('list?node=db-7&detail=true')).json()) as {
      node: string
      first: string
    }[]
    expect(details).toMatchObject([{ node: 'db-7', first: '2026-11-16T02:41:02.000Z' }])
  })

  it('are one timeline, with node and file', async () => {
    const { get } = fleetOf()
    const text = await (await get('view?node=*&file=*.log')).text()
    expect(text.split('\n').map((each) => each.split('\t')[0])).toEqual([
      'db-4/broker.log',
      'db-4/storage.log',
      'db-7/broker.log',
      'db-4/broker.log',
      'db-7/broker.log',
      '',
    ])
    const one = await get('view?node=db-7&file=broker.log&format=ndjson&lines=1')
    expect(JSON.parse(await one.text())).toMatchObject({ node: 'db-7', file: 'broker.log', message: 'four' })
  })

  it('are counted by node, by file and by level', async () => {
    const { get } = fleetOf()
    const counts = async (by: string) => {
      const found = (await (await get(`histogram?node=*&file=*&step=1m&by=${by}`)).json()) as {
        nodes?: string[]
        files?: string[]
        buckets: { counts: number[] }[]
      }
      return [found.nodes ?? found.files, found.buckets[0]!.counts]
    }
    expect(await counts('node')).toEqual([
      ['db-4', 'db-7'],
      [3, 2],
    ])
    expect(await counts('file')).toEqual([
      ['broker.log', 'storage.log'],
      [4, 1],
    ])
    expect(await counts('level')).toEqual([undefined, [0, 4, 0, 1, 0, 0]])
    const fields = (await (await get('fields?node=*&file=*')).json()) as { records: number }
    expect(fields.records).toBe(5)
  })

  it.each([
    ['no node', 'view?file=*', 400, 'bad-parameter'],
    ['no node', 'list', 400, 'bad-parameter'],
    ['no file', 'view?node=*', 400, 'bad-parameter'],
    ['an unknown node', 'view?node=db-5&file=*', 404, 'unknown-node'],
    ['a pattern of no node', 'list?node=x*', 404, 'unknown-node'],
    ['a folder that is no node', 'list?node=misc', 404, 'unknown-node'],
    ['a pattern of no log', 'view?node=*&file=*.txt', 404, 'unknown-file'],
  ])('refuse %s (%s)', async (_, query, status, code) => {
    const response = await fleetOf().get(query)
    expect(response.status).toBe(status)
    expect(((await response.json()) as { type: string }).type).toBe(`/problems/${code}`)
  })

  it('name a node that does not answer, and one that is not there', async () => {
    const { get, down } = fleetOf()
    down.add('db-7')
    const response = await get('view?node=*&file=broker.log')
    expect(response.status).toBe(200)
    expect(response.headers.get('X-Nodestate-Missing')).toBe('db-7;storage-timeout')
    const both = await get('view?node=db-4&node=db-9&file=*')
    expect(both.headers.get('X-Nodestate-Missing')).toBe('db-9;unknown-node')
    down.add('db-4')
    expect((await get('view?node=*&file=broker.log')).status).toBe(503)
    const silent = fleetOf()
    for (const id of ['db-4', 'db-7']) silent.down.add(id)
    expect((await silent.get('list?node=*')).status).toBe(503)
  })

  it('say up to when every node has shipped everything', async () => {
    const { get } = fleetOf({ ...FILES, 'db-4/ship.json': beat(90), 'db-7/ship.json': beat(0) })
    const answer = await get('view?node=*&file=broker.log')
    const settled = answer.headers.get('X-Nodestate-Settled')!
    const tag = answer.headers.get('ETag')!
    const same = await get('view?node=*&file=broker.log', { 'If-None-Match': tag })
    expect([same.status, same.headers.get('X-Nodestate-Settled')]).toEqual([304, settled])
    expect(settled).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const age = Date.now() - Date.parse(settled)
    expect(age).toBeGreaterThanOrEqual(90_000)
    expect(age).toBeLessThan(100_000)
    const alone = await fleetOf().get('view?node=*&file=broker.log')
    expect(alone.headers.get('X-Nodestate-Settled')).toBeNull()
  })

  it.each(['1e999', '1e300', '-1', '"x"'])('are read beside a heartbeat that lags by %s s', async (lag) => {
    const odd = beat(90).replace('"lagSeconds":90', `"lagSeconds":${lag}`)
    const answer = await fleetOf({ ...FILES, 'db-4/ship.json': odd }).get('view?node=*&file=broker.log')
    expect([answer.status, answer.headers.get('X-Nodestate-Settled')]).toEqual([
      200,
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    ])
  })

  it('show only what a token may see', async () => {
    const tokens = [{ name: 'four', token: 'secret-of-four', nodes: ['db-4'], files: ['broker*'] }]
    const { get } = fleetOf(FILES, { tokens: () => tokens })
    const headers = { Authorization: 'Bearer secret-of-four' }
    const list = (await (await get('list?node=*', headers)).json()) as object[]
    expect(list).toHaveLength(1)
    const text = await (await get('view?node=*&file=*', headers)).text()
    expect(text).not.toMatch(/db-7|storage/)
    expect((await get('view?node=db-7&file=*', headers)).status).toBe(404)
    expect((await get('view?node=*&file=*')).status).toBe(401)
  })

  it('come back late when a node could not be reached', async () => {
    const { get, down } = fleetOf()
    down.add('db-7')
    const first = await get('view?node=*&file=*.log&lines=2&format=ndjson')
    expect((await first.text()).trimEnd().split('\n')).toHaveLength(2)
    down.clear()
    const seen: [string, true | undefined][][] = []
    for (let response = first; ; ) {
      const prev = /<([^>]*)>; rel="prev"/.exec(response.headers.get('Link')!)?.[1]
      if (!prev) break
      response = await get(`view${prev}`)
      const lines = (await response.text()).trimEnd().split('\n')
      const records = lines.map((text) => JSON.parse(text) as { message: string; late?: true })
      seen.push(records.map(({ message, late }) => [message, late]))
    }
    expect(seen).toEqual([
      [
        ['also two', undefined],
        ['four', true],
      ],
      [['one', undefined]],
    ])
  })
})

describe('a node whose list is refused for one page', () => {
  const record = (i: number) => {
    const time = new Date(Date.UTC(2026, 10, 16) + i * 1000).toISOString().replace('T', ' ').slice(0, -1)
    return `${time}\tINFO\ta.go:1\t[A]: r${String(i).padStart(4, '0')}\n`
  }
  const logOf = (from: number, to: number, odd: number) =>
    Array.from({ length: to - from }, (_, i) => from + i)
      .filter((i) => i % 2 === odd)
      .map(record)
      .join('')

  it.each(['before', 'after'])('goes on with the next page: %s', async (direction) => {
    // One of them is in a rotated file, of which a cursor knows only a hash.
    const files = {
      'db-4/node.json': node,
      'db-4/logs/a.log': logOf(0, 600, 0),
      'db-7/node.json': node,
      'db-7/logs/a.log.1': logOf(0, 300, 1),
      'db-7/logs/a.log': logOf(300, 600, 1),
    }
    for (let refusedAt = 1; refusedAt < 12; refusedAt += 2) {
      const { get, refused } = refusing(files)
      const rel = direction === 'before' ? 'prev' : 'next'
      const begin = direction === 'before' ? 'lines=50' : 'first=50'
      const seen: string[] = []
      let query = `view?file=a.log&node=*&rotated=true&${begin}`
      for (let page = 0; page < 60; page++) {
        if (page === refusedAt) refused.add('db-7')
        const answer = await get(query)
        refused.clear()
        expect(answer.status).toBe(200)
        const missing = answer.headers.get('X-Nodestate-Missing')
        expect(missing).toBe(page === refusedAt ? 'db-7;storage-denied' : null)
        const found = (await answer.text()).match(/r\d{4}/g) ?? []
        seen.push(...found)
        const link = new RegExp(`<\\?([^>]+)>; rel="${rel}"`).exec(answer.headers.get('Link') ?? '')?.[1]
        if (!link || (found.length === 0 && page !== refusedAt)) break
        query = `view?${link}`
      }
      expect(new Set(seen).size, `refused at page ${refusedAt}`).toBe(600)
      expect(seen.length).toBe(600)
    }
  })

  /** A fleet whose lists, but not whose files, may be refused. */
  function refusing(files: Record<string, string>) {
    const store = memoryStore(files)
    const refused = new Set<string>()
    const guarded: Store = {
      ...store,
      async *list(prefix = '', options) {
        for (const id of refused) if (prefix.startsWith(`${id}/`)) throw new StoreError('denied', 'no')
        yield* store.list(prefix, options)
      },
    }
    const clock = manualClock(Date.UTC(2026, 10, 17))
    const app = createFleet({ store: guarded, onError: () => {}, clock })
    const get = async (query: string) => {
      // Lists are remembered for a moment.
      clock.skip(10_000)
      return app.request(`http://localhost/api/v1/log/${query}`)
    }
    return { get, refused }
  }
})
