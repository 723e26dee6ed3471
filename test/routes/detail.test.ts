import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { type Store, StoreError } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'

const line = (time: string, text = 'x') => `2026-11-15 ${time}\tINFO\ta.go:1\t[A]: ${text}\n`
const TEXT = `${line('02:10:00.001')}  at stack\n${line('02:10:01.002')}${line('02:15:00.003')}  at stack\n`

async function detail(store: Store, query = 'detail=true', timezone = 'UTC') {
  const app = createApp({ logs: store, config: '', timezone })
  const response = await app.request(`/api/v1/log/list?${query}`)
  return { response, body: await response.json() }
}

describe('the list in detail', () => {
  test('kinds, and the times of the first and last record', async () => {
    const store = memoryStore({
      'a.log': TEXT,
      'a.log.1.gz': gzipSync(TEXT),
      'a.log.2.zst': 'not zstd',
      'broken.gz': 'not gzip',
      'empty.log': '',
      'plain.txt': 'hello\n',
      'large.log':
        line('01:00:00.000') + line('01:30:00.000', 'y'.repeat(300)).repeat(1000) + line('02:00:00.000'),
    })
    const { response, body } = await detail(store)
    expect(response.status).toBe(200)
    const modified = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ$/)
    const first = '2026-11-15T02:10:00.001Z'
    const last = '2026-11-15T02:15:00.003Z'
    const none = { modified, first: null, last: null }
    expect(body).toEqual([
      { name: 'a.log', log: 'a.log', size: TEXT.length, modified, kind: 'plain', first, last },
      { name: 'a.log.1.gz', log: 'a.log', size: gzipSync(TEXT).length, modified, kind: 'gzip', first, last },
      { name: 'a.log.2.zst', log: 'a.log', size: 8, kind: 'plain', ...none },
      { name: 'broken.gz', log: 'broken', size: 8, kind: 'plain', ...none },
      { name: 'empty.log', log: 'empty.log', size: 0, kind: 'plain', ...none },
      {
        name: 'large.log',
        log: 'large.log',
        size: expect.any(Number),
        modified,
        kind: 'plain',
        first: '2026-11-15T01:00:00.000Z',
        last: '2026-11-15T02:00:00.000Z',
      },
      { name: 'plain.txt', log: 'plain.txt', size: 6, kind: 'plain', ...none },
    ])
  })
  test('times are in the zone of the logs', async () => {
    const { body } = await detail(memoryStore({ 'a.log': TEXT }), 'detail=true', 'Europe/Berlin')
    expect(body[0]).toMatchObject({
      first: '2026-11-15T02:10:00.001+01:00',
      last: '2026-11-15T02:15:00.003+01:00',
    })
  })
  test('of a large archive only the first record is told', async () => {
    let text = ''
    for (let i = 0; text.length < 6_000_000; i++) text += line('02:10:00.001', String(Math.sin(i)))
    const { body } = await detail(memoryStore({ 'a.gz': gzipSync(text, { level: 1 }) }))
    expect(body[0]).toMatchObject({ first: '2026-11-15T02:10:00.001Z', last: null })
  })
  test('the plain list stays as it is', async () => {
    const store = memoryStore({ 'a.log': TEXT })
    for (const query of ['', 'detail=false']) {
      const { body } = await detail(store, query)
      expect(body).toEqual([{ name: 'a.log', size: TEXT.length }])
    }
  })
  test('detail must be true or false', async () => {
    const { response, body } = await detail(memoryStore(), 'detail=maybe')
    expect(response.status).toBe(400)
    expect(body.detail).toContain('detail')
  })
  test('a tag, and 304 until something changes', async () => {
    const store = memoryStore({ 'a.log': TEXT })
    const app = createApp({ logs: store, config: '' })
    const ask = (headers: Record<string, string> = {}) =>
      app.request('/api/v1/log/list?detail=true', { headers })
    const etag = (await ask()).headers.get('etag')!
    expect((await ask({ 'If-None-Match': etag })).status).toBe(304)
    store.put('b.log', TEXT)
    // A list may be up to a second old.
    await vi.waitFor(async () => expect((await ask({ 'If-None-Match': etag })).status).toBe(200), 60_000)
  })
  test('each version of a file is read once, a few at a time', async () => {
    const store = memoryStore(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${i}.log`, TEXT])))
    let reads = 0
    let open = 0
    let most = 0
    const counted: Store = {
      ...store,
      async read(...args) {
        reads++
        most = Math.max(most, ++open)
        await new Promise((resolve) => setTimeout(resolve, 1))
        open--
        return store.read(...args)
      },
    }
    const app = createApp({ logs: counted, config: '' })
    const ask = async () => (await app.request('/api/v1/log/list?detail=true')).json()
    await ask()
    expect(reads).toBeLessThanOrEqual(120)
    expect(most).toBeLessThanOrEqual(64)
    const before = reads
    await ask()
    expect(reads).toBe(before)
    store.put('7.log', TEXT + line('03:00:00.000'))
    const seven = async () => (await ask()).find(({ name }: { name: string }) => name === '7.log')
    await vi.waitFor(async () => expect((await seven()).last).toBe('2026-11-15T03:00:00.000Z'), 60_000)
    expect(reads).toBeLessThanOrEqual(before + 2)
  })
  test('a file that may not be read does not spoil the list; a store that is down does', async () => {
    const store = memoryStore({ 'a.log': TEXT, 'b.log': TEXT })
    const denied: Store = {
      ...store,
      async read(key, ...rest) {
        if (key === 'a.log') throw new StoreError('denied', 'no')
        return store.read(key, ...rest)
      },
    }
    const { body } = await detail(denied)
    expect(body.map(({ first }: { first: string | null }) => first === null)).toEqual([true, false])
    const down: Store = {
      ...store,
      // biome-ignore lint/correctness/useYield: it fails before it has anything
      async *list() {
        throw new StoreError('unavailable', 'gone')
      },
    }
    expect((await detail(down)).response.status).toBe(503)
  })
})
