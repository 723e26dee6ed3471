import { type CommandLine, UsageError } from '../../../kit/usage.ts'
import type { CompareQuery, Completeness } from '../../client.ts'
import type { World } from '../output/world.ts'
import { filtersOf, type Target, targetsOf, wantsNodes } from './connect.ts'
import { NAME_NODES, notFleet } from './logs.ts'

interface Compared {
  targets: Target[]
  query: CompareQuery
  /** What an answer, or a failure, means for the user: a node ignores what only a fleet knows. */
  check<T extends Completeness>(answer: T | Error): T
}

/** The logs and the range that `diff` and `incident` compare. */
export async function comparedLogs(given: CommandLine, world: World): Promise<Compared> {
  const { targets, rest } = await targetsOf(given, world)
  const { since, ...filters } = filtersOf(given)
  if (since === undefined)
    throw new UsageError('Say where the range begins: --since 15m, or --since 02:10 --until 02:40.')
  const { flags } = given
  const one = (name: string) => flags.get(name)?.[0]
  const query: CompareQuery = {
    ...filters,
    since,
    file: rest.length === 0 ? ['*'] : rest,
    node: flags.get('node'),
    baseSince: one('base-since'),
    baseUntil: one('base-until'),
    baseNode: flags.get('base-node'),
  }
  const nodes = query.node ? '--node' : query.baseNode ? '--base-node' : null
  return {
    targets,
    query,
    check(answer) {
      if (answer instanceof Error) throw wantsNodes(answer) ? new UsageError(NAME_NODES) : answer
      if (nodes !== null && answer.notes.includes('unknown-parameter')) throw notFleet(nodes)
      return answer
    },
  }
}
