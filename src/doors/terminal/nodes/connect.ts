import { type CommandLine, UsageError } from '../../../kit/usage.ts'
import { type Client, createClient, type LevelFilter, type LogQuery, ProblemError } from '../../client.ts'
import { orComplain } from '../output/notes.ts'
import { FOUND, TROUBLE, type World } from '../output/world.ts'

export interface Target {
  client: Client
  /** Its display name: host and port, or the node's path in a fleet. */
  name: string
  nodeClient: (id: string) => Client
}

/** The nodes that a command line names, and its other arguments. An argument that contains `://` is a URL. */
export async function targetsOf(
  given: CommandLine,
  world: World,
): Promise<{ targets: Target[]; rest: string[] }> {
  const isUrl = (argument: string) => argument.includes('://')
  const urls = [...(given.flags.get('url') ?? []), ...given.positional.filter(isUrl)]
  const rest = given.positional.filter((argument) => !isUrl(argument))
  if (urls.length === 0 && world.env.NODESTATE_URL) urls.push(world.env.NODESTATE_URL)
  if (urls.length === 0)
    throw new UsageError('Say which node: give its URL, such as http://db-4:9000, or set NODESTATE_URL.')
  const token = await tokenOf(given, world)
  return { targets: urls.map((url) => targetAt(parsed(url), token)), rest }
}

function targetAt(url: URL, token: string | null): Target {
  const path = url.pathname.replace(/\/+$/, '')
  const nodeClient = (id: string) =>
    createClient({ base: new URL(`${path}/nodes/${encodeURIComponent(id)}/`, url), token })
  return { client: createClient({ base: url, token }), name: url.host + path, nodeClient }
}

/** Like `targetsOf`, for a command that takes no other arguments. */
export async function onlyTargetsOf(given: CommandLine, world: World): Promise<Target[]> {
  const { targets, rest } = await targetsOf(given, world)
  if (rest.length === 0) return targets
  throw new UsageError(`Unexpected argument "${rest[0]}": name nodes by URL, such as http://db-4:9000.`)
}

/** Runs a command for each node; a failure goes to stderr and does not stop the others. Returns the highest exit code. */
export async function eachTarget(
  targets: readonly Target[],
  world: World,
  work: (target: Target) => Promise<number>,
): Promise<number> {
  let code = FOUND
  for (const target of targets) {
    const name = targets.length > 1 ? target.name : ''
    code = Math.max(code, await orComplain(world, name, () => work(target), TROUBLE))
  }
  return code
}

/** Whether a fleet refused a request because it does not say which nodes. */
export function wantsNodes(error: unknown): boolean {
  return (
    error instanceof ProblemError &&
    error.code === 'bad-parameter' &&
    /\bnode is missing\b/.test(error.message)
  )
}

/** The filters that tail and grep have in common. */
export function filtersOf(given: CommandLine): Omit<LogQuery, 'file'> {
  const one = (name: string) => given.flags.get(name)?.[0]
  return {
    // The node judges it, and says which levels there are.
    level: one('level') as LevelFilter | undefined,
    since: one('since'),
    until: one('until'),
    q: given.flags.get('grep'),
    regex: given.flags.get('regex'),
    not: given.flags.get('not'),
    notregex: given.flags.get('not-regex'),
    where: given.flags.get('where'),
    pattern: one('pattern'),
    // One of the words that the flag takes.
    encoding: one('encoding') as LogQuery['encoding'],
    rotated: given.flags.has('rotated') || undefined,
  }
}

export function numberOf(given: CommandLine, name: string, otherwise: number): number {
  const text = given.flags.get(name)?.[0]
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`Cannot use --${name} "${text}": it must be a whole number.`)
  return Number(text)
}

async function tokenOf(given: CommandLine, world: World): Promise<string | null> {
  const file = given.flags.get('token-file')?.[0] ?? world.env.NODESTATE_TOKEN_FILE
  if (file === undefined || file === '') return world.env.NODESTATE_TOKEN || null
  try {
    return (await world.readFile(file)).trim()
  } catch {
    throw new UsageError(`Cannot read the token file "${file}".`)
  }
}

function parsed(url: string): URL {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`Cannot use "${url}": a URL looks like http://db-4:9000.`)
  return new URL(url)
}
