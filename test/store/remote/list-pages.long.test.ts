import { expect, it } from 'vitest'
import { listPages } from '../../../src/store/remote/list-pages.ts'
import { retryOf } from '../../../src/store/remote/retry.ts'
import type { Entry } from '../../../src/store/store.ts'
import { readClock } from '../../support/manual-clock.ts'

const entry = (n: number): Entry => ({
  key: `k${String(n).padStart(9, '0')}`,
  size: n,
  modified: 0,
  etag: '"e"',
})
const everything = () => true

/** A service with so many keys, 1,000 on a page, each of which takes so long. */
function service(keys: number, millis = 0) {
  const clock = { now: 0, pages: 0 }
  const fetchPage = async (token: string | null) => {
    clock.now += millis
    clock.pages++
    const from = Number(token ?? 0)
    const to = Math.min(keys, from + 1000)
    const entries = Array.from({ length: to - from }, (_, i) => entry(from + i))
    return { entries, next: to < keys ? String(to) : null }
  }
  return {
    clock,
    entries: listPages(retryOf({ clock: readClock(() => clock.now) }), {}, everything, fetchPage),
  }
}

async function count(entries: AsyncIterable<Entry>): Promise<number> {
  let seen = 0
  for await (const _ of entries) seen++
  return seen
}

it('two million keys are listed in flat memory, even when that takes minutes', async () => {
  const { clock, entries } = service(2_000_000, 100)
  let seen = 0
  let most = 0
  let wrong = 0
  for await (const { size } of entries) {
    // A call of `expect` for each key would take most of the time.
    if (size !== seen) wrong++
    if (++seen % 100_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed)
  }
  expect([seen, wrong]).toEqual([2_000_000, 0])
  expect(clock.now).toBe(200_000)
  expect(most).toBeLessThan(250e6)
})

it('a listing of full pages that never ends is an error after three million keys', async () => {
  const { clock, entries } = service(Number.POSITIVE_INFINITY)
  await expect(count(entries)).rejects.toMatchObject({ code: 'unavailable', message: /endless/ })
  expect(clock.pages).toBe(3000)
})

it('a listing of which 100 pages take too long is an error', async () => {
  const { clock, entries } = service(Number.POSITIVE_INFINITY, 301)
  await expect(count(entries)).rejects.toMatchObject({ code: 'timeout' })
  expect(clock.pages).toBe(100)
})

it('tokens of any length are not kept', async () => {
  const pages = listPages(retryOf({}), {}, everything, async () => ({
    entries: [entry(1)],
    next: 'x'.repeat(5000),
  }))
  await expect(count(pages)).rejects.toMatchObject({ code: 'unavailable' })
})
