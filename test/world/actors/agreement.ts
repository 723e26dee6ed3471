import { agree, KINDS } from '../agree/agree.ts'
import { drawQuery, type Query } from '../ask.ts'
import type { Step } from '../plan.ts'
import type { Actor } from './actor.ts'

interface Compare extends Step {
  log: string
  query: Query
  lines: number
}

/** Rule 4: in a still moment, every resource says what the reference says. Each kind is a function in agree/. */
export const agreement: Actor = {
  plan({ random, settings, add, moment }) {
    for (let i = random.small(1, settings.isCrowded ? 12 : 8); i > 0; i--) {
      const own = random.split(i)
      const log = own.pick(settings.logs).name
      // Some when all is over: that is where most has happened.
      const at = own.chance(0.5) ? settings.length : moment(own)
      const does = own.pick(Object.keys(KINDS))
      add(String(i), does, at, { log, query: drawQuery(own), lines: own.small(1, 40) })
    }
  },
  async act(world, step) {
    const { by, id, does: kind, log, query, lines } = step as Compare
    await world.stillWhile(async () => {
      // What was remembered of a moment ago, such as a list, may be a second old.
      await world.kernel.sleep(1_500)
      await agree(world, world.node, { who: `${by}, step ${id}`, kind, log: world.log(log), query, lines })
    })
  },
}
