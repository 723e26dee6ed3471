import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { type AppOptions, createApp } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'

const START = Date.UTC(2026, 10, 15, 2, 10)
const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'ODD']
const line = (at: number, level = 'INFO', text = 'x') =>
  `${new Date(at).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: ${text}\n`

interface Answer {
  from: number
  to: number
  step: number
  complete: boolean
  levels: string[]
  buckets: { time: number; counts: number[] }[]
}

async function ask(
  files: Record<string, string | Uint8Array>,
  query: string,
  options: Partial<AppOptions> = {},
) {
  const app = createApp({ logs: memoryStore(files), config: '', ...options })
  const response = await app.request(`/api/v1/log/histogram?${query}`)
  return { response, body: (await response.json()) as Answer }
}
const sum = ({ buckets }: Answer) => {
  const out = [0, 0, 0, 0, 0, 0]
  for (const { counts } of buckets) for (const [i, n] of counts.entries()) out[i]! += n
  return out
}

describe('histogram', () => {
  test.each(['histogram?file=*', 'groups?by=level&file=*'])(
    'of many logs far away ends in time, and says so: %s',
    async (path) => {
      const clock = manualClock(START + 10_000_000)
      const text = Array.from({ length: 5000 }, (_, i) => line(START + i * 100)).join('')
      const store = memoryStore(
        Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}.log`, text])),
        clock,
      )
      const logs: Store = {
        ...store,
        read: (...args) => {
          clock.skip(500)
          return store.read(...args)
        },
      }
      const app = createApp({ logs, config: '', clock, limits: { scanMillis: 10_000 } })
      const response = await app.request(`/api/v1/log/${path}`)
      expect(((await response.json()) as Answer).complete).toBe(false)
      // Four reads are what it takes to open a log.
      expect(clock.elapsed()).toBeLessThan(10_000 + 8 * 500)
    },
  )

  describe('of a log that begins with a long record', () => {
    const json = (at: number, msg: string) =>
      `${JSON.stringify({ msg, time: new Date(at).toISOString(), level: 'info' })}\n`
    const long = (size: number) => json(START, 'x'.repeat(size)) + json(START + 60_000, 'y')
    const later = json(START + 600_000, 'z').repeat(300)
    const trace = `\tat ${'a'.repeat(1000)}\n`.repeat(19_000)
    const LOGS: [string, Record<string, string | Uint8Array>][] = [
      ['100 KB', { 'a.log': long(100_000) + later }],
      ['300 KB', { 'a.log': long(300_000) + later }],
      ['5 MB', { 'a.log': long(5_000_000) + later }],
      ['300 KB before a long trace', { 'a.log': long(300_000) + trace + later }],
      ['a long trace before', { 'a.log': trace + long(1) + later }],
      ['100 KB, compressed', { 'a.log.gz': gzipSync(long(100_000) + later) }],
      ['5 MB, rotated and compressed', { 'a.log.1.gz': gzipSync(long(5_000_000)), 'a.log': later }],
      ['100 KB, rotated and compressed', { 'a.log.1.gz': gzipSync(long(100_000)), 'a.log': later }],
    ]
    test.each(LOGS)('has its records where NDJSON has them: %s', async (_, files) => {
      const app = createApp({ logs: memoryStore(files), config: '' })
      const file = Object.keys(files).at(-1)
      const page = await app.request(`/api/v1/log/view?file=${file}&rotated=true&format=ndjson&download=true`)
      const times: number[] = []
      for (const record of (await page.text()).trim().split('\n')) {
        const { time } = JSON.parse(record) as { time?: string }
        if (time) times.push(Date.parse(time))
      }
      expect(times[0]).toBe(START)
      const { response, body } = await ask(files, `file=${file}&rotated=true&step=1m`)
      expect(response.status).toBe(200)
      const counted = body.buckets.map(({ time, counts }) => [time, counts.reduce((a, b) => a + b)])
      const expected = body.buckets.map(({ time }) => [
        time,
        times.filter((at) => at >= time && at < time + body.step).length,
      ])
      expect(body.from).toBe(START)
      expect(counted).toEqual(expected)
    })
  })

  test('counts records by level, with stack traces as part of them', async () => {
    const text = LEVELS.map((level, i) => `${line(START + i * 60_000, level)}  at stack\n`).join('')
    const { response, body } = await ask({ 'a.log': text }, 'file=a.log&buckets=6')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(body).toEqual({
      from: START,
      to: START + 6 * 60_000,
      step: 60_000,
      complete: true,
      levels: ['debug', 'info', 'warn', 'error', 'fatal', 'none'],
      buckets: LEVELS.map((_, i) => ({
        time: START + i * 60_000,
        counts: LEVELS.map((__, j) => (i === j ? 1 : 0)),
      })),
    })
  })
  test('filters as the view does', async () => {
    const text = Array.from({ length: 100 }, (_, i) =>
      line(START + i * 1000, LEVELS[i % 5], `n${i} Text`),
    ).join('')
    const count = async (query: string) => sum((await ask({ 'a.log': text }, `file=a.log&${query}`)).body)
    expect(await count('')).toEqual([20, 20, 20, 20, 20, 0])
    expect(await count('level=warn')).toEqual([0, 0, 20, 20, 20, 0])
    expect(await count('q=n1%20text')).toEqual([0, 1, 0, 0, 0, 0])
    expect(await count('q=text')).toEqual([20, 20, 20, 20, 20, 0])
    expect(await count('regex=n[0-4]%20Text')).toEqual([1, 1, 1, 1, 1, 0])
    expect(await count('since=2026-11-15T02:10:10Z&until=2026-11-15T02:10:15Z')).toEqual([1, 1, 1, 1, 1, 0])
  })
  test('a window: its buckets are those of the window', async () => {
    const text = Array.from({ length: 100 }, (_, i) => line(START + i * 1000)).join('')
    const { body } = await ask(
      { 'a.log': text },
      'file=a.log&since=2026-11-15T02:10:10Z&until=2026-11-15T02:10:20Z&buckets=10',
    )
    expect(body).toMatchObject({ from: START + 10_000, to: START + 20_000, step: 1000 })
    expect(body.buckets).toHaveLength(10)
    expect(body.buckets.every(({ counts }) => counts[1] === 1)).toBe(true)
  })
  test('rotated and compressed files count too', async () => {
    const files = {
      'a.log.2.gz': gzipSync(line(START)),
      'a.log.1': line(START + 60_000, 'WARN'),
      'a.log': line(START + 120_000, 'ERROR'),
    }
    expect(sum((await ask(files, 'file=a.log&rotated=true')).body)).toEqual([0, 1, 1, 1, 0, 0])
    expect(sum((await ask(files, 'file=a.log')).body)).toEqual([0, 0, 0, 1, 0, 0])
    expect(sum((await ask(files, 'file=a.log.2.gz')).body)).toEqual([0, 1, 0, 0, 0, 0])
  })
  test('when the budget ends first it says so, and the newest are counted', async () => {
    const text = Array.from({ length: 60_000 }, (_, i) => line(START + i * 1000)).join('')
    const { response, body } = await ask({ 'a.log': text }, 'file=a.log', {
      limits: { scanBytes: 1_000_000 },
    })
    expect(body.complete).toBe(false)
    expect(response.headers.has('etag')).toBe(false)
    const counted = body.buckets.filter(({ counts }) => counts[1]! > 0)
    expect(counted.length).toBeGreaterThan(0)
    expect(counted.length).toBeLessThan(body.buckets.length)
    expect(counted.at(-1)).toBe(body.buckets.at(-1))
  })
  test('the same inside an archive, which is read from its start', async () => {
    const text = Array.from({ length: 60_000 }, (_, i) => line(START + i * 1000)).join('')
    const { body } = await ask({ 'a.log.gz': gzipSync(text) }, 'file=a.log.gz', {
      limits: { scanBytes: 1_000_000, windowBytes: 100_000 },
    })
    expect(body.complete).toBe(false)
    const [, counted] = sum(body)
    expect(counted).toBeGreaterThan(0)
    expect(counted).toBeLessThan(40_000)
  })
  test('a clock that stepped back loses nothing, and the answer says what is at its edges', async () => {
    const at = (minutes: number[]) => minutes.map((minute) => line(START + minute * 60_000)).join('')
    const { response, body } = await ask({ 'a.log': at([5, 6, 1, 2, 9, 3]) }, 'file=a.log')
    expect(sum(body)).toEqual([0, 6, 0, 0, 0, 0])
    expect(response.headers.get('X-Nodestate-Note')).toBe('time-order')
    const inside = await ask({ 'a.log': at([1, 5, 3, 2, 9]) }, 'file=a.log')
    expect(inside.response.headers.get('X-Nodestate-Note')).toBe(null)
  })
  test('beside other logs, from `origin` on, records of a clock that stepped back have buckets of their own', async () => {
    const times = [2, 5, 9_999, 20_000, 1, -7, 3].map((second) => START + second * 1000)
    const text = times.map((time) => line(time)).join('')
    const counted = async (origin: number) => {
      const query = `file=a.log&step=1000&origin=${START + origin * 1000}`
      const { response, body } = await ask({ 'a.log': text }, query)
      expect(response.headers.get('X-Nodestate-Note')).toBe('time-order')
      expect(body.from).toBe(body.buckets[0]!.time)
      expect(body.to).toBe(body.from + 1000 * body.buckets.length)
      return body.buckets.flatMap(({ time, counts }) => {
        const second = (time - START) / 1000
        return counts[1] === 0 ? [] : [[second, counts[1]]]
      })
    }
    // The first bucket has what is before it, the last that a chart may have what is after it.
    const all = [1, 2, 3, 5].map((second) => [second, 1])
    expect(await counted(0)).toEqual([[0, 1], ...all, [9_999, 2]])
    expect(await counted(-1)).toEqual([[-1, 1], ...all, [9_998, 2]])
    // An instant that is not near tells nothing about other logs.
    expect(await counted(-20_000)).toEqual([
      [2, 3],
      [3, 4],
    ])
  })
  test('a clock with microseconds that stepped back loses nothing', async () => {
    const text = ['00.123456', '07.000001', '00.123456']
      .map((s) => `2026-11-15T02:10:${s}Z INFO x\n`)
      .join('')
    const { response, body } = await ask({ 'a.log': text }, 'file=a.log')
    expect(sum(body)).toEqual([0, 3, 0, 0, 0, 0])
    expect(response.headers.get('X-Nodestate-Note')).toBe('time-order')
  })
  test('records without a time have that of the one before', async () => {
    const json = (n: number, time?: number) => `${JSON.stringify({ time, level: 'info', msg: n })}\n`
    const text = json(1, START) + json(2) + json(3, START + 60_000) + json(4) + json(5)
    const { body } = await ask({ 'a.log': text }, 'file=a.log&buckets=2')
    expect(body.buckets.map(({ counts }) => counts[1])).toEqual([2, 3])
  })
  test('nothing to count', async () => {
    expect((await ask({ 'a.log': '' }, 'file=a.log')).body).toMatchObject({ complete: true, buckets: [] })
    const late = await ask({ 'a.log': line(START) }, 'file=a.log&since=2026-11-15T03:00:00Z')
    expect(late.body).toMatchObject({ complete: true, buckets: [] })
  })
  test('a tag, and 304', async () => {
    const app = createApp({ logs: memoryStore({ 'a.log': line(START) }), config: '' })
    const get = (query: string, headers: Record<string, string> = {}) =>
      app.request(`/api/v1/log/histogram?file=a.log${query}`, { headers })
    const etag = (await get('')).headers.get('etag')!
    expect((await get('', { 'If-None-Match': etag })).status).toBe(304)
    expect((await get('&buckets=5', { 'If-None-Match': etag })).status).toBe(200)
    expect((await get('&since=2h')).headers.has('etag')).toBe(false)
    // The chart of an empty log says when it was asked for.
    const { response } = await ask({ 'a.log': '' }, 'file=a.log')
    expect(response.headers.has('etag')).toBe(false)
  })
  test.each([
    ['', 400, 'bad-parameter'],
    ['file=none.log', 404, 'unknown-file'],
    ['file=a.log&buckets=0', 400, 'bad-parameter'],
    ['file=a.log&buckets=1001', 400, 'bad-parameter'],
    ['file=a.log&since=junk', 400, 'bad-parameter'],
    ['file=a.log&level=loud', 400, 'bad-parameter'],
    ['file=a.log&regex=(', 400, 'bad-pattern'],
    ['file=plain.txt', 400, 'no-time'],
    ['file=go.log&level=info', 400, 'no-level'],
  ])('%j is %i', async (query, status, code) => {
    const files = { 'a.log': line(START), 'plain.txt': 'hello\n', 'go.log': '2026/11/15 02:10:00 hello\n' }
    const { response, body } = await ask(files, query)
    expect(response.status).toBe(status)
    expect(body).toMatchObject({ type: `/problems/${code}` })
  })
  test('property: every record of the window is in its bucket', async () => {
    const record = fc.record({
      gap: fc.integer({ min: 0, max: 100_000 }),
      level: fc.constantFrom(...LEVELS),
      more: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        fc.option(fc.tuple(fc.nat(3_000_000), fc.nat(3_000_000)), { nil: null }),
        async (records, most, window) => {
          let at = START
          const all = records.map(({ gap, level, more }) => {
            at += gap
            return { at, level, more }
          })
          const text = all.map(({ at, level, more }) => line(at, level) + (more ? '\tat x\n' : '')).join('')
          const [a, b] = window ? [START + Math.min(...window), START + Math.max(...window)] : [null, null]
          const query = a === null ? '' : `&since=${a}&until=${b}`
          const { body } = await ask({ 'a.log': text }, `file=a.log&buckets=${most}${query}`)
          expect(body.complete).toBe(true)
          expect(body.buckets.length).toBeLessThanOrEqual(most)
          for (const { time, counts } of body.buckets) {
            const inside = all.filter(
              ({ at }) => at >= time && at < time + body.step && (a === null || (at >= a && at < b!)),
            )
            expect(counts).toEqual(LEVELS.map((name) => inside.filter(({ level }) => level === name).length))
          }
          const wanted = all.filter(({ at }) => a === null || (at >= a && at < b!))
          expect(sum(body).reduce((x, y) => x + y)).toBe(wanted.length)
        },
      ),
      { numRuns: 200 },
    )
  })
})
