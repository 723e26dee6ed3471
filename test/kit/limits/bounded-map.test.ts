import { expect, it } from 'vitest'
import { BoundedMap } from '../../../src/kit/limits/bounded-map.ts'

it('BoundedMap: drops the oldest entry when it is full', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('b', 3)
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 3],
  ])
  map.set('c', 4)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

it('BoundedMap: use makes what is missing and keeps what is used', () => {
  const map = new BoundedMap<string, number | undefined>(2)
  map.use('a', () => 1)
  map.use('b', () => undefined)
  expect(map.use('a', () => 9)).toBe(1)
  expect(map.use('b', () => 9)).toBeUndefined()
  map.use('a', () => 9)
  map.use('c', () => 3)
  expect([...map.keys()]).toEqual(['a', 'c'])
})
