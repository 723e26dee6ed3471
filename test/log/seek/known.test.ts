import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { logFiles } from '../../../src/log/files/files.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Store } from '../../../src/store/store.ts'
import { contextOf, viewRequest } from '../context.ts'

const START = Date.UTC(2026, 10, 1)
const MIB = 1024 * 1024
const HOUR = 3_600_000

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-known-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const lineAt = (time: number, i: number) =>
  `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: number ${i} `
    .padEnd(255, '.')
    .concat('\n')

/** Lines with numbers [from, to), one each 10 ms; a clock that is wrong for some is `by` ahead. */
function lines(from: number, to: number, wrong = { from: 0, to: 0, by: 0 }): string {
  let text = ''
  for (let i = from; i < to; i++)
    text += lineAt(START + i * 10 + (i >= wrong.from && i < wrong.to ? wrong.by : 0), i)
  return text
}

/** Asks for a range of time in `a.log`; counts the bytes that this reads. */
function asking(more: { wholeBytes?: number } = {}) {
  const store = fsStore(directory)
  let bytes = 0
  const counted: Store = {
    ...store,
    list: (...query) => store.list(...query),
    stat: (...query) => store.stat(...query),
    async read(...query) {
      const found = await store.read(...query)
      bytes += found?.length ?? 0
      return found
    },
  }
  const context = contextOf({ ...logFiles(counted), isNear: true }, {}, more)
  return async (since: number, until: number, rotated = false) => {
    bytes = 0
    const view = await viewOf(
      context,
      viewRequest({ since, until, rotated, fit: { size: 1 << 26, lines: null } }),
    )
    const text = Buffer.concat(view.pieces ?? [await view.series.read(view.from, view.to)]).toString()
    return { ids: [...text.matchAll(/number (\d+)/g)].map(([, id]) => Number(id)), bytes }
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const COUNT = 48_000

it('a log is read through once, and then what was appended', async () => {
  const ask = asking()
  const file = join(directory, 'a.log')
  writeFileSync(file, lines(0, COUNT, { from: 10_000, to: 10_050, by: 24 * HOUR }))
  const window = [START + 24 * HOUR, START + 25 * HOUR] as const
  const first = await ask(...window)
  expect(first.ids).toEqual(range(10_000, 10_050))
  expect(first.bytes).toBeGreaterThan(COUNT * 256)
  const early = [START + 5000 * 10, START + 5010 * 10] as const
  const second = await ask(...early)
  expect(second.ids).toEqual(range(5000, 5010))
  expect(second.bytes).toBeLessThan(3 * MIB)
  // The clock is wrong once more, after an unfinished line.
  appendFileSync(file, lines(COUNT, COUNT + 1).slice(0, 100))
  expect((await ask(...window)).ids).toEqual(first.ids)
  appendFileSync(file, lines(COUNT, COUNT + 1).slice(100))
  appendFileSync(file, lines(COUNT + 1, COUNT + 9000, { from: COUNT + 3, to: COUNT + 5, by: 24 * HOUR }))
  const third = await ask(...window)
  expect(third.ids).toEqual([...first.ids, COUNT + 3, COUNT + 4])
  appendFileSync(file, lines(COUNT + 9000, COUNT + 9001))
  const grown = await ask(...early)
  expect(grown.ids).toEqual(range(5000, 5010))
  expect(grown.bytes).toBeLessThan(4 * MIB)
  // The family of a rotated file and a new one.
  renameSync(file, join(directory, 'a.log.1'))
  writeFileSync(
    file,
    lines(COUNT + 9001, COUNT + 9100, { from: COUNT + 9050, to: COUNT + 9051, by: 24 * HOUR }),
  )
  const rotated = await ask(...window, true)
  expect(rotated.ids).toEqual([...third.ids, COUNT + 9050])
  expect((await ask(...early, true)).bytes).toBeLessThan(3 * MIB)
})

it.each([
  ['as long', COUNT],
  ['longer', COUNT + 100],
])('a log that was written anew is read anew: %s', async (_, count) => {
  const ask = asking()
  const file = join(directory, 'a.log')
  writeFileSync(file, lines(0, COUNT))
  expect((await ask(START + 24 * HOUR, START + 25 * HOUR)).ids).toEqual([])
  writeFileSync(file, lines(count - COUNT, count, { from: 20_000, to: 20_002, by: 24 * HOUR }))
  appendFileSync(file, lines(count, count + (count - COUNT)))
  expect((await ask(START + 24 * HOUR, START + 25 * HOUR)).ids).toEqual([20_000, 20_001])
})

it('a log that is too long to be read through is sampled once, and then what was appended', async () => {
  const ask = asking({ wholeBytes: MIB })
  const file = join(directory, 'a.log')
  const many = 2 * COUNT
  // 520 KiB between two samples that a search by halves would take, and far from where it looks closer.
  const wrong = { from: 20_500, to: 20_500 + 2080, by: 24 * HOUR }
  writeFileSync(file, lines(0, many, wrong))
  const early = [START + 5000 * 10, START + 5010 * 10] as const
  const sampled = await ask(...early)
  expect(sampled.ids).toEqual(range(5000, 5010))
  expect(sampled.bytes).toBeLessThan((many * 256) / 4)
  const window = [START + 24 * HOUR, START + 25 * HOUR] as const
  const first = await ask(...window)
  expect(first.ids).toEqual(range(wrong.from, wrong.to))
  const again = await ask(...early)
  appendFileSync(file, lines(many, many + 10_000, { from: many + 3000, to: many + 5080, by: 24 * HOUR }))
  const grown = await ask(...window)
  expect(grown.ids).toEqual([...first.ids, ...range(many + 3000, many + 5080)])
  appendFileSync(file, lines(many + 10_000, many + 10_001))
  const last = await ask(...early)
  expect(last.ids).toEqual(range(5000, 5010))
  expect(last.bytes).toBeLessThan(again.bytes + 2 * MIB)
})

it('the rest of a record that a rotation cut goes with it', async () => {
  const ask = asking()
  const trace = '\tat some.place()\n'.repeat(10)
  writeFileSync(join(directory, 'a.log.1'), lines(0, 20_000))
  writeFileSync(join(directory, 'a.log'), `${trace}${lines(20_000, 40_000)}`)
  const store = fsStore(directory)
  const context = contextOf({ ...logFiles(store), isNear: true })
  const until = START + 19_999 * 10 + 1
  const view = await viewOf(
    context,
    viewRequest({ since: until - 1, until, rotated: true, fit: { size: 1 << 26, lines: null } }),
  )
  const text = Buffer.concat(view.pieces ?? [await view.series.read(view.from, view.to)]).toString()
  expect(text).toBe(lines(19_999, 20_000) + trace)
  expect((await ask(until, until + 10, true)).ids).toEqual([20_000])
})

it('an archive that ends in the second in which the range begins is in order', async () => {
  writeFileSync(join(directory, 'a.log.1.gz'), gzipSync(lines(0, 30)))
  writeFileSync(join(directory, 'a.log'), lines(30, 60))
  const context = contextOf(logFiles(fsStore(directory)))
  for (const i of [29, 30, 31]) {
    const view = await viewOf(context, viewRequest({ since: START + i * 10, rotated: true }))
    expect(view.notes).toEqual([])
  }
})
