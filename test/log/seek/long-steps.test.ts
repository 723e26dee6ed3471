import { expect, it } from 'vitest'
import { logFiles } from '../../../src/log/files/files.ts'
import { histogramOf } from '../../../src/log/histogram/histogram.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { wholes } from '../../support/random.mjs'
import { contextOf, selectionOf, viewRequest } from '../context.ts'

const START = Date.UTC(2026, 10, 1)
const LINE = 128
const COUNT = 200_000
const HOUR = 3_600_000
const STEPS = [1000, 10_000, 60_000, HOUR, 24 * HOUR, 365 * 24 * HOUR]

/** For how many lines a clock is wrong that comes back. */
const BRIEF = [10, 1000, 20_000]

/**
 * The times of the lines of a long log: in bursts, with hours of silence, and a clock that steps. One that comes back
 * does so after some lines more than `least`.
 */
function timesOf(random: (below: number) => number, least = 2): { times: Float64Array; borders: number[] } {
  const times = new Float64Array(COUNT)
  const borders: number[] = []
  // Where the clock steps, and by how much. Half of the steps are taken back soon, some after a few lines.
  const steps = new Map<number, number>()
  for (let n = 1 + random(3); n > 0; n--) {
    const by = (random(4) === 0 ? 1 : -1) * STEPS[random(STEPS.length)]!
    const at = random(COUNT)
    steps.set(at, by)
    if (random(2) === 0) steps.set(at + least + random(BRIEF[random(3)]!), -by)
  }
  let gap = 1 + random(20)
  let time = START
  for (let i = 0; i < COUNT; i++) {
    if (i % 5000 === 0) gap = 1 + random(40)
    time += random(2 * gap)
    if (random(60_000) === 0) time += HOUR
    const by = steps.get(i)
    if (by !== undefined) {
      const share = random(1000) / 1000
      borders.push(time, time + by, time + Math.floor(by * share), time + Math.floor(by / 2))
      time += by
    }
    times[i] = time
  }
  return { times, borders }
}

function textOf(times: Float64Array): Uint8Array {
  const all = Buffer.alloc(COUNT * LINE, '.')
  for (let i = 0; i < COUNT; i++) {
    const stamp = new Date(times[i]!).toISOString().replace('T', ' ').slice(0, 23)
    all.write(`${stamp}\tINFO\tquery/a.go:12\t[Broker] [Query]: number ${i} `, i * LINE)
    all[i * LINE + LINE - 1] = 10
  }
  return all
}

const idsIn = (text: string) => [...text.matchAll(/number (\d+) /g)].map(([, id]) => Number(id))

/** Compares what is found in a log, whole and as a family, with its times. */
async function check(
  random: (below: number) => number,
  { times, borders }: ReturnType<typeof timesOf>,
  contexts: (store: ReturnType<typeof memoryStore>) => ReturnType<typeof contextOf>[],
) {
  const text = textOf(times)
  const whole = [{ 'a.log': text }, false] as const
  const cuts = [0.3, 0.7].map((share) => Math.floor(share * COUNT) * LINE)
  const family = {
    'a.log.2': text.subarray(0, cuts[0]),
    'a.log.1': text.subarray(cuts[0], cuts[1]),
    'a.log': text.subarray(cuts[1]),
  }
  for (const [files, rotated] of [whole, [family, true] as const])
    for (const [i, context] of contexts(memoryStore(files)).entries()) {
      for (let n = 0; n < 6; n++) {
        const at =
          n % 3 === 0 ? times[random(COUNT)]! : borders[random(borders.length)]! + random(20_000) - 10_000
        const window = { since: at, until: at + [10, 1000, 10_000][random(3)]! }
        const expected: number[] = []
        for (let i = 0; i < COUNT; i++)
          if (times[i]! >= window.since && times[i]! < window.until) expected.push(i)
        const where = `${JSON.stringify(window)} context ${i} rotated ${rotated}`
        const view = await viewOf(
          context,
          viewRequest({ ...window, rotated, fit: { size: 1 << 26, lines: null } }),
        )
        const found = Buffer.concat(view.pieces ?? [await view.series.read(view.from, view.to)]).toString()
        expect(
          idsIn(found).sort((a, b) => a - b),
          where,
        ).toEqual(expected)
        const request = { selection: selectionOf(window), file: 'a.log', rotated, buckets: 10 }
        const chart = await histogramOf(context, request, () => false)
        const sum = chart!.buckets.flatMap(({ counts }) => counts).reduce((a, b) => a + b, 0)
        expect([sum, chart!.complete], where).toEqual([expected.length, true])
      }
    }
}

const SEEDS = [1, 2, 3, 4]

it.each(SEEDS)('a long log whose clock steps: seed %i', async (seed) => {
  const random = wholes(seed * 7919)
  await check(random, timesOf(random), (store) =>
    [1, 16].map((parallel) => contextOf(logFiles(store), {}, { parallel })),
  )
})

it.each(SEEDS)('a log on a disk that is too long to be read through: seed %i', async (seed) => {
  const random = wholes(seed * 104_729)
  // A clock that is wrong for 512 KiB is always seen.
  const made = timesOf(random, (512 * 1024) / LINE + 2)
  await check(random, made, (store) => [
    contextOf({ ...logFiles(store), isNear: true }, {}, { wholeBytes: 1 << 20 }),
  ])
})

it.each(SEEDS)('a log in a bucket that is too long to be read through: seed %i', async (seed) => {
  const random = wholes(seed * 15_485_863)
  // As on a disk, because it has fewer than 256 times 512 KiB.
  const made = timesOf(random, (512 * 1024) / LINE + 2)
  await check(random, made, (store) => [
    contextOf(logFiles(store), {}, { parallel: 16, wholeBytes: 1 << 20 }),
  ])
})

it.each(SEEDS)('a log that is read with few requests at a time: seed %i', async (seed) => {
  const random = wholes(seed * 32_452_843)
  // There are sixteen samples, and the ends.
  const made = timesOf(random, COUNT / 16)
  await check(random, made, (store) => [contextOf(logFiles(store), {}, { parallel: 6, wholeBytes: 1 << 20 })])
})
