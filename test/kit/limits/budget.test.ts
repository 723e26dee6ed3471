import { describe, expect, it } from 'vitest'
import { Budget, BudgetError } from '../../../src/kit/limits/budget.ts'
import { concurrencyLimit } from '../../../src/kit/limits/concurrency-limit.ts'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { readClock } from '../../support/manual-clock.ts'

describe('Budget', () => {
  it('ends with its bytes, its decompressed bytes or its time', async () => {
    let time = 0
    const clock = readClock(() => time)
    const bytes = new Budget({ bytes: 10, clock })
    bytes.spend(9)
    expect(await bytes.step()).toBe(true)
    bytes.spend(1)
    expect(await bytes.step()).toBe(false)
    await expect(bytes.check()).rejects.toBeInstanceOf(BudgetError)
    const unpacked = new Budget({ unpacked: 10, clock })
    unpacked.unpack(11)
    expect(unpacked.isSpent).toBe(true)
    const timed = new Budget({ millis: 5, clock })
    time = 4
    expect(timed.isSpent).toBe(false)
    time = 5
    expect(timed.isSpent).toBe(true)
  })

  it('does not count the time for which it is paused', () => {
    let time = 0
    const budget = new Budget({ millis: 5, clock: readClock(() => time) })
    const resume = budget.pause()
    time = 100
    resume()
    expect(budget.millisLeft).toBe(5)
  })

  it('gives half of itself away, and counts what that half spends', () => {
    const budget = new Budget({ bytes: 100, millis: 1000, clock: readClock(() => 0) })
    const half = budget.half()
    half.spend(50)
    expect(half.isSpent).toBe(true)
    expect(budget.isSpent).toBe(false)
    expect(budget.bytesLeft).toBe(50)
  })

  it('throws when the client has left', async () => {
    const leaving = new AbortController()
    const budget = new Budget({ signal: leaving.signal })
    await budget.check()
    leaving.abort(new Error('left'))
    await expect(budget.step()).rejects.toThrow('left')
  })
})

describe('MemoryBudget', () => {
  it('refuses what does not fit, and takes everything back once', () => {
    const memory = new MemoryBudget(100)
    const first = memory.lease(60)!
    expect(memory.lease(41)).toBeNull()
    expect(first.grow(41)).toBe(false)
    expect(first.grow(40)).toBe(true)
    first.shrink(50)
    expect(memory.used).toBe(50)
    first.release()
    first.release()
    expect(memory.used).toBe(0)
    expect(first.grow(1)).toBe(false)
  })
})

describe('concurrencyLimit', () => {
  it('does not count waiters that left', async () => {
    const limit = concurrencyLimit({ most: 1, queue: 2, busy: () => new Error('busy') })
    let finish = () => {}
    const running = new Promise<void>((resolve) => {
      finish = resolve
    })
    const first = limit.run(() => running)
    for (let i = 0; i < 10; i++) {
      const leaving = new AbortController()
      const waiting = limit.run(async () => {}, leaving.signal)
      leaving.abort(new Error('left'))
      await expect(waiting).rejects.toThrow('left')
    }
    const last = limit.run(async () => 'done')
    finish()
    await first
    expect(await last).toBe('done')
  })
})

it('a part of the memory is counted in the whole, and given back to it', () => {
  const whole = new MemoryBudget(100)
  const part = whole.part(0.5)
  const first = part.lease(40)!
  expect([part.used, whole.used]).toEqual([40, 40])
  expect(first.grow(20)).toBe(false)
  const other = whole.lease(55)!
  // There is room in the part, but not in the whole.
  expect(first.grow(10)).toBe(false)
  expect([part.used, whole.used]).toEqual([40, 95])
  other.release()
  expect(first.grow(10)).toBe(true)
  first.shrink(30)
  expect([part.used, whole.used]).toEqual([20, 20])
  first.release()
  expect([part.used, whole.used]).toEqual([0, 0])
})
