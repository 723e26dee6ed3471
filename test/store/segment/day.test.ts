import { expect, it } from 'vitest'
import { readDay, writeDay } from '../../../src/store/segment/day.ts'
import { wholes } from '../../support/random.mjs'

it('reads what it wrote: the sums of each step, in a few KB', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = wholes(seed)
    const pick = <T>(from: readonly T[]): T => from[random(from.length)]!
    const from = 29_000_000 + random(5000 + 1)
    const step = pick([1, 5, 15])
    const most = pick([3, 40, 2000, 2 ** 29])
    const minutes: [number, number, number][] = []
    for (let minute = from; minute < from + 1440; minute += 1 + random(9))
      minutes.push([minute, random(most + 1), random(most + 1)])
    const day = writeDay(from, step, (add) => {
      for (const each of minutes) add(...each)
    })
    const sums = new Map<number, [number, number]>()
    for (const [minute, errors, warnings] of minutes) {
      const sum = sums.get(Math.floor(minute / step) * step) ?? [0, 0]
      sums.set(Math.floor(minute / step) * step, [
        Math.min(2 ** 30 - 1, sum[0] + errors),
        Math.min(2 ** 30 - 1, sum[1] + warnings),
      ])
    }
    const wanted = [...sums].filter(([, [errors, warnings]]) => errors + warnings > 0)
    const found: [number, [number, number]][] = []
    readDay(day, (minute, ...count) => found.push([minute, count]))
    expect(found).toEqual(wanted)
    if (most < 32) expect(day.text.length).toBeLessThanOrEqual(3 * 1440)
  }
})

it('reads nothing from what is no such text', () => {
  for (const text of ['!', 'A', 'AA', 'AA!', '________', '_______A', 'AA_______A']) {
    const found: number[] = []
    readDay({ from: 7, step: 1, text }, (minute) => found.push(minute))
    expect(found, text).toEqual([])
  }
})
