import { expect, test } from 'vitest'
import { type Listing, sharedListing } from '../../../src/log/files/listings.ts'
import { readClock } from '../../support/manual-clock.ts'

/** Lists of `count` files that can be remembered for a second; `made` counts how often one was made. */
function lists(count: number) {
  const entries = Array.from({ length: count }, (_, i) => ({ key: `${i}`, size: 0, modified: 0, etag: '' }))
  const counter = { made: 0 }
  let now = 0
  const make = async (): Promise<Listing> => {
    counter.made++
    now += 100
    return { entries }
  }
  return {
    counter,
    listing: sharedListing(
      make,
      () => null,
      readClock(() => now),
      true,
    ),
  }
}

test('the lists of many nodes are remembered together up to 100,000 files', async () => {
  const [first, second, third] = [lists(40_000), lists(40_000), lists(40_000)]
  for (const { listing } of [first, second, first, second]) await listing(undefined)
  expect([first.counter.made, second.counter.made]).toEqual([1, 1])
  await third.listing(undefined)
  for (const { listing } of [third, second, first]) await listing(undefined)
  expect([first.counter.made, second.counter.made, third.counter.made]).toEqual([2, 1, 1])
})

test('a list of more files is remembered alone', async () => {
  const [small, large] = [lists(10), lists(150_000)]
  await small.listing(undefined)
  for (let i = 0; i < 2; i++) await large.listing(undefined)
  expect(large.counter.made).toBe(1)
  await small.listing(undefined)
  expect(small.counter.made).toBe(2)
})
