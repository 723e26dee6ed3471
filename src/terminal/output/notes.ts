import { type Client, type LogQuery, ProblemError, UnreachableError } from '../../client.ts'
import { suggestion } from '../../settings/suggestion.ts'
import { UsageError } from '../../settings/usage.ts'
import { printable, show } from './shown.ts'
import type { World } from './world.ts'

export { SENTENCES } from '../../client/notes.ts'

/** Complains about fields of `--where` that the newest records do not have, but for one letter or two. */
export async function suggestFields(
  client: Client,
  { file, node, where, rotated }: LogQuery,
  world: World,
): Promise<void> {
  if (where === undefined) return
  const found = await client.fields({ file, node, rotated }, { signal: world.signal }).catch(() => null)
  const names = [...OWN_FIELDS, ...(found?.fields.map(({ name }) => name) ?? [])]
  for (const condition of [where].flat()) {
    const field = /^!?([^:~<>]+)/.exec(condition)?.[1] ?? ''
    const hint = names.includes(field) ? '' : suggestion(field, names)
    if (hint !== '') await complain(world, `The newest records have no field ${field}${hint}`)
  }
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
