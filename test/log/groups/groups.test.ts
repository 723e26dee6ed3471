import { describe, expect, it } from 'vitest'
import { Groups } from '../../../src/log/groups/groups.ts'

const ms = (amount: number) => ({ kind: 'duration', amount }) as const

describe('groups that do not fit into memory', () => {
  it('are counted in other, and those that are shown stay exact', () => {
    const groups = new Groups({ values: 3, text: 1000, bins: 1000 })
    for (let i = 0; i < 100; i++) groups.add([`v${i % 10}`], i % 2 === 0, null)
    expect(groups.isCut).toBe(true)
    expect(groups.top('count', 10, false)).toEqual({
      unit: null,
      records: 100,
      groups: ['v0', 'v1', 'v2'].map((value, i) => ({ value, count: 10, errors: i % 2 === 0 ? 10 : 0 })),
      other: { count: 70, errors: 30 },
    })
  })
  it('are those whose values are too long, alone or together', () => {
    const groups = new Groups({ values: 10, text: 10, bins: 1000 })
    for (const value of ['aaaa', 'bbbb', 'cccc', 'aaaa', 'dd']) groups.add([value], false, null)
    groups.add(['x'.repeat(1001)], true, null)
    expect(groups.top('count', 10, false)).toMatchObject({
      groups: [{ value: 'aaaa', count: 2 }, { value: 'bbbb' }, { value: 'dd' }],
      other: { count: 2, errors: 1 },
    })
  })
  it('give back the numbers of the smallest, which are never shown with a part of them', () => {
    const groups = new Groups({ values: 100, text: 1000, bins: 100 })
    for (let i = 1; i <= 60; i++) groups.add(['large'], false, ms(2 ** (i % 30)))
    for (let i = 1; i <= 80; i++) groups.add([`small${i}`], false, ms(i))
    for (let i = 1; i <= 80; i++) groups.add([`small${i}`], true, ms(1000))
    const { groups: shown, other, records } = groups.top('max', 100, true)
    expect(groups.isCut).toBe(true)
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.find(({ value }) => value === 'large')).toMatchObject({ count: 60, min: 1, max: 2 ** 29 })
    for (const { value, count, min, max } of shown)
      if (value !== 'large') expect([count, min, max]).toEqual([2, Number(value.slice(5)), 1000])
    expect(records).toBe(220)
    expect(shown.reduce((sum, { count }) => sum + count, other!.count)).toBe(220)
  })
  it('are not shown either if another log had no room for them', () => {
    const limits = { values: 100, text: 1000, bins: 10 }
    const one = new Groups(limits)
    const two = new Groups(limits)
    one.add(['a'], false, ms(1))
    for (let i = 0; i < 20; i++) two.add([i === 0 ? 'a' : 'b'], false, ms(2 ** i))
    one.merge(two)
    const { groups, other, records } = one.top('count', 10, true)
    expect(one.isCut).toBe(true)
    expect(groups.find(({ value }) => value === 'a')).toBe(undefined)
    expect(records).toBe(groups.reduce((sum, { count }) => sum + count, other!.count))
  })
})

it('takes the most frequent kind of numbers', () => {
  const groups = new Groups()
  groups.add(['a'], false, { kind: 'size', amount: 5 })
  groups.add(['a'], false, ms(10))
  groups.add(['b'], false, ms(20))
  groups.add(['c'], false, { kind: 'number', amount: 7 })
  expect(groups.top('max', 10, true)).toEqual({
    unit: 'ms',
    records: 4,
    groups: [
      { value: 'b', count: 1, errors: 0, min: 20, median: 20, p95: 20, max: 20 },
      { value: 'a', count: 2, errors: 0, min: 10, median: 10, p95: 10, max: 10 },
      { value: 'c', count: 1, errors: 0, min: null, median: null, p95: null, max: null },
    ],
  })
})

it('a million values take a bounded number of groups', () => {
  const groups = new Groups()
  for (let i = 0; i < 1_000_000; i++) groups.add([`/item/${i}`], i % 1000 === 0, ms(i))
  const { groups: shown, other, records } = groups.top('count', 1000, true)
  expect([records, shown.length, other!.count, groups.isCut]).toEqual([1_000_000, 1000, 999_000, true])
})

describe('groups that another node counted', () => {
  const limits = { values: 5, text: 1000, bins: 40 }
  const counted = (seed: number, of = limits) => {
    const groups = new Groups(of)
    for (let i = 0; i < 300; i++)
      groups.add(
        [`v${(i * seed) % 7}`],
        i % 9 === 0,
        i % 4 ? ms((i * seed) % 97) : { kind: 'size', amount: i },
      )
    groups.add([], false, null)
    return groups
  }
  const sent = (groups: Groups) => Groups.from(JSON.parse(JSON.stringify(groups.dump())))

  it.each([1, 2, 3])('are merged as if they were counted here: %i', (seed) => {
    for (const of of [limits, undefined]) {
      const here = counted(5, of)
      const there = counted(5, of)
      here.merge(counted(seed, of))
      there.merge(sent(counted(seed, of)))
      for (const order of ['count', 'p95'] as const)
        expect(there.top(order, 4, true)).toEqual(here.top(order, 4, true))
      expect([there.isCut, there.lacksField('x')]).toEqual([here.isCut, here.lacksField('x')])
    }
  })

  const dump = () => counted(3).dump()
  it.each<[string, unknown]>([
    ['nothing', null],
    ['no groups', { ...dump(), groups: 5 }],
    ['a count that is none', { ...dump(), records: -1 }],
    ['a value that is no text', { ...dump(), groups: [[7, 1, 0, {}]] }],
    ['a group of half a record', { ...dump(), groups: [['a', 0.5, 0, {}]] }],
    ['a bin beyond all numbers', { ...dump(), groups: [['a', 1, 0, { number: [1, 1, [1e9, 1, 1]] }]] }],
    ['a bin without a sum', { ...dump(), groups: [['a', 1, 0, { number: [1, 1, [5, 1]] }]] }],
    ['a sum that is infinite', { ...dump(), groups: [['a', 1, 0, { number: [1, 1, [5, 1, null]] }]] }],
    ['a smallest number that is none', { ...dump(), groups: [['a', 1, 0, { number: ['x', 1, [5, 1, 1]] }]] }],
    ['no numbers', { ...dump(), groups: [['a', 1, 0, { number: [1, 1, []] }]] }],
  ])('are refused if they have %s', (_, given) => {
    expect(() => Groups.from(given as never)).toThrow(TypeError)
  })

  it('take no more memory than those that are counted here', () => {
    const many = Array.from({ length: 30_000 }, (_, i) => [`v${i}`, 1, 0, {}])
    const groups = Groups.from({ ...dump(), groups: many } as never)
    expect(groups.isCut).toBe(true)
    expect(groups.dump().groups).toHaveLength(10_000)
  })
})
