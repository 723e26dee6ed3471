import { describe, expect, it } from 'vitest'
import type { Query } from '../../../src/core/query.ts'
import { type LogFiles, logFiles, type Part } from '../../../src/log/files/files.ts'
import { withFastReads } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { type Entry, type Store, StoreError } from '../../../src/store/store.ts'
import { readClock } from '../../support/manual-clock.ts'
import { contextOf } from '../context.ts'

/** A store that counts its lists, each of which takes `cost` milliseconds of the given clock. */
function counted(cost: number, revision?: () => string | null) {
  const clock = { now: 1_000_000 }
  const store = memoryStore({ 'a.log': 'a', 'b.log': 'bb' })
  const counts = { lists: 0 }
  const wrapped: Store = {
    ...store,
    async *list(...args) {
      counts.lists++
      await new Promise((resolve) => setTimeout(resolve, 1))
      clock.now += cost
      yield* store.list(...args)
    },
  }
  if (revision)
    withFastReads(wrapped, {
      revision,
      listAll: async (prefix) => {
        const entries: Entry[] = []
        for await (const entry of wrapped.list(prefix)) entries.push(entry)
        return entries
      },
      readInto: async () => undefined,
    })
  return { files: logFiles(wrapped, [], { clock: readClock(() => clock.now) }), clock, counts }
}

describe('a list of log files', () => {
  it('that took long is remembered for a second, and no longer', async () => {
    const { files, clock, counts } = counted(100)
    const first = await files.list()
    clock.now += 800
    expect(await files.list()).toBe(first)
    clock.now += 200
    expect(await files.list()).not.toBe(first)
    expect(counts.lists).toBe(2)
  })

  it('that took no time is made anew each time', async () => {
    const { files, counts } = counted(0)
    await files.list()
    await files.list()
    expect(counts.lists).toBe(2)
  })

  it('is made once for all who ask meanwhile', async () => {
    const { files, counts } = counted(100)
    const lists = await Promise.all(Array.from({ length: 16 }, () => files.list()))
    expect(new Set(lists).size).toBe(1)
    expect(counts.lists).toBe(1)
  })

  it('is made anew when a file came or went, also while one is under way', async () => {
    let revision = '1'
    const { files, counts } = counted(100, () => revision)
    const first = files.list()
    revision = '2'
    const second = files.list()
    expect(await first).not.toBe(await second)
    expect(await files.list()).toBe(await second)
    revision = '3'
    await files.list()
    expect(counts.lists).toBe(3)
  })

  it('is the same from a store with fast reads, and a copy that overrides its list is heard', async () => {
    const store = memoryStore({ 'a.log': 'a', 'b.log': 'bb', 'c.txt': 'c', 'd/e.log': 'e' })
    const fast = withFastReads(
      {
        ...store,
        list() {
          throw new Error('one by one')
        },
      },
      {
        listAll: async (prefix) => {
          const entries: Entry[] = []
          for await (const entry of store.list(prefix)) entries.push(entry)
          return entries
        },
        revision: () => null,
        readInto: async () => undefined,
      },
    )
    const files = logFiles(fast, ['*.log'])
    expect(await files.list()).toEqual(await logFiles(store, ['*.log']).list())
    expect((await files.list()).entries.map(({ key }) => key)).toEqual(['a.log', 'b.log'])
    expect((await files.startingWith('b')).map(({ key }) => key)).toEqual(['b.log'])
    expect((await logFiles({ ...fast, list: () => store.list('a') }).list()).entries.length).toBe(1)
  })

  it('that comes unsorted is sorted', async () => {
    const store = memoryStore({})
    const entry = (key: string): Entry => ({ key, size: 1, modified: 0, etag: `"${key}"` })
    const files = logFiles({
      ...store,
      async *list() {
        yield* ['b.log', '\u{1F600}.log', 'a.log', '\uffe5.log'].map(entry)
      },
    })
    const names = (await files.list()).entries.map(({ key }) => key)
    expect(names).toEqual(['a.log', 'b.log', '\uffe5.log', '\u{1F600}.log'])
  })

  it('ends when the last of its callers leaves, and not before', async () => {
    const signals: AbortSignal[] = []
    const files = logFiles({
      ...memoryStore({}),
      async *list(_prefix, options) {
        signals.push(options!.signal!)
        await new Promise((_, reject) =>
          options!.signal!.addEventListener('abort', () => reject(options!.signal!.reason)),
        )
      },
    })
    const [one, two] = [new AbortController(), new AbortController()]
    const lists = [files.list(one.signal), files.list(two.signal)].map((list) => list.catch(String))
    one.abort('one left')
    expect(await lists[0]).toBe('one left')
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    two.abort('two left')
    expect(await lists[1]).toBe('two left')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('that failed is not remembered', async () => {
    const { files, clock, counts } = counted(100)
    await files.list()
    clock.now += 2000
    const failing = logFiles({
      ...memoryStore({}),
      // biome-ignore lint/correctness/useYield: it fails before
      async *list() {
        counts.lists++
        throw new StoreError('unavailable', 'gone')
      },
    })
    await expect(failing.list()).rejects.toThrow('gone')
    await expect(failing.list()).rejects.toThrow('gone')
    expect(counts.lists).toBe(3)
  })
})

describe('a store that lists slowly', () => {
  const count = 12_345
  const key = (i: number) => `k${String(i).padStart(6, '0')}.log`
  const keys = Array.from({ length: count }, (_, i) => key(i))

  /** Each key takes a millisecond of a clock that only lists move; folders lie between the files. */
  function slowStore(names: readonly string[]) {
    const clock = { time: 0 }
    const store = memoryStore(Object.fromEntries(names.map((name) => [name, 'x'])))
    const list = store.list.bind(store)
    store.list = async function* (prefix, options) {
      for await (const entry of list(prefix, options)) {
        clock.time++
        yield entry
      }
    }
    return { store, clock, listed: { clock: readClock(() => clock.time) } }
  }

  /** All names, part by part, and how long the slowest part took. */
  async function inParts(files: LogFiles, clock: { time: number }, most: number) {
    const names: string[] = []
    let slowest = 0
    let parts = 0
    for (let after: string | null = ''; after !== null; parts++) {
      const start = clock.time
      const part: Part = await files.part(after, most)
      slowest = Math.max(slowest, clock.time - start)
      names.push(...part.entries.map((entry) => entry.key))
      after = part.next
    }
    return { names, slowest, parts }
  }

  it.each([1000, 5000, 100_000])('is cut by time, and goes on from there to its end: %i', async (most) => {
    const { store, clock, listed } = slowStore(keys)
    const files = logFiles(store, [], listed)
    expect(await files.list()).toMatchObject({ isCut: true, isLate: true, last: key(2998) })
    const { names, slowest } = await inParts(files, clock, most)
    expect(names).toEqual(keys)
    expect(slowest).toBeLessThanOrEqual(3001)
  })

  it('goes on where no file is listed for a long time', async () => {
    const hidden = Array.from({ length: 8000 }, (_, i) => `a${String(i).padStart(6, '0')}/x.log`)
    const { store, clock, listed } = slowStore([...hidden, 'b.txt', 'z.log'])
    const files = logFiles(store, ['*.log'], listed)
    expect(await files.list()).toEqual({ entries: [], isCut: true, isLate: true, last: 'a002998/' })
    const { names, slowest, parts } = await inParts(files, clock, 10)
    expect([names, parts]).toEqual([['z.log'], 3])
    expect(slowest).toBeLessThanOrEqual(3001)
  })

  it('is answered with a note and a link, plain and with details', async () => {
    const { store, listed } = slowStore(keys)
    const files = logFiles(store, [], listed)
    const { listLogs } = await import('../../../src/core/list.ts')
    const { loadQueryRoutes } = await import('../../../src/routes/query-routes.ts')
    const context = contextOf(files)
    const more = async () =>
      loadQueryRoutes(context, {
        maxSize: undefined,
        following: null,
        count: { following: 0 },
        timeline: null,
        follow: null,
      })
    for (const query of [{}, { detail: true }]) {
      const names: string[] = []
      let after: string | undefined
      for (;;) {
        const request = new Request('http://localhost/api/v1/log/list')
        const asked = { given: [], ...query, ...(after !== undefined && { after }) } as unknown as Query
        const response = await listLogs(request, asked, context, more)
        names.push(...((await response.json()) as { name: string }[]).map(({ name }) => name))
        const link = /after=([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
        expect(response.headers.get('X-Nodestate-Note')?.includes('list-cut') ?? false).toBe(
          link !== undefined,
        )
        if (link === undefined) break
        after = decodeURIComponent(link)
      }
      expect(names).toEqual(keys)
    }
  })
})
