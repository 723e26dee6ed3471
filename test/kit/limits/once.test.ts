import { describe, expect, it } from 'vitest'
import { perOwner, SharedWork, sharedRun } from '../../../src/kit/limits/once.ts'

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

describe('SharedWork', () => {
  it.each([
    [false, 2],
    [true, 1],
  ])('shares a run among concurrent callers of a key (keeps: %s, %i runs in all)', async (keeps, most) => {
    const work = new SharedWork<number>(keeps)
    let runs = 0
    const run = (key: string) => work.run(key, async () => ++runs)
    expect(await Promise.all([run('a'), run('a')])).toEqual([1, 1])
    expect(await run('a')).toBe(most)
    expect(await run('b')).toBe(most + 1)
  })

  it('is separate for each owner', async () => {
    const workOf = perOwner<object, SharedWork<number>>(() => new SharedWork(true))
    const [one, other] = [{}, {}]
    let runs = 0
    const run = (owner: object) => workOf(owner).run('a', async () => ++runs)
    expect([await run(one), await run(other), await run(one)]).toEqual([1, 2, 1])
  })
})
