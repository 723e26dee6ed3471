import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { createApp, createFleet } from '../../support/app.ts'

const stamp = (i: number) =>
  new Date(Date.UTC(2026, 10, 15) + i * 50).toISOString().replace('T', ' ').slice(0, 23)
const LEVELS = ['INFO', 'INFO', 'WARN', 'ERROR']
const record = (i: number) =>
  `${stamp(i)}\t${LEVELS[i % 4]}\tstorage/wal.go:${i % 100}\t[Storage]: sync ${i} ${'.'.repeat(i % 90)}\t{"shard":${i % 7}}\n${i % 50 === 0 ? '\tat storage.sync()\n' : ''}`
const RECORDS = Array.from({ length: 40_000 }, (_, i) => record(i))
const TEXT = RECORDS.join('')

const app = createApp({
  logs: memoryStore({
    'a.log': TEXT,
    'b.log': RECORDS.slice(20_000).join(''),
    'b.log.1': RECORDS.slice(10_000, 20_000).join(''),
    'b.log.2.gz': gzipSync(RECORDS.slice(0, 10_000).join('')),
    'cut.log.gz': gzipSync(TEXT).subarray(0, 200_000),
    'empty.log': '',
  }),
  config: '',
})
const get = (query: string) => app.request(`/api/v1/log/view?download=true&${query}`)

describe('an export', () => {
  it('is the whole log as an attachment', async () => {
    const response = await get('file=a.log')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="a.log.txt"')
    expect(response.headers.get('ETag')).toBeNull()
    expect((await response.text()) === TEXT).toBe(true)
  })

  it('holds every record that the filters choose, oldest first', async () => {
    const chosen = (keep: (i: number) => boolean) => RECORDS.filter((_, i) => keep(i)).join('')
    const errors = await (await get('file=a.log&level=error')).text()
    expect(errors === chosen((i) => i % 4 === 3)).toBe(true)
    const text = await (await get('file=a.log&q=sync%2039&level=warn')).text()
    expect(text === chosen((i) => i % 4 > 1 && String(i).startsWith('39'))).toBe(true)
    const window = await (
      await get('file=a.log&since=2026-11-15T00:10:00Z&until=2026-11-15T00:20:00Z&level=error')
    ).text()
    expect(window === chosen((i) => i >= 12_000 && i < 24_000 && i % 4 === 3)).toBe(true)
    expect(await (await get('file=a.log&q=nothing')).text()).toBe('')
    expect(await (await get('file=empty.log')).text()).toBe('')
  })

  it.each(['file=a.log', 'file=a.log&file=b.log'])(
    'of %s leaves a slot for searches, however long its client takes',
    async (files) => {
      const app = createApp({
        logs: memoryStore({ 'a.log': TEXT, 'b.log': TEXT }),
        config: '',
        limits: { scans: 3, scanMillis: 1000 },
      })
      const exported = () => app.request(`/api/v1/log/view?download=true&q=sync&${files}`)
      const unread = [await exported(), await exported()]
      expect(unread.map(({ status }) => status)).toEqual([200, 200])
      const refused = await exported()
      expect(refused.status).toBe(503)
      expect(refused.headers.get('Retry-After')).toBe('5')
      const searched = await app.request(`/api/v1/log/view?q=sync%2039999&${files}`)
      expect(searched.status).toBe(200)
      await unread[0]!.body!.cancel()
      const next = await exported()
      expect(next.status).toBe(200)
      // One that is read to its end leaves its slot, too.
      await next.text()
      expect((await exported()).status).toBe(200)
    },
  )

  it('goes through rotated and compressed files', async () => {
    const all = await (await get('file=b.log&rotated=true')).text()
    expect(all === TEXT).toBe(true)
    const errors = await (await get('file=b.log&rotated=true&level=error')).text()
    expect(errors === RECORDS.filter((_, i) => i % 4 === 3).join('')).toBe(true)
  })

  it('is one JSON record per line with format=ndjson', async () => {
    const response = await get('file=a.log&format=ndjson&level=error')
    expect(response.headers.get('Content-Type')).toBe('application/x-ndjson')
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="a.log.ndjson"')
    const records = (await response.text()).trimEnd().split('\n')
    expect(records).toHaveLength(10_000)
    expect(JSON.parse(records[1]!)).toMatchObject({ level: 'error', context: { shard: 0 } })
    expect(JSON.parse(records.at(-1)!).message).toContain('sync 39999')
  })

  it('is cut where a broken archive ends', async () => {
    const response = await get('file=cut.log.gz')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  it.each(['size=5', 'lines=5', 'first=5', 'follow=true', 'before=x'])(
    'with %s is refused',
    async (other) => {
      const response = await get(`file=a.log&${other}`)
      expect(response.status).toBe(400)
      expect(((await response.json()) as { detail: string }).detail).toContain(other.split('=')[0])
    },
  )

  it('HEAD tells what it is called', async () => {
    const response = await app.request('/api/v1/log/view?download=true&file=a.log', { method: 'HEAD' })
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="a.log.txt"')
    expect((await app.request('/api/v1/log/view?download=true&file=x', { method: 'HEAD' })).status).toBe(404)
  })

  const names = ['a.log', 'b.log', 'b.log.1', 'b.log.2.gz']
  const one = memoryStore(
    Object.fromEntries(names.map((name) => [name, name.endsWith('.gz') ? gzipSync(TEXT) : TEXT])),
  )
  const many = memoryStore(
    Object.fromEntries(
      ['db-1', 'db-2'].flatMap((node) => [
        [`${node}/node.json`, JSON.stringify({ hostName: node })],
        ...names.slice(0, 2).map((name) => [`${node}/logs/${name}`, TEXT] as const),
      ]),
    ),
  )
  it.each([
    ['one file', 'file=a.log'],
    ['a log with its rotated files', 'file=b.log&rotated=true&format=ndjson'],
    ['an archive', 'file=b.log.2.gz&format=ndjson'],
    ['a filter', 'file=a.log&level=error&q=nothing'],
    ['several logs', 'file=a.log&file=b.log&format=ndjson'],
    ['a pattern of logs', 'file=*.log&level=error'],
    ['several nodes', 'node=*&file=a.log&format=ndjson'],
  ])('HEAD does not run it: %s', async (_, query) => {
    const { store, bytes } = counted(query.startsWith('node') ? many : one)
    const served = query.startsWith('node')
      ? createFleet({ store })
      : createApp({ logs: store, config: '', limits: { scans: 1 } })
    const ask = (method: string) => served.request(`/api/v1/log/view?download=true&${query}`, { method })
    const head = await ask('HEAD')
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    // The head of each log, to know its format.
    expect(bytes()).toBeLessThan(600_000)
    const before = bytes()
    const get = await ask('GET')
    for (const name of ['Content-Type', 'Content-Disposition'])
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    await get.text()
    expect(bytes() - before).toBeGreaterThan(query.includes('.gz') ? 200_000 : 3_000_000)
  })
})

/** A store that counts the bytes which are read from it. */
function counted(inner: Store) {
  let bytes = 0
  const store: Store = {
    ...inner,
    async read(...args) {
      const found = await inner.read(...args)
      bytes += found?.length ?? 0
      return found
    },
  }
  return { store, bytes: () => bytes }
}

describe('an export among searches', () => {
  /** An app with one place for searches, and how many reads its store has seen. */
  function single() {
    const inner = memoryStore({ 'a.log': TEXT.repeat(4) })
    let reads = 0
    const logs: Store = {
      ...inner,
      read(...args) {
        reads++
        return inner.read(...args)
      },
    }
    return { app: createApp({ logs, config: '', limits: { scans: 1 } }), reads: () => reads }
  }

  it('holds one place until it is sent or left', async () => {
    const { app, reads } = single()
    const response = await app.request('/api/v1/log/view?download=true&file=a.log')
    const reader = response.body!.getReader()
    await reader.read()
    let done = false
    const search = Promise.resolve(app.request('/api/v1/log/view?file=a.log&q=sync')).then((found) => {
      done = true
      return found
    })
    await reader.read()
    // The same search, twice, where no export is under way: without one, that would be done by then, too.
    const free = single()
    for (let i = 0; i < 2; i++) await free.app.request('/api/v1/log/view?file=a.log&q=sync')
    expect(done).toBe(false)
    const before = reads()
    await reader.cancel()
    expect((await search).status).toBe(200)
    // Reads in memory take no time: if the export went on, it would do so during that search.
    const after = reads()
    await app.request('/api/v1/log/view?file=a.log&q=sync')
    expect(after - before).toBeLessThanOrEqual(reads() - after)
  })

  it('reads no further than its client takes', async () => {
    const { app, reads } = single()
    const response = await app.request('/api/v1/log/view?download=true&file=a.log')
    const reader = response.body!.getReader()
    await reader.read()
    expect(reads()).toBeLessThan(12)
    await reader.cancel()
  })

  it('frees its place when it cannot begin', async () => {
    const { app } = single()
    expect((await app.request('/api/v1/log/view?download=true&file=none')).status).toBe(404)
    expect((await app.request('/api/v1/log/view?file=a.log&q=sync%2039999')).status).toBe(200)
  })
})
