import { describe, expect, it } from 'vitest'
import { Sketch } from '../../../src/log/numbers/sketch.ts'
import { fractions } from '../../support/random.mjs'

/** The exact quantile by nearest rank. */
function exactOf(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
}

const random = fractions(38)
const many = (of: () => number, count = 20_000) => Array.from({ length: count }, of)

describe.each<[name: string, numbers: number[]]>([
  ['evenly spread numbers', many(() => random() * 1000)],
  ['a long tail', many(() => Math.exp(random() * 20 - 5))],
  ['negative numbers, zeros and others', many(() => Math.round((random() - 0.5) * 10) * random())],
  ['whole numbers', many(() => Math.floor(random() * 600))],
  ['the ends of what a double can be', [5e-324, 1e-300, 1, 1e300, Number.MAX_VALUE, -Number.MAX_VALUE]],
  ['one number', [42]],
  ['two numbers', [1, 100]],
  ['the same number', many(() => 0.1, 1000)],
])('%s', (_name, numbers) => {
  const whole = new Sketch()
  const halves = [new Sketch(), new Sketch()]
  for (const [i, number] of numbers.entries()) {
    whole.add(number)
    halves[i % 2]!.add(number)
  }
  const merged = new Sketch()
  for (const half of halves) merged.merge(half)

  it.each([0.01, 0.5, 0.95, 0.99, 1])('quantile %s is within 1 %', (share) => {
    const exact = exactOf(numbers, share)
    for (const sketch of [whole, merged])
      expect(Math.abs(sketch.quantile(share) - exact)).toBeLessThanOrEqual(Math.abs(exact) * 0.0101)
  })
  it('has its exact ends and count', () => {
    for (const { count, min, max } of [whole, merged])
      expect([count, min, max]).toEqual([
        numbers.length,
        numbers.reduce((a, b) => Math.min(a, b)),
        numbers.reduce((a, b) => Math.max(a, b)),
      ])
  })
})

it('gives the number itself where it is alone in its bin', () => {
  const sketch = new Sketch()
  for (let i = 0; i < 300; i++) sketch.add(i < 200 ? 200 : 503)
  expect([sketch.quantile(0.5), sketch.quantile(0.95)]).toEqual([200, 503])
})

it('takes little memory, however many numbers there are', () => {
  const sketch = new Sketch()
  for (let i = 1; i <= 200_000; i++) sketch.add(i)
  expect(sketch.bins).toBeLessThan(1300)
})
