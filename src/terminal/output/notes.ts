import { type Client, type LogQuery, ProblemError, UnreachableError } from '../../client.ts'
import { suggestion } from '../../settings/suggestion.ts'
import { UsageError } from '../../settings/usage.ts'
import { printable, show } from './shown.ts'
import type { World } from './world.ts'

/** The notes of an answer, explained for the user. */
export const SENTENCES: Record<string, string> = {
  'scan-budget': 'The node stopped searching before it had seen all of the log; narrow the time range.',
  'answer-budget': 'The answer was too large to be given whole.',
  'time-order': 'The times in this log are not in order; records near the borders were checked individually.',
  'ambiguous-zone':
    "The zone abbreviation in this log is ambiguous; times are read in the node's --timezone.",
  'assumed-date': 'The times in this log have no date; the date comes from when the file was last written.',
  sampled: 'There are many records: counts are estimated from a part of them.',
  'groups-cut': 'There are more values than memory for them; the rest are counted together.',
  'no-config-scope': 'The token does not cover the configuration, which was not compared.',
  'unknown-field': 'The records do not have one of these fields.',
  'family-order':
    'The names and times of the rotated files contradict each other, so their order is a guess.',
  'archive-cut': 'An archive is damaged or ends early; the rest of it is missing.',
  'list-cut': 'There are more files than one answer has.',
  'detail-incomplete': 'Not all files have been examined yet; try again.',
  'size-partial': 'Some sizes do not count all objects of their log yet; try again.',
  copy: 'A node did not answer; what is shown of it is its copy in the bucket.',
  'unknown-parameter': 'The node does not know all parameters of the request and ignored some.',
  gap: 'Part of the log is missing.',
  'begins-late': 'The beginning of the log has expired.',
}

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
