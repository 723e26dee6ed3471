import { describe, expect, it, vi } from 'vitest'
import { Budget } from '../../../src/kit/limits/budget.ts'
import { deadlineSignal, every, inTime, onAbort, sleep, systemClock } from '../../../src/kit/limits/clock.ts'
import { manualClock } from '../../support/manual-clock.ts'

describe('a clock', () => {
  it('sleeps, and leaves no timer when the sleeper is woken by its signal', async () => {
    const clock = manualClock()
    let woken = false
    const slept = sleep(clock, 100).then(() => {
      woken = true
    })
    await clock.pass(99)
    expect(woken).toBe(false)
    await clock.pass(1)
    await slept
    const leaving = new AbortController()
    const left = sleep(clock, 100, leaving.signal)
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    await expect(sleep(clock, 100, leaving.signal)).rejects.toThrow('left')
    expect(clock.timers).toBe(0)
  })

  it('repeats until it is told to end, also from inside', async () => {
    const clock = manualClock()
    let calls = 0
    const end = every(clock, 10, () => {
      if (++calls === 3) end()
    })
    await clock.pass(100)
    expect([calls, clock.timers]).toEqual([3, 0])
  })

  it('aborts what takes too long, and only that', async () => {
    const clock = manualClock()
    const [late, quick] = [deadlineSignal(clock, 10), deadlineSignal(clock, 10)]
    quick.done()
    await clock.pass(10)
    expect(late.signal.reason).toMatchObject({ name: 'TimeoutError' })
    expect(quick.signal.aborted).toBe(false)
    const never = inTime(clock, 10, new Promise(() => {}))
    const done = inTime(clock, 10, Promise.resolve())
    await clock.pass(10)
    expect([await never, await done, clock.timers]).toEqual([false, true, 0])
  })

  it('may step back without making a budget last longer', async () => {
    const clock = manualClock()
    const budget = new Budget({ millis: 100, clock })
    clock.step(-3_600_000)
    clock.skip(100)
    expect([budget.isSpent, budget.millisLeft]).toEqual([true, 0])
  })
})

describe('onAbort', () => {
  it('tells everybody who did not leave, by one listener', () => {
    const controller = new AbortController()
    const told: number[] = []
    const listen = vi.spyOn(controller.signal, 'addEventListener')
    const leave = Array.from({ length: 20 }, (_, i) => onAbort(controller.signal, () => told.push(i)))
    for (const one of leave.slice(2)) one()
    expect(listen).toHaveBeenCalledTimes(1)
    controller.abort()
    expect(told).toEqual([0, 1])
    onAbort(undefined, () => told.push(2))()
  })
})

describe("the system's clock", () => {
  it('tells both times and calls back', async () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(60_000)
    const before = systemClock.elapsed()
    const cancelled = vi.fn()
    systemClock.after(1, cancelled)()
    await sleep(systemClock, 5)
    expect(systemClock.elapsed()).toBeGreaterThan(before)
    expect(cancelled).not.toHaveBeenCalled()
  })

  it('keeps a process alive for work, not for a deadline or what is kept for reuse', () => {
    const keeping = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = keeping()
    const { done } = deadlineSignal(systemClock, 60_000)
    expect(keeping()).toBe(before)
    const cancel = systemClock.after(60_000, () => {})
    expect(keeping()).toBe(before + 1)
    cancel()
    done()
    expect(keeping()).toBe(before)
  })
})
