import { expect, it } from 'vitest'
import { each } from '../../../src/kit/limits/each.ts'

const soon = () => new Promise((resolve) => setTimeout(resolve, 1))

it('each: works on every item, a few at a time, in order', async () => {
  const started: number[] = []
  let running = 0
  let most = 0
  const isComplete = await each([5, 6, 7, 8, 9], 2, async (item, index) => {
    started.push(item - 5 - index)
    most = Math.max(most, ++running)
    await soon()
    running--
  })
  expect(isComplete).toBe(true)
  expect(started).toEqual([0, 0, 0, 0, 0])
  expect(most).toBe(2)
})

it('each: starts nothing after a failure, or when told to stop', async () => {
  let started = 0
  const failing = each([1, 2, 3, 4, 5, 6], 2, async (item) => {
    started++
    await soon()
    if (item === 1) throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await soon()
  expect(started).toBeLessThanOrEqual(3)

  started = 0
  const isComplete = await each([1, 2, 3, 4], 1, async (item) => {
    started++
    return item < 2
  })
  expect([isComplete, started]).toEqual([false, 2])
  expect(await each([], 4, () => Promise.reject(new Error('never called')))).toBe(true)
})
