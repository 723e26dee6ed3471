import { expect, it } from 'vitest'
import { yieldToEventLoop } from '../../src/limits/yield.ts'

it('lets one piece of work continue in each turn of the event loop, in the order in which they yielded', async () => {
  const seen: string[] = []
  let isOver = false
  const turn = () => {
    seen.push('turn')
    if (!isOver) setImmediate(turn)
  }
  const work = async (name: string) => {
    for (let i = 0; i < 2; i++) {
      await yieldToEventLoop()
      seen.push(name)
    }
  }
  setImmediate(turn)
  await Promise.all(['a', 'b', 'c'].map(work))
  isOver = true
  expect(seen.filter((each) => each !== 'turn')).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  expect(seen.some((each, i) => i > 0 && each !== 'turn' && seen[i - 1] !== 'turn')).toBe(false)
})
