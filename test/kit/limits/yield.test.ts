import { stat } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isTurnOver, TURN_MILLIS, yieldToEventLoop } from '../../../src/kit/limits/yield.ts'

/** Lets three pieces of work yield twice each, and tells what ran in each turn of the event loop. */
async function turns(work: () => void): Promise<string[]> {
  const seen: string[] = ['']
  let isOver = false
  const turn = () => {
    seen.push('')
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const run = async (name: string) => {
    for (let i = 0; i < 2; i++) {
      await yieldToEventLoop()
      seen[seen.length - 1] += name
      work()
    }
  }
  await Promise.all(['a', 'b', 'c'].map(run))
  isOver = true
  return seen.filter((each) => each !== '')
}

const spin = () => {
  const until = Date.now() + TURN_MILLIS + 1
  while (Date.now() < until);
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a turn of the event loop', () => {
  it('is over when it was held for 8 ms, whoever held it', async () => {
    await nextTurn()
    expect(isTurnOver()).toBe(false)
    spin()
    expect(isTurnOver()).toBe(true)
    await nextTurn()
    expect(isTurnOver()).toBe(false)
  })

  it('does not count the time for which work waited', async () => {
    await nextTurn()
    expect(isTurnOver()).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 2 * TURN_MILLIS))
    expect(isTurnOver()).toBe(false)
  })
})

describe('work that has yielded', () => {
  it('continues alone in a turn of the event loop when it takes long, in the order in which it yielded', async () => {
    expect(await turns(spin)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  it('continues in the next turns, however busy connections are', async () => {
    let isBusy = true
    let others = 0
    const connection = () =>
      stat('.', () => {
        if (!isBusy) return
        others++
        isTurnOver()
        const until = Date.now() + 4
        while (Date.now() < until);
        connection()
      })
    connection()
    connection()
    for (let i = 0; i < 5; i++) {
      for (const busy = others + 4; others < busy; ) await nextTurn()
      const before = others
      await yieldToEventLoop()
      expect(others - before).toBeLessThan(10)
    }
    isBusy = false
  })

  it('continues together in one turn when it is short', async () => {
    const seen = await turns(() => {})
    expect(seen.join('')).toBe('abcabc')
    expect(seen.length).toBeLessThan(6)
  })
})
