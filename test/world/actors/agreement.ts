import { compareRecords, type Kind } from '../agree/comparison.ts'
import { LOKI } from '../agree/loki.ts'
import { MERGED } from '../agree/merged.ts'
import { SINGLE } from '../agree/single.ts'
import { ask, drawQuery, filtersOf, instantsOf, parametersOf, type Query } from '../ask.ts'
import type { Step } from '../plan.ts'
import { type Found, Reference } from '../reference.ts'
import type { Actor } from './actor.ts'

interface Compare extends Step {
  log: string
  query: Query
  lines: number
}

const KINDS: Readonly<Record<string, Kind>> = { ...SINGLE, ...MERGED, ...LOKI }

/** Rule 4: in a still moment, every resource says what the reference says. Each kind is a function in agree/. */
export const agreement: Actor = {
  plan({ random, settings, add, moment }) {
    for (let i = random.small(1, 12); i > 0; i--) {
      const own = random.split(i)
      const log = own.pick(settings.logs).name
      // Some when all is over: that is where most has happened.
      const at = own.chance(0.5) ? settings.length : moment(own)
      const does = own.pick(Object.keys(KINDS))
      add(String(i), does, at, { log, query: drawQuery(own), lines: own.small(1, 40) })
    }
  },
  async act(world, step) {
    const { does, log: name, query, lines } = step as Compare
    await world.stillWhile(async () => {
      const log = world.log(name)
      const reference = new Reference(world.disk, log)
      if (log.lines.length === 0 || reference.text(false) === null) return
      // What was remembered of a moment ago, such as a list, may be a second old.
      await world.kernel.sleep(1_500)
      const instants = instantsOf(world, log, query)
      const choice = { level: query.level, q: query.q, filters: filtersOf(query), ...instants }
      const chosen = reference.chosen(query.rotated, choice)
      const question = (more: Record<string, string | number>) =>
        parametersOf(world, log, query, more).toString()
      const get = async (path: string, headers: Record<string, string> = {}) => {
        const answer = await ask(world, step.by, path, headers)
        // Small logs fit into every budget, and nothing is damaged: only a clock that stepped is worth a word.
        const isSteady = world.logs.every((one) => new Reference(world.disk, one).isInOrder(true))
        const isNothing = chosen.length === 0
        const odd = answer.notes.find((note) => (note === 'unknown-field' ? !isNothing : isSteady))
        if (answer.status === 200 && odd !== undefined)
          world.break('a note is true', `${step.by} got ${odd} for ${path}`)
        if ([200, 206].includes(answer.status) && answer.cut === null) return answer
        // A log of which no line was ever complete has no format yet.
        if (/no-time|no-level/.test(answer.text) && chosen.length === 0) return null
        world.break(
          'all readers agree',
          `${step.by} got ${answer.status} ${answer.cut ?? answer.text} for ${path}`,
        )
        return null
      }
      const differs = (what: string) =>
        world.break('all readers agree', `${step.by} (${does}, step ${step.id}): ${what}`)
      const compare = (ndjson: string, expected: readonly Found[]) =>
        compareRecords(ndjson, expected, differs)
      const comparison = {
        world,
        log,
        reference,
        query,
        choice,
        lines,
        chosen,
        question,
        get,
        compare,
        differs,
      }
      await KINDS[does]!(comparison)
    })
  },
}
