import { UsageError } from '../../../kit/usage.ts'
import { type Client, type LogQuery, type LogRecord, type Missing, ProblemError } from '../../client.ts'
import { complain, orComplain } from '../output/notes.ts'
import type { World } from '../output/world.ts'
import { type Target, wantsNodes } from './connect.ts'

export interface NamedLogs {
  targets: readonly Target[]
  /** Names or patterns. */
  files: readonly string[]
  node: readonly string[] | undefined
  filters: Omit<LogQuery, 'file'>
  /** Whether all are read at the same time, because reading does not end. */
  atOnce: boolean
  /** Whether logs may be read one after the other if there are too many to be merged. */
  maySplit: boolean
}

/** What one request reads: a log, or several that the node merges. */
export interface Reading {
  client: Client
  query: LogQuery
  isMerged: boolean
  title: string
  /** The node, if there are several; otherwise empty. */
  target: string
  /** Whether it is a log that is read by itself beside others. */
  isAlone: boolean
  /** What its records lack to be told from others. */
  origin: Pick<LogRecord, 'node' | 'file'>
}

/** Reads, and tells what is missing in the answer as soon as that is known. */
type Read = (reading: Reading, tell: (missing: readonly Missing[]) => Promise<void>) => Promise<void>

/** The logs of one node, or of one fleet. */
interface TargetLogs extends NamedLogs {
  target: Target
  /** The node, if there are several; otherwise empty. */
  name: string
  /** Whether logs without times may be wanted: they have no records of a time range, and none of a level. */
  mayBeAlone: boolean
  world: World
  read: Read
}

/** Reads logs, those with times merged; false if something could not be read, which is named on stderr. */
export async function readLogs(logs: NamedLogs, world: World, read: Read): Promise<boolean> {
  const { level, since, until } = logs.filters
  const mayBeAlone = level === undefined && since === undefined && until === undefined
  return all(logs.targets, logs.atOnce, (target) => {
    const name = logs.targets.length > 1 ? target.name : ''
    const own = { ...logs, target, name, mayBeAlone, world, read }
    return orComplain(world, name, () => readTarget(own), false)
  })
}

async function readTarget(logs: TargetLogs): Promise<boolean> {
  const { files, filters, node, name, world } = logs
  const { client } = logs.target
  const isMerged = files.length > 1 || isPattern(files[0]!) || node !== undefined
  const title = files.join(' ')
  const file = files.length > 1 ? files : files[0]!
  const origin = name === '' ? {} : { node: name, ...(!isMerged && { file: title }) }
  const reading = { client, query: { ...filters, file, node }, isMerged, title, isAlone: false, origin }
  try {
    return await readOne(logs, reading)
  } catch (error) {
    if (wantsNodes(error)) throw new UsageError(NAME_NODES)
    if (node !== undefined && isProblem(error, 'unsupported')) throw notFleet()
    if (isProblem(error, 'no-time') && isMerged && logs.mayBeAlone) return readOneByOne(logs)
    if (!isProblem(error, 'too-many-sources') || !logs.maySplit) {
      if (error instanceof ProblemError && error.status !== 401) error.message = `${title}: ${error.message}`
      throw error
    }
    await complain(world, 'There are more logs than a node merges: each is read by itself.')
    return readOneByOne(logs)
  }
}

async function readOne(logs: TargetLogs, reading: Omit<Reading, 'target'>): Promise<boolean> {
  let isWhole = true
  await logs.read({ ...reading, target: logs.name }, async (missing) => {
    isWhole = await tell(logs, missing)
  })
  return isWhole
}

/** Names what is missing in an answer, and reads what is missing only because it has no times. */
function tell(logs: TargetLogs, missing: readonly Missing[]): Promise<boolean> {
  return all(missing, logs.atOnce, async ({ name, reason }) => {
    // With its rotated files, as if it had been merged.
    if (reason === 'no-time' && logs.mayBeAlone) return readAlone(logs, name, { rotated: true })
    const said = reason === '' ? `${name} more were not read.` : `${name} was not read: ${reason}.`
    await complain(logs.world, said)
    return false
  })
}

/** One log beside others; on a fleet its name is `node/file`. */
function readAlone(logs: TargetLogs, name: string, more: Pick<LogQuery, 'rotated'> = {}): Promise<boolean> {
  const slash = logs.node === undefined ? -1 : name.indexOf('/')
  const id = slash < 0 ? null : name.slice(0, slash)
  const file = name.slice(slash + 1)
  const own = id ?? logs.name
  const reading = {
    client: id === null ? logs.target.client : logs.target.nodeClient(id),
    query: { ...logs.filters, ...more, file },
    isMerged: false,
    title: name,
    isAlone: true,
    origin: { ...(own !== '' && { node: own }), file },
  }
  // A node that says again that the log has no times would be asked for ever.
  const alone = { ...logs, mayBeAlone: false }
  return orComplain(logs.world, name, () => readOne(alone, reading), false)
}

/** Every log that is named, by itself. */
async function readOneByOne(logs: TargetLogs): Promise<boolean> {
  const { files, node, atOnce, target, world } = logs
  const { entries: listed } = await target.client.list({ signal: world.signal, ...(node && { node }) })
  const matching = (value: string) => listed.filter((log) => namesLog(value, [log]))
  const names = new Set(files.flatMap(matching).map((log) => logName(log.node, log.name)))
  const unknown = files.filter((value) => matching(value).length === 0)
  const isWhole = await all([...names], atOnce, (name) => readAlone(logs, name))
  return (
    (await tell(
      logs,
      unknown.map((name) => ({ name, reason: 'unknown-file' })),
    )) && isWhole
  )
}

/** A log's name; on a fleet with its node. */
export function logName(node: string | undefined, file: string): string {
  return node === undefined ? file : `${node}/${file}`
}

/** Whether a name, or a pattern, is that of one of these. */
export function namesLog(value: string, listed: readonly { name: string }[]): boolean {
  return listed.some(({ name }) => name === value || (isPattern(value) && patternOf(value).test(name)))
}

export function isPattern(value: string): boolean {
  return /[*?]/.test(value)
}

/** What to say when nodes of a fleet are wanted from something else. */
export function notFleet(flag = '--node'): UsageError {
  return new UsageError(`Cannot use ${flag} here: the URL is that of a single node, not of a fleet.`)
}

export const NAME_NODES =
  "This is a fleet: say which nodes with --node, by id or pattern such as --node 'db-*', or --node '*' for all."

function patternOf(value: string): RegExp {
  const source = value.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}

export function isProblem(error: unknown, code: string): boolean {
  return error instanceof ProblemError && error.code === code
}

/** Whether the work on each item succeeds; one item after the other, or all at once. */
async function all<T>(
  items: readonly T[],
  atOnce: boolean,
  work: (item: T) => Promise<boolean>,
): Promise<boolean> {
  if (atOnce) return (await Promise.all(items.map(work))).every(Boolean)
  let isWhole = true
  for (const item of items) isWhole = (await work(item)) && isWhole
  return isWhole
}
