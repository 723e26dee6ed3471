import { describe, expect, it } from 'vitest'
import { sharedRun } from '../../src/limits/once.ts'

describe('sharedRun', () => {
  it('runs once for all that come while it runs, and never gives a result older than the call', async () => {
    let runs = 0
    const ends: (() => void)[] = []
    const run = sharedRun(async () => {
      const number = ++runs
      await new Promise<void>((resolve) => ends.push(resolve))
      return number
    })
    const first = run()
    const later = Array.from({ length: 16 }, () => run())
    expect(runs).toBe(1)
    ends.shift()!()
    expect(await first).toBe(1)
    await expect.poll(() => ends.length).toBe(1)
    ends.shift()!()
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]))
    const alone = run()
    expect(runs).toBe(3)
    ends.shift()!()
    expect(await alone).toBe(3)
  })

  it('goes on after a failure', async () => {
    let runs = 0
    const run = sharedRun(async () => {
      if (++runs === 1) throw new Error('no')
      return runs
    })
    const [first, second] = [run(), run()]
    await expect(first).rejects.toThrow('no')
    expect(await second).toBe(2)
  })
})
