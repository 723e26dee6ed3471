import { expect, it } from 'vitest'
import type { FleetNode } from '../../../src/kit/answers.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { levelCounter } from '../../../src/ship/home/levels.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { readDay } from '../../../src/store/segment/day.ts'
import { contextOf } from '../../log/context.ts'
import { createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { wholes } from '../../support/random.mjs'

const NOW = Date.now()
const line = (minutesAgo: number, level: string) =>
  `${new Date(NOW - minutesAgo * 60_000).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: x\n`

it('counts the errors and warnings of the last hour by the minute, again only where a log has changed', async () => {
  const old = line(90, 'ERROR') + line(30, 'ERROR') + line(20, 'WARN') + line(20, 'INFO')
  const store = memoryStore({
    'a.log': old,
    'plain.txt': 'nothing\n',
    'b.log': line(5, 'FATAL') + line(1, 'INFO'),
  })
  let reads = 0
  const files = logFiles({
    ...store,
    read: (...args) => {
      reads++
      return store.read(...args)
    },
  })
  const countsOf = levelCounter(contextOf(files))
  const sums = async () => {
    const counts = await countsOf()
    return Object.fromEntries(
      Object.entries(counts).map(([name, { minutes }]) => [
        name,
        Object.values(minutes).reduce((sum, [e, w]) => [sum[0]! + e, sum[1]! + w], [0, 0]),
      ]),
    )
  }
  expect(await sums()).toEqual({ 'a.log': [1, 1], 'b.log': [1, 0] })
  const before = reads
  expect(await sums()).toEqual({ 'a.log': [1, 1], 'b.log': [1, 0] })
  expect(reads - before).toBeLessThan(4)
  store.put('a.log', old + line(0, 'ERROR'))
  await new Promise((resolve) => setTimeout(resolve, 1100))
  expect(await sums()).toEqual({ 'a.log': [2, 1], 'b.log': [1, 0] })
  expect((await countsOf())['b.log']!.lastLine).toBe(NOW - 60_000)
})

it('counts what the clock has reached: a year ahead of it is no minute of the last hour', async () => {
  const ahead = -365 * 24 * 60
  const store = memoryStore({ 'a.log': line(3, 'ERROR') + line(2, 'WARN') + line(ahead, 'ERROR') })
  const counts = await levelCounter(contextOf(logFiles(store)))()
  expect(Object.values(counts['a.log']!.minutes)).toEqual([
    [1, 0],
    [0, 1],
  ])
})

it('shows them in the list of nodes, within the files of a token', async () => {
  const minute = Math.floor(NOW / 60_000)
  const counts = {
    'a.log': { lastLine: NOW - 5000, minutes: { [minute - 3]: [2, 7], [minute - 100]: [50, 50] } },
    'b.log': { lastLine: NOW - 9000, minutes: { [minute - 4]: [1, 0], broken: 'x' } },
  }
  const beat = { host: 'h', run: 'r', logs: {}, counts }
  const tokens = [{ name: 'b', token: 'secret-of-b', files: ['b.log'] }]
  const store = memoryStore({ 'db-4/ship.json': JSON.stringify(beat), 'db-7/node.json': '{}' })
  const app = createFleet({ store, tokens: () => tokens, token: 'all' })
  const nodes = async (token: string) => {
    const response = await app.request('/api/v1/nodes', { headers: { Authorization: `Bearer ${token}` } })
    return (await response.json()) as object[]
  }
  expect((await nodes('all'))[0]).toMatchObject({ errors: 3, warnings: 7, lastLine: NOW - 5000 })
  expect((await nodes('secret-of-b'))[0]).toMatchObject({ errors: 1, warnings: 0, lastLine: NOW - 9000 })
})

it('counts the last 24 hours, as a plain count of all lines does, while logs grow and time passes', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = wholes(seed)
    const pick = <T>(from: readonly T[]): T => from[random(from.length)]!
    const clock = manualClock(NOW)
    const at = (time: number, level: string) =>
      `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: x\n`
    const lines: { time: number; level: string }[] = []
    let last = NOW - 40 * 3_600_000
    const grow = (until: number) => {
      for (; last < until; last += (1 + random(40)) * 30_000)
        lines.push({ time: last, level: pick(['INFO', 'WARN', 'ERROR', 'FATAL']) })
    }
    grow(NOW)
    const store = memoryStore({})
    const countsOf = levelCounter(contextOf(logFiles(store, [], { clock }), {}, { clock }))
    for (let round = 0; round < 12; round++) {
      store.put('a.log', lines.map(({ time, level }) => at(time, level)).join(''))
      const { day } = (await countsOf())['a.log']!
      const found = new Map<number, string>()
      readDay(day!, (minute, ...count) => found.set(minute, count.join()))
      const now = Math.floor(clock.now() / 60_000)
      const sums = new Map<number, [number, number]>()
      for (const { time, level } of lines) {
        const minute = Math.floor(time / 60_000)
        if (level === 'INFO' || minute <= now - 1440) continue
        const sum = sums.get(minute) ?? [0, 0]
        sum[level === 'WARN' ? 1 : 0]++
        sums.set(minute, sum)
      }
      expect(day!.from).toBeLessThanOrEqual(now - 1439)
      expect([...found]).toEqual([...sums].map(([minute, sum]) => [minute, sum.join()]))
      clock.skip(pick([50_000, 90_000, 600_000, 7 * 3_600_000, 30 * 3_600_000]))
      if (random(4) > 0) grow(clock.now())
      else last = Math.max(last, clock.now())
    }
  }
})

it('does not say what it has not counted: a log that is too large for the budget', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => line(1400 - i / 15, 'ERROR')).join('')
  const store = memoryStore({ 'a.log': many })
  const context = contextOf(
    logFiles(store),
    { scanBytes: 200_000, scanChunk: 65_536 },
    { clock: manualClock(NOW) },
  )
  const countsOf = levelCounter(context)
  await countsOf()
  const { day } = (await countsOf())['a.log']!
  expect(day!.from).toBeGreaterThan(Math.floor(NOW / 60_000) - 1400)
})

it('writes longer steps where many logs have much to say, with the same sums', async () => {
  const busy = Array.from({ length: 1430 }, (_, i) => line(1430 - i, i % 2 ? 'ERROR' : 'WARN')).join('')
  const logs = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.log`, busy]))
  const counts = await levelCounter(contextOf(logFiles(memoryStore(logs)), {}, { clock: manualClock(NOW) }))()
  const days = Object.values(counts).map(({ day }) => day!)
  expect(days.map(({ step }) => step)).toEqual(days.map(() => 5))
  expect(JSON.stringify(days).length).toBeLessThan(40_000)
  let sum = 0
  for (const day of days) readDay(day, (_, errors, warnings) => (sum += errors + warnings))
  expect(sum).toBe(20 * 1430)
})

it('shows the last day of a node, and nulls where it is not known', async () => {
  const clock = manualClock(NOW)
  const now = Math.floor(NOW / 60_000)
  const day = (from: number, text: string) => ({ lastLine: null, minutes: {}, day: { from, step: 1, text } })
  // Two errors in the first minute that is counted.
  const counts = { 'a.log': day(now - 1439, 'ACA'), 'b.log': day(now - 600, 'ACB'), 'c.log': day(now, '!') }
  const tokens = ['a', 'b'].map((name) => ({ name, token: `secret-of-${name}`, files: [`${name}.log`] }))
  const store = memoryStore({
    'db-4/ship.json': JSON.stringify({ host: 'h', run: 'r', logs: {}, counts }),
  })
  const app = createFleet({ store, tokens: () => tokens, clock })
  const shown = async (name: string) => {
    const response = await app.request('/api/v1/nodes', {
      headers: { Authorization: `Bearer secret-of-${name}` },
    })
    return ((await response.json()) as FleetNode[])[0]!.day!
  }
  const a = await shown('a')
  expect([a.errors.length, a.step, a.from % a.step]).toEqual([96, 900_000, 0])
  expect(a.from + 96 * a.step).toBeGreaterThan(NOW)
  expect(a.errors.includes(null)).toBe(false)
  const b = await shown('b')
  const from = Math.ceil(((now - 600) * 60_000 - b.from) / b.step)
  expect(b.errors.slice(0, from).every((count) => count === null)).toBe(true)
  expect(b.errors.slice(from).every((count) => count !== null)).toBe(true)
  clock.skip(3_600_000)
  expect((await shown('a')).errors.slice(-3)).toEqual([null, null, null])
})
