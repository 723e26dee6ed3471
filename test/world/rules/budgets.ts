import { agree } from '../agree/agree.ts'
import { drawQuery } from '../ask.ts'
import type { Rule } from './rule.ts'

/** Which part of the worlds is searched with a small budget. */
const SEARCHED = 0.25
const KINDS = ['pages-back', 'pages-forward', 'merged-back', 'merged-forward']

/** A search that ends early says so, and its links lead on: its pages together are those of a large budget. */
export const budgets: Rule = {
  name: 'small budgets',
  async calm(world) {
    const random = world.random.split('budgets')
    if (!world.isDrawn('budgets', () => random.chance(SEARCHED))) return
    const service = world.frugal(random.pick([1, 2_000, 20_000]))
    const asked = { kind: random.pick(KINDS), query: drawQuery(random), lines: random.small(1, 40) }
    await agree(world, service, { who: 'budget', log: random.pick(world.logs), ...asked })
  },
}
