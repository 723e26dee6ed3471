import { describe, expect, it } from 'vitest'
import { readCsv } from '../support/csv.ts'
import { allPages, choose, LEVELS, type Made, makeLogs, nodeOf, pageOf, timeline } from './model.ts'

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1)
const idsIn = (text: string) => [...text.matchAll(/#[a-h]\d+/g)].map(([id]) => id)
const idsOf = (records: readonly Made[]) => records.map(({ id }) => id)
const textOf = (records: readonly Made[]) => records.map(({ text }) => text).join('')
const iso = (time: number) => new Date(time).toISOString()

/** A log of a seed, a node that shows it, and filters with the records that pass them. */
function made(seed: number, names?: string[]) {
  const { store, logs, random } = makeLogs(seed, {
    records: names ? 30 : 60,
    gap: [0, 3, 40, 90_000][seed % 4]!,
    ...(names && { names }),
  })
  const all = timeline(logs)
  const { query, isWanted } = choose(random, all)
  const file = names ? 'file=*.log' : 'file=a.log'
  return {
    app: nodeOf(store, random(2) === 0),
    logs,
    random,
    all,
    isWanted,
    query: `?${file}&rotated=true${query}`,
    wanted: all.filter(isWanted),
  }
}

describe('one log', () => {
  it.each(SEEDS)(
    'seed %i: pages of text, back and forth, are the records that pass, each once',
    async (seed) => {
      const { app, query, wanted, random } = made(seed)
      const size = 20 + random(2000)
      const lines = random(2) === 0 ? '' : `&lines=${1 + random(6)}`
      const { back, forth } = await allPages(app, `${query}&size=${size}${lines}`)
      for (const pages of [back, forth]) {
        expect(pages.map(({ text }) => text).join('')).toBe(textOf(wanted))
        for (const { status, text, notes } of pages) {
          expect([status, notes]).toEqual([200, ''])
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(size)
        }
      }
    },
  )

  it.each(SEEDS)('seed %i: pages of JSON and CSV have every member as it was meant', async (seed) => {
    const { app, query, wanted, random } = made(seed)
    const lines = 1 + random(9)
    const { back, forth } = await allPages(app, `${query}&lines=${lines}&format=ndjson`)
    for (const pages of [back, forth]) {
      for (const { text } of pages) expect(text.split('\n').length - 1).toBeLessThanOrEqual(lines)
      const records = pages.flatMap(({ text }) =>
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line)),
      )
      expect(
        records.map(({ time, level, message, context }) => [time, level, message, context?.shard]),
      ).toEqual(wanted.map(({ time, level, message, shard }) => [iso(time), level, message, Number(shard)]))
    }
    const csv = await pageOf(app, `${query}&lines=${lines}&format=csv&columns=time,level,message,shard`)
    expect(readCsv(csv.text).slice(1)).toEqual(
      wanted.slice(-lines).map(({ time, level, message, shard }) => [iso(time), level, message, shard]),
    )
  })

  it.each(SEEDS)('seed %i: records around matches are those of the log, each once', async (seed) => {
    const { app, query, all, wanted, random } = made(seed)
    if (!/[?&](q|level|regex|where)=/.test(query)) return
    const count = 1 + random(3)
    const from = /since=([^&]*)/.exec(query)?.[1] ?? iso(0)
    const to = /until=([^&]*)/.exec(query)?.[1] ?? iso(8e15)
    const near = all.filter(
      ({ time }, i) =>
        time >= Date.parse(from) &&
        time < Date.parse(to) &&
        all.slice(Math.max(0, i - count), i + count + 1).some((record) => wanted.includes(record)),
    )
    const { back, forth } = await allPages(app, `${query}&lines=${1 + random(8)}&context=${count}`)
    // As in grep, `--` stands between records that are not neighbours.
    for (const pages of [back, forth])
      expect(pages.map(({ text }) => text.replaceAll(/^--\n/gm, '')).join('')).toBe(textOf(near))
  })

  it.each(SEEDS)('seed %i: charts, groups and fields count the records that pass', async (seed) => {
    const { app, query, wanted, random } = made(seed)
    const get = async (path: string) => {
      const answer = await app.request(`/api/v1/log/${path}`)
      expect(answer.status, path).toBe(200)
      return (await answer.json()) as {
        complete: boolean
        levels: string[]
        step: number
        buckets: { time: number; counts: number[] }[]
        groups: { value: string; count: number }[]
        records: number
      }
    }
    const step = [1000, 7000, 60_000, 3_600_000][random(4)]!
    const chart = await get(`histogram${query}&step=${step}`)
    expect(chart.complete).toBe(true)
    const counted = new Map<string, number>()
    for (const { time, counts } of chart.buckets)
      for (const [i, count] of counts.entries())
        if (count > 0) counted.set(`${time} ${chart.levels[i]}`, count)
    const expected = new Map<string, number>()
    for (const { time, level } of wanted) {
      const bucket = chart.buckets.findLast((each) => each.time <= time)!
      expect(time - bucket.time).toBeLessThan(step)
      const key = `${bucket.time} ${level}`
      expected.set(key, (expected.get(key) ?? 0) + 1)
    }
    expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(expected))
    const groups = await get(`groups${query}&by=level`)
    expect(Object.fromEntries(groups.groups.map(({ value, count }) => [value, count]))).toEqual(
      Object.fromEntries(
        LEVELS.map((level) => [level, wanted.filter((record) => record.level === level).length]).filter(
          ([, count]) => count !== 0,
        ),
      ),
    )
    expect((await get(`fields${query}`)).records).toBe(wanted.length)
  })
})

describe('several logs', () => {
  const NAMES = ['a.log', 'b.log', 'c.log', 'd.log', 'e.log']

  it.each(SEEDS)(
    'seed %i: their timeline, in pages back and forth, has each record once, in order',
    async (seed) => {
      const { app, query, wanted, random } = made(seed + 1000, NAMES.slice(0, 2 + (seed % 4)))
      const { back, forth } = await allPages(app, `${query}&lines=${1 + random(20)}&format=ndjson`)
      for (const pages of [back, forth]) {
        const text = pages.map((page) => page.text).join('')
        expect(idsIn(text)).toEqual(idsOf(wanted))
        for (const { notes } of pages) expect(notes).toBe('')
      }
    },
  )
})
