import { describe, expect, it } from 'vitest'
import { logFiles } from '../../../src/log/files/files.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { type Entry, type Store, StoreError } from '../../../src/store/store.ts'

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
    ...(revision && { revision }),
  }
  return { files: logFiles(wrapped, [], () => clock.now), clock, counts }
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

  it('is the same from a store that gives all at once, and one that overrides its list is heard', async () => {
    const store = memoryStore({ 'a.log': 'a', 'b.log': 'bb', 'c.txt': 'c', 'd/e.log': 'e' })
    const atOnce: Store = {
      ...store,
      list: (...args) => ({
        async all() {
          const entries: Entry[] = []
          for await (const entry of store.list(...args)) entries.push(entry)
          return entries
        },
        [Symbol.asyncIterator]() {
          throw new Error('one by one')
        },
      }),
    }
    const files = logFiles(atOnce, ['*.log'])
    expect(await files.list()).toEqual(await logFiles(store, ['*.log']).list())
    expect((await files.list()).entries.map(({ key }) => key)).toEqual(['a.log', 'b.log'])
    expect((await files.startingWith('b')).map(({ key }) => key)).toEqual(['b.log'])
    expect((await logFiles({ ...atOnce, list: () => store.list('a') }).list()).entries.length).toBe(1)
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
