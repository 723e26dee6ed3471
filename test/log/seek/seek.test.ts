import { describe, expect, it } from 'vitest'
import { concurrencyLimit } from '../../../src/kit/limits/concurrency-limit.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { parseZone, type Zone } from '../../../src/log/time.ts'
import type { View } from '../../../src/log/view/answer.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { clampRange, type Store } from '../../../src/store/store.ts'
import { contextOf, viewRequest } from '../context.ts'

const START = Date.UTC(2026, 10, 1)
const LINE = 128
const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').slice(0, 23)
const record = (time: number, i: number) =>
  `${stamp(time)}\tINFO\tquery/a.go:12\t[Broker] [Query]: ${i} `.padEnd(LINE - 1, '.').concat('\n')

/** A file of any size that is nowhere: each read makes its lines. `timeOf` gives the time of line i. */
function madeUp(size: number, timeOf: (i: number) => number, hole = { from: 0, to: 0 }) {
  const reads: { offset: number; length: number }[] = []
  const entry = { key: 'a.log', size, modified: START, etag: '"1"' }
  const store: Store = {
    async *list() {
      yield entry
    },
    stat: async (key) => (key === 'a.log' ? entry : null),
    async read(key, range) {
      if (key !== 'a.log') return null
      const { offset, length } = clampRange(range, size)
      reads.push({ offset, length })
      const first = Math.floor(offset / LINE)
      const last = Math.ceil((offset + length) / LINE)
      let text = ''
      for (let i = first; i < last; i++) text += record(timeOf(i), i)
      const body = new TextEncoder().encode(text).slice(offset - first * LINE, offset - first * LINE + length)
      if (hole.from < offset + length && hole.to > offset)
        body.fill(0, Math.max(0, hole.from - offset), Math.min(length, hole.to - offset))
      return { entry, offset, length, body }
    },
  }
  return { store, reads }
}

const textOf = async ({ series, from, to, pieces }: View) =>
  Buffer.concat(pieces ?? [await series.read(from, to)]).toString()

describe('since and until', () => {
  it.each([
    // Most of them look for disorder near the border.
    ['1 GiB', 2 ** 30, 60],
    ['20 GiB', 20 * 2 ** 30, 64],
  ])('are found in %s with few reads', async (_, size, most) => {
    // An hour of silence now and then, so that times are not even.
    const timeOf = (i: number) => START + i * 7 + Math.floor(i / 100_000) * 3_600_000
    const { store, reads } = madeUp(size, timeOf)
    const count = size / LINE
    for (const i of [
      1,
      12_345,
      99_999,
      100_000,
      Math.floor(count / 3),
      Math.floor(count * 0.77),
      count - 2,
    ]) {
      reads.length = 0
      const view = await viewOf(
        contextOf(logFiles(store)),
        viewRequest({ since: timeOf(i), fit: { size: 0, lines: null } }),
      )
      expect(reads.length).toBeLessThanOrEqual(most)
      expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(2 * 2 ** 20)
      const page = await viewOf(
        contextOf(logFiles(store)),
        viewRequest({ until: timeOf(i), fit: { size: 300, lines: 1 } }),
      )
      expect(await textOf(page)).toBe(record(timeOf(i - 1), i - 1))
      expect(view.notes).toEqual([])
      const first = await viewOf(
        contextOf(logFiles(store)),
        viewRequest({ since: timeOf(i), until: timeOf(i) + 1, fit: { size: 1000, lines: null } }),
      )
      expect(await textOf(first)).toBe(record(timeOf(i), i))
      expect(first.prev).toBeNull()
    }
  })

  it('skip what has no time: a trace of a megabyte in the middle', async () => {
    const trace = '\tat some.place(Somewhere.java)\n'.repeat(300_000)
    const lines = Array.from({ length: 2000 }, (_, i) => record(START + i * 1000, i))
    const text = lines.slice(0, 1000).join('') + trace + lines.slice(1000).join('')
    const context = contextOf(logFiles(memoryStore({ 'a.log': text })))
    for (const i of [500, 999, 1000, 1001, 1500]) {
      const view = await viewOf(
        context,
        viewRequest({ since: START + i * 1000, fit: { size: 1e9, lines: null } }),
      )
      const expected = lines.slice(i)
      if (i < 1000) expected.splice(1000 - i, 0, trace)
      expect(await textOf(view)).toBe(expected.join(''))
    }
  })

  it('are found on both sides of a hole of NULs, in few reads', async () => {
    const GIB = 2 ** 30
    const lines = 1000 * LINE
    const size = 4 * GIB
    for (const hole of [
      { from: lines, to: size - lines },
      { from: 0, to: size - lines },
      { from: GIB, to: 2 * GIB },
    ]) {
      const { store, reads } = madeUp(size, (i) => START + i * 1000, hole)
      for (const i of [hole.from / LINE - 10, hole.to / LINE + 10, size / LINE - 5]) {
        if (i < 0) continue
        reads.length = 0
        const window = { since: START + i * 1000, until: START + (i + 2) * 1000 }
        const view = await viewOf(contextOf(logFiles(store)), viewRequest(window))
        expect(await textOf(view)).toBe([i, i + 1].map((n) => record(START + n * 1000, n)).join(''))
        expect(view.notes).toEqual([])
        expect(reads.length).toBeLessThan(200)
        expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(4 * 2 ** 20)
      }
    }
  })

  it('are looked for within the budget, and then every record is checked', async () => {
    const { store, reads } = madeUp(2 ** 30, (i) => START + i * 1000)
    const context = contextOf(logFiles(store), { scanBytes: 2 ** 20, scanChunk: 2 ** 17 })
    const view = await viewOf(context, viewRequest({ since: START + 5_000_000, until: START + 5_010_000 }))
    expect(view.notes).toEqual(['scan-budget'])
    expect(view.prev).not.toBeNull()
    expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(3 * 2 ** 20)
  })

  it('take one of the places of a search', async () => {
    const { store } = madeUp(2 ** 30, (i) => START + i * 1000)
    const scans = concurrencyLimit({ most: 2, queue: 2, busy: () => new Error('busy') })
    const context = contextOf(logFiles(store), {}, { scans })
    const ask = () => viewOf(context, viewRequest({ since: START + 5_000_000, until: START + 5_010_000 }))
    const results = await Promise.allSettled(Array.from({ length: 30 }, ask))
    const refused = results.filter(({ status }) => status === 'rejected').length
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(30)
  })

  it.each([0.2, 0.6, 1.5, 3, 7.5])('are found where the clock stepped back by %f MiB of log', async (mib) => {
    const count = (64 * 2 ** 20) / LINE
    const back = Math.floor((mib * 2 ** 20) / LINE)
    const step = Math.floor(count * 0.6)
    const timeOf = (i: number) => START + (i >= step ? i - back : i) * 10
    const { store } = madeUp(64 * 2 ** 20, timeOf)
    for (const share of [0.02, 0.3, 0.5, 0.7, 0.98]) {
      const at = Math.floor(step - back * share)
      const window = { since: START + at * 10, until: START + (at + 8) * 10 }
      for (const parallel of [1, 16]) {
        const context = contextOf(logFiles(store), {}, { parallel })
        const view = await viewOf(context, viewRequest(window))
        const wanted = [...Array(8).keys()].flatMap((n) => [at + n, at + n + back])
        const expected = wanted.filter((i) => timeOf(i) >= window.since && timeOf(i) < window.until)
        const lines = expected.sort((a, b) => a - b).map((i) => record(timeOf(i), i))
        expect(await textOf(view)).toBe(lines.join(''))
        expect(view.notes).toEqual(['time-order'])
      }
    }
  })

  it('in a large file in no order are asked record by record, and that is said', async () => {
    const timeOf = (i: number) => START + ((i * 7919) % 65_536) * 1000
    const { store } = madeUp(8 * 2 ** 20, timeOf)
    const since = START + 65_530_000
    const view = await viewOf(contextOf(logFiles(store)), viewRequest({ since }))
    const expected = Array.from({ length: 65_536 }, (_, i) => i).filter((i) => timeOf(i) >= since)
    expect(await textOf(view)).toBe(expected.map((i) => record(timeOf(i), i)).join(''))
    expect(view.notes).toEqual(['time-order'])
  })

  it('are found where the clock stepped back a little', async () => {
    const timeOf = (i: number) => START + i * 10 - (i > 40_000 ? 1000 : 0)
    const { store } = madeUp(10 * 2 ** 20, timeOf)
    const since = START + 40_000 * 10 - 500
    const view = await viewOf(contextOf(logFiles(store)), viewRequest({ since, until: since + 1000 }))
    const expected = Array.from({ length: 81_920 }, (_, i) => i).filter(
      (i) => timeOf(i) >= since && timeOf(i) < since + 1000,
    )
    expect(await textOf(view)).toBe(expected.map((i) => record(timeOf(i), i)).join(''))
    expect(view.notes).toEqual(['time-order'])
  })

  it('on the day when clocks are set back find both of the hours that come twice', async () => {
    const zone = parseZone('Europe/Berlin') as Zone
    // 25 October 2026, 03:00 is 02:00 again at 01:00 UTC. A line each second, written as the wall shows it.
    const from = Date.UTC(2026, 9, 24, 20)
    const wall = (i: number) => from + i * 1000 + zone.offsetAt(from + i * 1000)
    const { store } = madeUp(36_000 * LINE * 2, wall)
    const at = (text: string) => Date.parse(text)
    const context = contextOf(logFiles(store), {}, { zone })
    // 02:30 to 02:31 of the wall, which happens at 00:30 and at 01:30 UTC.
    const view = await viewOf(
      context,
      viewRequest({ since: at('2026-10-25T00:30:00Z'), until: at('2026-10-25T00:31:00Z') }),
    )
    const text = await textOf(view)
    expect(text.split('\n').length - 1).toBe(120)
    expect(text.slice(0, 19)).toBe('2026-10-25 02:30:00')
    expect(view.notes).toEqual(['time-order'])
    const before = await viewOf(
      context,
      viewRequest({ since: at('2026-10-24T21:00:00Z'), until: at('2026-10-24T21:01:00Z') }),
    )
    expect((await textOf(before)).split('\n').length - 1).toBe(60)
  })
})
