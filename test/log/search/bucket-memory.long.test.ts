import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

const MIB = 1024 * 1024
const pad = 'x'.repeat(900)
const line = (i: number) =>
  `2026-11-15 10:00:00.000\tINFO\tx.go:1\t[A]: ${i % 20 ? 'miss' : 'needle'} ${i} ${pad}\n`

/** A store as far away as a bucket, so that a search reads ahead as far as memory allows. */
function distant(store: Store): Store {
  return {
    ...store,
    async read(key, range, options) {
      const length = range && 'length' in range ? (range.length ?? 0) : 0
      await sleep(20 + length / 50_000)
      return store.read(key, range, options)
    },
  }
}

it.each([
  [128, 6],
  [256, 16],
])(
  'two searches of a bucket have memory for their answers: %i MiB, %i reads in parallel',
  async (memory, reads) => {
    const lines = Array.from({ length: 100_000 }, (_, i) => line(i))
    const logs = distant(memoryStore({ 'a.log': lines.join('') }))
    const app = createApp({ logs, config: '', limits: { memory: memory * MIB, parallelReads: reads } })
    const wanted = lines.filter((_, i) => i % 20 === 0).join('')
    const search = async () => {
      const response = await app.request(`/api/v1/log/view?file=a.log&q=needle&size=${6 * MIB}`)
      return { note: response.headers.get('X-Nodestate-Note'), text: await response.text() }
    }
    for (const { note, text } of await Promise.all([search(), search()])) {
      expect(note).toBeNull()
      expect(text.length).toBe(wanted.length)
      expect(text === wanted).toBe(true)
    }
  },
)

it('a search for the last lines reads ahead no further than they are likely to be', async () => {
  // An error in 1,000 lines: the last 40 of them are in 40 MB.
  const lines = Array.from({ length: 150_000 }, (_, i) =>
    i % 1000 ? line(i) : line(i).replace('INFO', 'ERROR'),
  )
  const store = memoryStore({ 'a.log': lines.join('') })
  let bytes = 0
  const counted: Store = {
    ...store,
    read(key, range, options) {
      bytes += range && 'length' in range ? (range.length ?? 0) : 0
      return store.read(key, range, options)
    },
  }
  const app = createApp({
    logs: distant(counted),
    config: '',
    limits: { memory: 2048 * MIB, parallelReads: 16 },
  })
  const response = await app.request('/api/v1/log/view?file=a.log&level=error&lines=10')
  expect((await response.text()).split('\n').length).toBe(11)
  expect(bytes).toBeLessThan(48 * MIB)
})

it('a chart at the edge takes few requests', async () => {
  const store = memoryStore({ 'a.log': Array.from({ length: 24_000 }, (_, i) => line(i)).join('') })
  let reads = 0
  const counted: Store = {
    ...store,
    read(...args) {
      reads++
      return store.read(...args)
    },
  }
  const limits = { memory: 128 * MIB, scanBytes: 64 * MIB, parallelReads: 6 }
  const app = createApp({ logs: counted, config: '', limits })
  const response = await app.request('/api/v1/log/histogram?file=a.log')
  expect(await response.json()).toMatchObject({ complete: true })
  // 22 MiB: one read for each six, and those for the ends of the log.
  expect(reads).toBeLessThanOrEqual(8)
})
