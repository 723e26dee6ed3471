import { describe, expect, test } from 'vitest'
import { concurrencyLimit } from '../../src/limits/concurrency-limit.ts'

const limit = (most: number, queue?: number) =>
  concurrencyLimit({ most, ...(queue !== undefined && { queue }), busy: () => new Error('busy') })

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await new Promise((resolve) => setTimeout(resolve))
  return settled
}

describe('long jobs', () => {
  test('leave a slot to the others', async () => {
    const slots = limit(3)
    const first = await slots.enter(undefined, 'long')
    await slots.enter(undefined, 'long')
    const third = slots.enter(undefined, 'long')
    expect(await isSettled(third)).toBe(false)
    expect(slots.load).toEqual({ running: 2, waiting: 1 })
    expect(await slots.run(async () => 'done')).toBe('done')
    expect(await isSettled(third)).toBe(false)
    first()
    expect(await isSettled(third)).toBe(true)
    expect(slots.load).toEqual({ running: 2, waiting: 0 })
  })

  test('have the only slot, if there is one', async () => {
    const slots = limit(1)
    const leave = await slots.enter(undefined, 'long')
    const next = slots.run(async () => 'done')
    expect(await isSettled(next)).toBe(false)
    leave()
    expect(await next).toBe('done')
  })

  test('wait in a line of their own, and nobody is passed over for good', async () => {
    const slots = limit(2, 1)
    const long = await slots.enter(undefined, 'long')
    const short = await slots.enter()
    const nextLong = slots.enter(undefined, 'long')
    await expect(slots.enter(undefined, 'long')).rejects.toThrow('busy')
    const nextShort = slots.enter()
    await expect(slots.enter()).rejects.toThrow('busy')
    short()
    expect(await isSettled(nextShort)).toBe(true)
    expect(await isSettled(nextLong)).toBe(false)
    long()
    long()
    expect(await isSettled(nextLong)).toBe(true)
    expect(slots.load).toEqual({ running: 2, waiting: 0 })
  })
})
