import { describe, expect, it } from 'vitest'
import type { ByteRange, Entry, Store } from '../../../src/store/store.ts'
import { clampRange } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

const MIB = 2 ** 20
const START = Date.UTC(2026, 10, 1)
const LINE = 128
const encoder = new TextEncoder()
const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').slice(0, 23)
const record = (i: number, level: string, length: number) =>
  `${stamp(START + i * 10)}\t${level}\ta.go:12\t[Broker] [Query]: ${i} `.padEnd(length - 1, '.').concat('\n')

/** A file of any size whose lines are made when they are read. */
function madeUp(key: string, size: number, levelOf: (i: number) => string, line = LINE) {
  const entry: Entry = { key, size, modified: START, etag: `"${key}-${size}"` }
  const bytesOf = (offset: number, length: number) => {
    const first = Math.floor(offset / line)
    const last = Math.ceil((offset + length) / line)
    let text = ''
    for (let i = first; i < last; i++) text += record(i, levelOf(i), line)
    return encoder.encode(text).slice(offset - first * line, offset - first * line + length)
  }
  return { entry, bytesOf }
}

/** A distant bucket: parallel requests are answered together, one round trip later. */
function farBucket(files: ReturnType<typeof madeUp>[]) {
  const counted = { rounds: 0, requests: 0, bytes: 0, most: 0 }
  let waiting: (() => void)[] = []
  let isIdle = true
  /** Answers when no more requests come: the event loop has been empty for a few turns. */
  const flush = async () => {
    for (let quiet = 0, seen = waiting.length; quiet < 5; ) {
      await new Promise((resolve) => setImmediate(resolve))
      quiet = waiting.length === seen ? quiet + 1 : 0
      seen = waiting.length
    }
    counted.rounds++
    counted.most = Math.max(counted.most, waiting.length)
    isIdle = true
    const answered = waiting
    waiting = []
    for (const answer of answered) answer()
  }
  const roundTrip = async (signal: AbortSignal | undefined) => {
    counted.requests++
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (isIdle) {
        isIdle = false
        void flush()
      }
    })
    signal?.throwIfAborted()
  }
  const find = (key: string) => files.find(({ entry }) => entry.key === key)
  const store: Store = {
    async *list(prefix = '', { signal } = {}) {
      await roundTrip(signal)
      for (const { entry } of files) if (entry.key.startsWith(prefix)) yield entry
    },
    async stat(key, { signal } = {}) {
      await roundTrip(signal)
      return find(key)?.entry ?? null
    },
    async read(key: string, range?: ByteRange, { signal } = {}) {
      await roundTrip(signal)
      const file = find(key)
      if (!file) return null
      const { offset, length } = clampRange(range, file.entry.size)
      counted.bytes += length
      return { entry: file.entry, offset, length, body: file.bytesOf(offset, length) }
    },
  }
  // Rounds are counted here, so a slow machine may take its time.
  const app = createApp({ logs: store, config: '', limits: { scanMillis: 600_000 } })
  const ask = async (query: string) => {
    Object.assign(counted, { rounds: 0, requests: 0, bytes: 0, most: 0 })
    const response = await app.request(`/api/v1/log/${query}`)
    const body = await response.text()
    expect(response.status, body).toBe(200)
    return { ...counted, body, notes: response.headers.get('X-Nodestate-Note') }
  }
  return ask
}

const GIB = 2 ** 30
const log = (level: (i: number) => string = () => 'INFO') => farBucket([madeUp('a.log', GIB, level)])
const at = (i: number) => encodeURIComponent(new Date(START + i * 10).toISOString())

describe('round trips to a bucket', () => {
  it('one for a plain tail', async () => {
    expect((await log()('view?file=a.log&size=262144')).rounds).toBe(1)
  })

  it('one for the last lines', async () => {
    const { rounds, body } = await log()('view?file=a.log&lines=100')
    expect(rounds).toBe(1)
    expect(body.split('\n').length - 1).toBe(100)
  })

  it.each([
    ['60', 20_000, 4 * MIB, 60],
    // The size is reached first.
    ['60', 20_000, MIB, 52],
    ['60', 20_000, undefined, 60],
    ['10', 20_000, undefined, 10],
    ['5000', LINE, undefined, 5000],
    ['30000', LINE, MIB, 8192],
  ])('two for the last %s lines of %d bytes each, each read once', async (lines, line, size, count) => {
    const ask = farBucket([madeUp('a.log', line * 100_000, () => 'INFO', line)])
    const sized = size === undefined ? '' : `&size=${size}`
    const { rounds, bytes, body } = await ask(`view?file=a.log&lines=${lines}${sized}`)
    const records = Array.from({ length: count }, (_, i) => record(100_000 - count + i, 'INFO', line))
    expect(body).toBe(records.join(''))
    expect(rounds).toBe(2)
    expect(bytes).toBeLessThan(1.4 * body.length)
  })

  it('no more bytes for a small log than it has', async () => {
    const ask = farBucket([madeUp('a.log', 900 * LINE, () => 'INFO')])
    for (const lines of [1, 500, 900, 5000]) {
      const { rounds, bytes, body } = await ask(`view?file=a.log&lines=${lines}`)
      expect(body.length).toBe(Math.min(lines, 900) * LINE)
      expect(rounds).toBeLessThanOrEqual(2)
      expect(bytes).toBeLessThanOrEqual(900 * LINE)
    }
  })

  it('few for a window of time, and fewer when it is asked for again', async () => {
    const ask = log()
    for (const i of [1_000_000, 4_500_000, 8_000_000]) {
      const window = `view?file=a.log&since=${at(i)}&until=${at(i + 1000)}`
      const first = await ask(window)
      expect(first.body.split('\n').length - 1).toBe(1000)
      expect(first.rounds).toBeLessThanOrEqual(6)
      // A sample for each 4 MiB, of any log once, shows whether its clock stepped back.
      expect(first.requests).toBeLessThan(i === 1_000_000 ? 376 : 120)
      expect(first.bytes).toBeLessThan(16 * MIB)
      const again = await ask(window)
      expect(again.rounds).toBeLessThanOrEqual(3)
      expect(again.body).toBe(first.body)
      const errors = await log((n) => (n % 100 === 0 ? 'ERROR' : 'INFO'))(`${window}&level=error`)
      expect(errors.rounds).toBeLessThanOrEqual(7)
      expect(errors.body.split('\n').length - 1).toBe(10)
    }
  })

  it('few for a hundred errors among 12 MB', async () => {
    const { rounds, body } = await log((i) => (i % 1000 === 0 ? 'ERROR' : 'INFO'))(
      'view?file=a.log&level=error&lines=100',
    )
    expect(body.split('\n').length - 1).toBe(100)
    expect(rounds).toBeLessThanOrEqual(5)
  })

  it('many reads at once for a search, and none after it', async () => {
    const ask = farBucket([madeUp('a.log', 256 * MIB, () => 'INFO')])
    const { rounds, most, bytes } = await ask('view?file=a.log&q=nowhere')
    expect(most).toBeGreaterThanOrEqual(12)
    expect(rounds).toBeLessThanOrEqual(10)
    expect(bytes).toBeLessThan(260 * MIB)
  })

  it('few for the times of many files', async () => {
    const files = Array.from({ length: 206 }, (_, i) => madeUp(`f${i}.log`, 10 * MIB, () => 'INFO'))
    const details = await farBucket(files)('list?detail=true')
    expect(details.rounds).toBeLessThanOrEqual(12)
    expect(details.notes).toBeNull()
  })
})
