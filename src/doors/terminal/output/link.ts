import type { LogQuery } from '../../client.ts'
import { printable, show } from './shown.ts'
import { FOUND, type World } from './world.ts'

/** What a page shows: logs, nodes of a fleet, and filters. */
interface Linked {
  /** The nodes, or a fleet, each with the address of its page. */
  targets: readonly { page: string }[]
  files: readonly string[]
  node: readonly string[] | undefined
  filters: Omit<LogQuery, 'file'>
  /** How many records around each match; null for the matches alone. */
  context?: number | null
}

/** `--link`: prints the address of the page that shows the same records, one for each node. It never has the token. */
export async function printLinks(linked: Linked, world: World, isFollowed = false): Promise<number> {
  const { targets, files, node = [], filters, context = null } = linked
  const { since, until, level, q, regex, not, notregex, where, pattern, encoding, rotated } = filters
  const params = new URLSearchParams()
  const add = (name: string, values: string | readonly string[] | undefined) => {
    for (const value of [values ?? []].flat()) params.append(name, value)
  }
  add('file', files)
  add('node', node)
  for (const [name, values] of Object.entries({ q, regex, not, notregex, where, pattern, level, encoding }))
    add(name, values)
  add('since', since && atLast(since))
  add('until', until && atLast(until))
  if (rotated) add('rotated', 'true')
  if (context !== null) add('context', String(context))
  if (isFollowed) add('follow', 'true')
  for (const { page } of targets) await world.stdout.write(show`${printable(`${page}#${params}`)}\n`)
  return FOUND
}

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A time that stays the same when a colleague opens the link later: `15m` becomes the time of fifteen minutes ago. */
function atLast(text: string): string {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text) ?? []
  if (amount === undefined) return text
  return new Date(Date.now() - Number(amount) * UNITS[unit!]!).toISOString()
}
