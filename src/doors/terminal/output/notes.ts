import { suggestion } from '../../../kit/suggestion.ts'
import { UsageError } from '../../../kit/usage.ts'
import { type Client, type LogFields, type LogQuery, ProblemError, UnreachableError } from '../../client.ts'
import { printable, show } from './shown.ts'
import type { World } from './world.ts'

export { SENTENCES } from '../../client/notes.ts'

/** Complains about fields of `--where` that the newest records do not seem to have, if one of theirs is nearly the same. */
export async function suggestFields(
  client: Client,
  { file, node, where, rotated, encoding }: LogQuery,
  world: World,
): Promise<void> {
  if (where === undefined) return
  const asked = { file, node, rotated, encoding }
  const found = await client.fields(asked, { signal: world.signal }).catch(() => null)
  for (const hint of found ? fieldHints(where, found) : []) await complain(world, hint)
}

/** A sentence for each field of `where` that is nearly one of those that were found. */
export function fieldHints(where: LogQuery['where'], found: Pick<LogFields, 'fields'>): string[] {
  const names = [...OWN_FIELDS, ...found.fields.map(({ name }) => name)]
  const asked = new Set([where ?? []].flat().map(fieldOf))
  return [...asked].flatMap((field) => {
    const hint = names.includes(field) ? '' : suggestion(field, names)
    // A sample has the most frequent fields of some records: others may have it.
    return hint === '' ? [] : [`The newest records do not seem to have a field ${field}${hint}`]
  })
}

/** The field of a condition, as the API reads it: only in a comparison may spaces follow it. */
function fieldOf(condition: string): string {
  const rest = condition.replace(/^!/, '')
  // Not imported from where it is read: a worker would load that as a module of its own.
  const [, compared] = /^([^:~<>]+)[<>][^:]+$/.exec(rest) ?? []
  return compared?.trim() ?? rest.replace(/[:~].*/s, '')
}

/** Fields that `where` knows in every log. */
const OWN_FIELDS = ['level', 'message', 'source', 'tag', 'logger']

export async function complain(world: World, line: string): Promise<void> {
  await world.stderr.write(show`nodestate: ${printable(line.replaceAll('\n', ' '))}\n`)
}

/** Runs `work`; a failure goes to stderr, after the name if there is one, and `otherwise` is returned. */
export async function orComplain<T>(
  world: World,
  name: string,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (world.signal.aborted) throw error
    await complain(world, name === '' ? sentenceOf(error) : `${name}: ${sentenceOf(error)}`)
    return otherwise
  }
}

export function sentenceOf(error: unknown): string {
  if (error instanceof ProblemError && error.status === 401)
    return 'The node wants a token: set NODESTATE_TOKEN or use --token-file.'
  if (error instanceof UsageError || error instanceof ProblemError || error instanceof UnreachableError)
    return error.message
  return `Cannot go on: ${error instanceof Error ? error.message : String(error)}`
}
