import { describe, expect, it } from 'vitest'
import { NEIGHBOUR_RECORDS, placedTimes } from '../../../../src/log/merge/records/order.ts'
import { fractions } from '../../../support/random.mjs'

const placed = (...times: number[]) => [...placedTimes(times, 0, times.length)]

describe('placedTimes', () => {
  it.each([
    ['times that never fall', [1, 2, 2, 5, 9999], [1, 2, 2, 5, 9999]],
    ['a first time in the future', [9999, 1, 2, 3, 4], [1, 1, 2, 3, 4]],
    ['a last time in the past', [1, 2, 3, 4, 0], [1, 2, 3, 4, 4]],
    ['a time in the future', [5, 9999, 6], [5, 5, 6]],
    ['a time in the past', [5, 0, 6], [5, 5, 6]],
    ['a record that was written late', [1, 2, 3, 2.5, 4, 5], [1, 2, 3, 3, 4, 5]],
  ])('places %s', (_, times, expected) => {
    expect(placed(...times)).toEqual(expected)
  })

  it('places late and wrong times near the true ones, and never falls', () => {
    const random = fractions(7)
    let time = 0
    const truth: number[] = []
    const times: number[] = []
    for (let i = 0; i < 20_000; i++) {
      time += random() * 100
      truth.push(time)
      const late = random() < 0.2 ? random() * 50 : 0
      const wrong = random() < 0.001 ? (random() - 0.5) * 2 * 86_400_000 : 0
      times.push(time - late + wrong)
    }
    const found = placed(...times)
    expect(found.every((each, i) => i === 0 || each >= found[i - 1]!)).toBe(true)
    const off = found.map((each, i) => Math.abs(each - truth[i]!)).sort((a, b) => a - b)
    expect(off[Math.floor(0.99 * off.length)]).toBeLessThan(70)
    expect(off.at(-1)).toBeLessThan(1000)
    // A part of the log is enough, if it has the neighbours.
    for (let from = 100; from < 19_000; from += 777) {
      const part = times.slice(from - NEIGHBOUR_RECORDS, from + 50 + NEIGHBOUR_RECORDS)
      expect([...placedTimes(part, NEIGHBOUR_RECORDS, NEIGHBOUR_RECORDS + 50)]).toEqual(
        found.slice(from, from + 50),
      )
    }
  })
})
