import { expect, it } from 'vitest'
import { openHome } from '../../../../src/core/node/home.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { CONFIGS, versionKey } from '../../../../src/store/segment/configs.ts'
import type { Entry, Store } from '../../../../src/store/store.ts'
import { createApp } from '../../../support/app.ts'
import { NODE_JSON } from '../../../support/node.ts'

const COUNT = 100_000
const T = Date.UTC(2026, 0, 1)
const timeOf = (i: number) => T + i * 60_000
const textOf = (i: number) => `[query]\nmax = ${i}\npassword = "hunter2${i}"\n`
const encode = (text: string) => new TextEncoder().encode(text)

/** A home with a hundred thousand versions, which are made when they are asked for; newest first, as their keys are. */
function manyVersions() {
  const keys = Array.from({ length: COUNT }, (_, n) => {
    const i = COUNT - 1 - n
    return versionKey({ time: timeOf(i), crc: i })
  })
  const indexes = new Map(keys.map((key, n) => [key, COUNT - 1 - n]))
  const rest = memoryStore({ 'node.json': NODE_JSON, 'config.toml': textOf(COUNT - 1) })
  const seen = { listed: 0, read: 0 }
  const entryOf = (key: string): Entry => {
    const size = encode(textOf(indexes.get(key)!)).length
    return { key, size, modified: T, etag: `"${key}"` }
  }
  const home: Store = {
    async *list(prefix, options) {
      if (prefix !== CONFIGS) return yield* rest.list(prefix, options)
      const first = options?.after === undefined ? 0 : keys.findIndex((key) => key > options.after!)
      for (let n = first; n >= 0 && n < COUNT; n++) {
        seen.listed++
        yield entryOf(keys[n]!)
      }
    },
    stat: async (key, options) => (indexes.has(key) ? entryOf(key) : rest.stat(key, options)),
    async read(key, range, options) {
      if (!indexes.has(key)) return rest.read(key, range, options)
      seen.read++
      const body = encode(textOf(indexes.get(key)!))
      return { entry: entryOf(key), offset: 0, length: body.length, body }
    },
  }
  const app = createApp({ logs: memoryStore(), ...openHome(home), onError: () => {} })
  return async (path: string) => {
    Object.assign(seen, { listed: 0, read: 0 })
    const answer = await app.request(`/api/v1/${path}`)
    const body = await answer.text()
    expect(body).not.toContain('hunter2')
    return { status: answer.status, body: JSON.parse(body), ...seen }
  }
}

it('of a hundred thousand versions only those that are asked for are listed and read', async () => {
  const get = manyVersions()
  const newest = await get('config/history')
  expect(newest.status).toBe(200)
  expect(newest.body.map(({ time }: { time: number }) => time)).toEqual(
    Array.from({ length: 40 }, (_, n) => timeOf(COUNT - 1 - n)),
  )
  expect(newest.body[0].changes[0]).toEqual({ key: 'query.max', before: '99998', after: '99999' })
  expect(newest.listed).toBeLessThan(100)
  expect(newest.read).toBeLessThan(100)
  const before = await get(`config?at=${timeOf(5000) + 1}`)
  expect(before.status).toBe(200)
  expect(before.body.config).toContain('max = 5000\n')
  expect([before.listed, before.read]).toEqual([1, 1])
  const tooMany = await get('config/history?limit=100000')
  expect(tooMany.status === 400 || tooMany.read < 2000).toBe(true)
})

it('blame of a hundred thousand versions reads a bounded number of them', async () => {
  const { status, read, listed } = await manyVersions()('config/blame')
  expect(status).toBe(200)
  expect(read).toBeLessThan(2000)
  expect(listed).toBeLessThan(10_000)
})
