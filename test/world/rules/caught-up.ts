import { FOLLOWERS, type Following } from '../actors/follower.ts'
import type { Rule } from './rule.ts'

/** Longer than any pause after failures, which is 30 seconds: in this time a follower has all that was written. */
const PATIENCE = 40_000

/** Rule 3, the last part: once all is calm, every follower has the newest line. */
export const caughtUp: Rule = {
  name: 'followers catch up',
  async calm(world) {
    await world.kernel.sleep(PATIENCE)
    for (const [by, state] of world.states)
      if (by.startsWith(`${FOLLOWERS} `)) (state as Following).checkEnd()
  },
}
