import { type Client, type LogQuery, type LogRecord, ProblemError } from '../client.ts'
import { UsageError } from '../usage.ts'
import { type Target, wantsNodes } from './connect.ts'
import { complain, named, orComplain } from './output/notes.ts'
import type { World } from './output/world.ts'

/** The logs that a command names. */
export interface NamedLogs {
  targets: readonly Target[]
  /** Names or patterns. */
  files: readonly string[]
  /** Nodes of a fleet. */
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
  /** What is read, in a sentence. */
  title: string
  /** The node, if there are several; otherwise empty. */
  target: string
  /** Whether it is a log that is read by itself beside others. */
  isAlone: boolean
  /** What its records lack to be told from others. */
  origin: Pick<LogRecord, 'node' | 'file'>
}

/** Reads, and tells what is missing in the answer as soon as that is known. */
type Read = (reading: Reading, tell: (missing: Missing) => Promise<void>) => Promise<void>
type Missing = Readonly<Record<string, string>>

/**
 * Reads logs node by node: those with times merged, then each of the others by itself. What cannot be read is named on
 * stderr and does not stop the others; returns whether everything could be read.
 */
export async function readLogs(logs: NamedLogs, world: World, read: Read): Promise<boolean> {
  return all(logs.targets, logs.atOnce, (target) => {
    const reader = new TargetReader(target, logs, { world, read })
    return orComplain(world, reader.name, () => reader.run(), false)
  })
}

/** The logs of one node, or of one fleet. */
class TargetReader {
  /** The node, if there are several; otherwise empty. */
  readonly name: string
  readonly #target: Target
  readonly #logs: NamedLogs
  readonly #world: World
  readonly #read: Read

  constructor(target: Target, logs: NamedLogs, { world, read }: { world: World; read: Read }) {
    this.#target = target
    this.#logs = logs
    this.#world = world
    this.#read = read
    this.name = logs.targets.length > 1 ? target.name : ''
  }

  /** Returns whether everything could be read. */
  async run(): Promise<boolean> {
    const { files, filters, node } = this.#logs
    const isMerged = files.length > 1 || isPattern(files[0]!) || node !== undefined
    const title = files.join(' ')
    const file = files.length > 1 ? files : files[0]!
    const origin = this.name === '' ? {} : { node: this.name, ...(!isMerged && { file: title }) }
    const { client } = this.#target
    const reading = { client, query: { ...filters, file, node }, isMerged, title, isAlone: false, origin }
    try {
      return await named(title, () => this.#one(reading))
    } catch (error) {
      if (wantsNodes(error)) throw new UsageError(NAME_NODES)
      if (node !== undefined && isProblem(error, 'unsupported')) throw notFleet()
      if (isProblem(error, 'no-time') && isMerged && this.#mayBeAlone) return this.#oneByOne()
      if (!isProblem(error, 'too-many-sources') || !this.#logs.maySplit) throw error
      await complain(this.#world, 'There are more logs than a node merges: each is read by itself.')
      return this.#oneByOne()
    }
  }

  async #one(reading: Omit<Reading, 'target'>): Promise<boolean> {
    let isWhole = true
    await this.#read({ ...reading, target: this.name }, async (missing) => {
      isWhole = await this.#tell(missing)
    })
    return isWhole
  }

  /** Names what is missing in an answer, and reads what is missing only because it has no times. */
  #tell(missing: Missing): Promise<boolean> {
    return all(Object.entries(missing), this.#logs.atOnce, async ([name, reason]) => {
      // With its rotated files, as if it had been merged.
      if (reason === 'no-time' && this.#mayBeAlone) return this.#alone(name, { rotated: true })
      const said = reason === '' ? `${name} more were not read.` : `${name} was not read: ${reason}.`
      await complain(this.#world, said)
      return false
    })
  }

  /** One log beside others; on a fleet its name is `node/file`. */
  #alone(name: string, more: Pick<LogQuery, 'rotated'> = {}): Promise<boolean> {
    const { node, filters } = this.#logs
    const slash = node === undefined ? -1 : name.indexOf('/')
    const id = slash < 0 ? null : name.slice(0, slash)
    const file = name.slice(slash + 1)
    const own = id ?? this.name
    const reading = {
      client: id === null ? this.#target.client : this.#target.nodeClient(id),
      query: { ...filters, ...more, file },
      isMerged: false,
      title: name,
      isAlone: true,
      origin: { ...(own !== '' && { node: own }), file },
    }
    return orComplain(this.#world, name, () => this.#one(reading), false)
  }

  /** A log without times has no records of a time range, and none of a level. */
  get #mayBeAlone(): boolean {
    const { level, since, until } = this.#logs.filters
    return level === undefined && since === undefined && until === undefined
  }

  /** Every log that is named, by itself. */
  async #oneByOne(): Promise<boolean> {
    const { files, node, atOnce } = this.#logs
    const listed = await this.#target.client.list({ signal: this.#world.signal, ...(node && { node }) })
    const matching = (value: string) =>
      listed.filter(({ name }) => name === value || (isPattern(value) && patternOf(value).test(name)))
    const names = new Set(files.flatMap(matching).map((log) => logName(log.node, log.name)))
    const unknown = files.filter((value) => matching(value).length === 0)
    const isWhole = await all([...names], atOnce, (name) => this.#alone(name))
    return (await this.#tell(Object.fromEntries(unknown.map((name) => [name, 'unknown-file'])))) && isWhole
  }
}

/** A log's name; on a fleet with its node. */
export function logName(node: string | undefined, file: string): string {
  return node === undefined ? file : `${node}/${file}`
}

export function isPattern(value: string): boolean {
  return /[*?]/.test(value)
}

/** What to say when nodes of a fleet are wanted from something else. */
export function notFleet(flag = '--node'): UsageError {
  return new UsageError(`Cannot use ${flag} here: the URL is that of a single node, not of a fleet.`)
}

const NAME_NODES =
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
