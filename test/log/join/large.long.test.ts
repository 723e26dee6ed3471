import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { StoreError } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'
import { type Bucket, KEYS, lineAt, next, shippedBucket, UUID } from './bucket.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const COUNT = 3500
const END = Date.UTC(2026, 10, 15, 10)

const tail = (id: number) => `${UUID.slice(0, -6)}${String(id).padStart(6, '0')}.log`
const OTHER_KEYS: typeof KEYS = {
  ...KEYS,
  'Vector, flat': (log, time, id) => `${log}/${Math.floor(time / 1000)}-${tail(id)}`,
  hosts: (log, time, id) => {
    const date = new Date(time).toISOString().slice(0, 10)
    return `${log}/date=${date}/host-${(id * 7) % 5}/${Math.floor(time / 1000)}-${tail(id)}`
  },
  'another year': (log, time, id) => {
    const date = new Date(time).toISOString().slice(0, 10)
    return `${log}/date=${date}/${Math.floor(time / 1000) - 31_536_000}-${tail(id)}`
  },
  'two streams': (log, time, id) => KEYS.Firehose!(log, time, id).replace('stream', id % 2 ? 'a' : 'b'),
  // The older half in folders of one kind, the newer half in folders that sort before them.
  'two kinds of folders': (log, time, id) =>
    id < COUNT / 2 ? KEYS.Vector!(log, time, id) : KEYS['Fluent Bit']!(log, time, id),
}

/** More objects than a listing has in a page: in a day, in an hour, in a minute, or in a flat folder. */
const LARGE: [what: string, shipper: string, step: number][] = [
  ['days of Vector', 'Vector', 20 * SECOND],
  ['a flat folder of Vector', 'Vector, flat', 20 * SECOND],
  ['crowded seconds of Vector', 'Vector, flat', 40],
  ['a day of Fluent Bit', 'Fluent Bit', 10 * SECOND],
  ['minutes of Fluent Bit', 'Fluent Bit', 40],
  ['hours of Firehose', 'Firehose', 2 * SECOND],
  ['two streams of Firehose', 'two streams', 2 * SECOND],
  ['a flat folder of Logstash', 'Logstash', 20 * MINUTE],
  ['hosts below the days', 'hosts', 20 * SECOND],
  ['times of another year in the names', 'another year', 20 * SECOND],
  ['folders of two kinds', 'two kinds of folders', 30 * SECOND],
]

const tailOf = (text: string, size: number) =>
  text.length <= size ? text : text.slice(text.indexOf('\n', text.length - size - 1) + 1)
const linkOf = (response: Response, rel: string) =>
  new RegExp(`<\\?([^>]*)>; rel="${rel}"`).exec(response.headers.get('Link') ?? '')?.[1]

/** On a busy machine, a search takes longer than it may. */
const limits = { scanMillis: 120_000 }

describe('a joined log of 3,500 objects', () => {
  it.each(LARGE)('%s: is one text', { timeout: 120_000 }, async (_, shipper, step) => {
    const store = memoryStore()
    const timeOf = (i: number) => END - (COUNT - i) * step
    const textOf = (i: number) =>
      lineAt(timeOf(i), `object ${i} a`) + lineAt(timeOf(i) + Math.floor(step / 2), `object ${i} b`)
    const keyOf = (i: number) => OTHER_KEYS[shipper]!('app', timeOf(i), i)
    for (let i = 0; i < COUNT; i++) store.put(keyOf(i), textOf(i))
    const text = Array.from({ length: COUNT }, (_, i) => textOf(i)).join('')
    const app = createApp({ logs: store, config: '', join: true, limits })
    const view = async (query: string) => {
      const response = await app.request(`/api/v1/log/view?${query}`)
      const body = await response.text()
      expect(response.status, body).toBe(200)
      expect(response.headers.get('X-Nodestate-Note')).toBeNull()
      return { response, body }
    }
    for (const size of [100, 3000, 250_000, 100_000_000])
      expect((await view(`file=app&size=${size}`)).body === tailOf(text, size), `${size}`).toBe(true)
    const all = text.split('\n').slice(0, -1)
    expect((await view('file=app&lines=2500')).body).toBe(`${all.slice(-2500).join('\n')}\n`)

    // Windows anywhere, across the borders of pages, days and folders.
    for (const at of [0, 1, 999, 2000, 3456, 5999, 6998]) {
      const [since, until] = [all[at]!, all[Math.min(at + 321, 6999)]!].map((line) => line.slice(0, 23))
      const inside = all.filter((line) => line.slice(0, 23) >= since! && line.slice(0, 23) < until!)
      const times = `since=${encodeURIComponent(since!)}&until=${encodeURIComponent(until!)}`
      const { body } = await view(`file=app&size=10000000&${times}`)
      expect(body, `${at}`).toBe(inside.map((line) => `${line}\n`).join(''))
    }

    // The first lines, of the log and of a period.
    expect((await view('file=app&first=5')).body).toBe(
      all
        .slice(0, 5)
        .map((line) => `${line}\n`)
        .join(''),
    )
    const [first] = all.filter((line) => line.slice(0, 23) >= all[4000]!.slice(0, 23))
    const since = encodeURIComponent(all[4000]!.slice(0, 23))
    expect((await view(`file=app&first=1&since=${since}`)).body).toBe(`${first}\n`)
    expect((await view('file=app&first=1&q=object%20999%20b')).body).toContain('object 999 b')

    // Backwards to the very beginning.
    let pages = ''
    let next: string | undefined
    for (let query: string | undefined = 'file=app&size=60000'; query; ) {
      const { response, body } = await view(query)
      pages = body + pages
      next = linkOf(response, 'next')
      query = linkOf(response, 'prev')
    }
    expect(pages === text).toBe(true)
    // And from the end of the first page on, as a client that polls would read it, with objects that arrive meanwhile.
    store.put(keyOf(COUNT), textOf(COUNT))
    let rest = ''
    for (;;) {
      const { response, body } = await view(next!)
      if (body === '') break
      rest += body
      next = linkOf(response, 'next')
    }
    expect(rest === (text + textOf(COUNT)).slice(-rest.length)).toBe(true)
    expect(rest.length).toBeGreaterThan(text.length - 60_000)
    store.put(keyOf(COUNT + 1), textOf(COUNT + 1))
    expect((await view(next!)).body).toBe(textOf(COUNT + 1))
  })
})

describe('a joined log that is followed', () => {
  it.each(['Vector', 'Fluent Bit', 'Firehose', 'Logstash'])(
    '%s: gives 1,500 objects that arrive at once, each line once',
    async (shipper) => {
      const store = memoryStore()
      const put = (i: number) =>
        store.put(KEYS[shipper]!('app', END + i * MINUTE, i), lineAt(END + i * MINUTE, `object ${i}`))
      for (let i = 0; i < 1200; i++) put(i)
      const app = createApp({ logs: store, config: '', join: true, limits })
      const leave = new AbortController()
      const response = await app.request('/api/v1/log/view?file=app&follow=true&lines=1', leave)
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let seen = ''
      const until = async (text: string) => {
        while (!seen.includes(text)) seen += await next(reader)
      }
      await until('object 1199\n')
      for (let i = 1200; i < 2700; i++) put(i)
      await until('object 2699\n')
      const expected = Array.from({ length: 1501 }, (_, i) =>
        lineAt(END + (1199 + i) * MINUTE, `object ${1199 + i}`),
      )
      expect(seen === expected.join('')).toBe(true)
      leave.abort()
    },
  )
})

it('a joined log that is followed loses nothing when one of several new objects cannot be read for a while', async () => {
  const store = memoryStore()
  let failures = 0
  const failing = {
    ...store,
    read: async (...[key, range, options]: Parameters<typeof store.read>) => {
      if (key.includes('000002') && failures++ < 3) throw new StoreError('unavailable', 'The storage is away')
      return store.read(key, range, options)
    },
  }
  const put = (i: number) =>
    store.put(KEYS.Vector!('app', END + i * MINUTE, i), lineAt(END + i * MINUTE, `object ${i}`))
  put(0)
  const app = createApp({ logs: failing, config: '', join: true })
  const leave = new AbortController()
  const response = await app.request('/api/v1/log/view?file=app&follow=true&lines=1', leave)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  for (let i = 1; i <= 3; i++) put(i)
  while (!seen.includes('object 3\n')) seen += await next(reader)
  expect(seen).toBe([0, 1, 2, 3].map((i) => lineAt(END + i * MINUTE, `object ${i}`)).join(''))
  expect(failures).toBeGreaterThan(1)
  leave.abort()
})

it('a joined log that is followed gives a large object that arrives late, together with newer ones', async () => {
  const store = memoryStore()
  const keyOf = (i: number) => KEYS.Vector!('app', END + i * MINUTE, i)
  const put = (i: number, count = 1) =>
    store.put(keyOf(i), lineAt(END + i * MINUTE, `object ${i}`).repeat(count))
  for (const i of [0, 1, 5]) put(i)
  const app = createApp({ logs: store, config: '', join: true, limits })
  const leave = new AbortController()
  const response = await app.request('/api/v1/log/view?file=app&follow=true&lines=1', leave)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  put(3, 30_000)
  put(6)
  put(2, 30_000)
  put(7)
  let seen = ''
  while (!seen.includes('object 7\n')) seen += await next(reader)
  const found = new Map<string, number>()
  for (const [, name] of seen.matchAll(/(object \d)\n/g)) found.set(name!, (found.get(name!) ?? 0) + 1)
  expect(Object.fromEntries(found)).toEqual({
    'object 5': 1,
    'object 2': 30_000,
    'object 3': 30_000,
    'object 6': 1,
    'object 7': 1,
  })
  // A known object that is replaced by a larger one holds nobody up.
  put(7, 100_000)
  put(8)
  while (!seen.includes('object 8\n')) seen += await next(reader)
  leave.abort()
})

describe('the requests of 10,000 objects', () => {
  // A log that is alive: the search for its newest object begins at the present. One that ended hours before, on the
  // same day, costs two requests more.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: END + SECOND }))
  afterEach(() => void vi.useRealTimers())

  let bucket: Bucket | undefined
  afterEach(() => bucket?.server.close())

  const trees: [what: string, shipper: string, step: number][] = [
    ['a month of Vector', 'Vector', 5 * MINUTE],
    ['crowded days of Vector', 'Vector', 4 * SECOND],
    ['a month of Fluent Bit', 'Fluent Bit', 5 * MINUTE],
    ['crowded hours of Fluent Bit', 'Fluent Bit', 2 * SECOND],
    ['a month of Firehose', 'Firehose', 5 * MINUTE],
    ['crowded hours of Firehose', 'Firehose', 2 * SECOND],
  ]
  it.each(trees)('%s: at most 12 in 8 round trips for a tail', async (_, shipper, step) => {
    bucket = await shippedBucket(shipper, { count: 10_000, step, lines: 500 })
    const path = `/api/v1/log/view?file=app&size=${256 * 1024}`
    const first = await bucket.ask(path)
    expect(first.body).toBe(tailOf(bucket.text(9_990), 256 * 1024))
    expect(first.requests).toBeLessThanOrEqual(12)
    expect(first.trips).toBeLessThanOrEqual(8)
    const second = await bucket.ask(path)
    expect(second.body).toBe(first.body)
    expect(second.requests).toBeLessThan(first.requests)
    const few = await bucket.ask('/api/v1/log/view?file=app&lines=100')
    expect(few.body).toBe(`${first.body.trimEnd().split('\n').slice(-100).join('\n')}\n`)
    expect(few.requests).toBeLessThan(first.requests)
    if (step < MINUTE) return
    const at = END - 30 * 24 * 60 * MINUTE
    const times = [at, at + 10 * MINUTE].map((time) => new Date(time).toISOString())
    const window = await bucket.ask(`/api/v1/log/view?file=app&since=${times[0]}&until=${times[1]}`)
    const [since, until] = times.map((time) => time.replace('T', ' ').slice(0, 23))
    const inside = bucket
      .text(1300, 1420)
      .split('\n')
      .filter((line) => line.slice(0, 23) >= since! && line.slice(0, 23) < until!)
    expect(window.body).toBe(`${inside.join('\n')}\n`)
    expect(window.trips).toBeLessThanOrEqual(12)
  })

  it.each(trees)('%s: small objects are fetched in parallel', async (_, shipper, step) => {
    bucket = await shippedBucket(shipper, { count: 10_000, step, lines: 20 })
    const first = await bucket.ask(`/api/v1/log/view?file=app&size=${256 * 1024}`)
    expect(first.body).toBe(tailOf(bucket.text(9_800), 256 * 1024))
    // A hundred of them, and their folders: each minute of Fluent Bit is one.
    expect(first.requests).toBeLessThanOrEqual(120)
    expect(first.trips).toBeLessThanOrEqual(16)
    const times = [-2 * 60 * MINUTE, -110 * MINUTE].map((back) => new Date(END + back).toISOString())
    const window = await bucket.ask(
      `/api/v1/log/view?file=app&size=10000000&since=${times[0]}&until=${times[1]}`,
    )
    const [since, until] = times.map((time) => time.replace('T', ' ').slice(0, 23))
    const inside = bucket
      .text(10_000 - Math.ceil((121 * MINUTE) / step) - 1)
      .split('\n')
      .filter((line) => line.slice(0, 23) >= since! && line.slice(0, 23) < until!)
    expect(window.body).toBe(inside.map((line) => `${line}\n`).join(''))
    expect(window.trips).toBeLessThanOrEqual(20)
  })

  it.each(trees)('%s: the last lines of small objects in few round trips', async (_, shipper, step) => {
    bucket = await shippedBucket(shipper, { count: 10_000, step, lines: 20 })
    const few = await bucket.ask('/api/v1/log/view?file=app&lines=100')
    expect(few.body).toBe(bucket.text(9_995))
    expect(few.trips).toBeLessThanOrEqual(12)
  })

  it.each(trees)('%s: few before a follower gets its first line', async (_, shipper, step) => {
    bucket = await shippedBucket(shipper, { count: 10_000, step })
    const leave = new AbortController()
    const before = bucket.server.requests.length
    const follow = { signal: leave.signal }
    const response = await bucket.app.request('/api/v1/log/view?file=app&follow=true&lines=1', follow)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect(await next(reader)).toBe(bucket.text(9_999))
    expect(bucket.server.requests.length - before).toBeLessThanOrEqual(100)
    leave.abort()
  })

  it('a flat folder of Logstash: one listing, in parallel', async () => {
    bucket = await shippedBucket('Logstash', { count: 10_000, step: MINUTE, lines: 500 })
    const first = await bucket.ask(`/api/v1/log/view?file=app&size=${256 * 1024}`)
    expect(first.body).toBe(tailOf(bucket.text(9_990), 256 * 1024))
    expect(first.requests).toBeLessThanOrEqual(18)
    expect(first.trips).toBeLessThanOrEqual(6)
  })
})
