import type { ConcurrencyLimit } from '../../kit/limits/concurrency-limit.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { byCodePoint, type Entry } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { unknownFile } from '../files/files.ts'
import { includeFilter } from '../files/include.ts'
import { noSuchFile } from '../files/nearest.ts'
import type { Matcher } from '../pattern/pattern.ts'
import { logNames } from '../rotated/kin.ts'
import { isDatedInside } from '../rotated/names.ts'
import { toBase64Url } from '../text/cursor.ts'
import type { ViewContext } from '../view/context.ts'
import { hashOf } from './packed.ts'

/** A log among several. */
export interface Source {
  /** What it is called and sorted by: `file`, or on a fleet `node/file`. */
  name: string
  /** The file that stands for it in the list: the active one, or the newest. */
  file: string
  /** The node of a fleet; null where there is only one. */
  node: string | null
  /** What the log is called, whichever of its files is the newest. */
  log: string
  /** The names of its files that were listed. */
  files: readonly string[]
  /** Whether its rotated files are part of it. @default true */
  rotated?: boolean
  /** Which of its records are wanted, if that differs from log to log. @default the matcher of the request */
  matcher?: Matcher | null
  context: ViewContext
}

/** A log, or a whole node, that is not in an answer, and why. */
export interface Missing {
  name: string
  error: unknown
}

/** A log that the cursor knows is not among those that were read. */
export class GoneError extends Error {
  /** Its `laneKey`: a long cursor does not have its name. */
  readonly key: number

  constructor(key: number) {
    super('gone')
    this.key = key
  }
}

export function noTimes(): LogError {
  return new LogError('no-time', 'No times were recognized in the lines of this log; view it by itself.')
}

/** The logs of a node. */
export interface NodeLogs {
  /** Null where there is only one. */
  node: string | null
  context: ViewContext
}

/** What a request names: logs that are there, names of none, and patterns. */
export interface Picked {
  sources: Source[]
  missing: Missing[]
  /** The patterns that match a log. */
  matched: ReadonlySet<string>
}

/** How many logs are merged at most. */
export const MOST_SOURCES = 1000
/** How many logs are read at once where they are elsewhere: more would wait for each other where nodes share a machine. */
export const ELSEWHERE_AT_ONCE = 48

/** Whether a value is a pattern, unless there is a file of that name. */
export function mayBePattern(value: string): boolean {
  return /[*?]/.test(value)
}

/** Whether one of a request's values is the name of a log or a node, or a pattern that matches it. */
export function namedBy(values: readonly string[]): (name: string) => boolean {
  const patterns = values.filter(mayBePattern).map(literalPattern)
  const matches = patterns.length === 0 ? () => false : includeFilter(patterns)
  return (name) => values.includes(name) || matches(name)
}

/** The logs of a node that a request names, each once, with their rotated files. */
export async function pickSources(
  { node, context }: NodeLogs,
  values: readonly string[],
  signal?: AbortSignal,
): Promise<Picked> {
  const { entries, isCut } = await context.files.list(signal)
  if (isCut && values.some(mayBePattern))
    throw new LogError(
      'too-many-sources',
      `A pattern can be compared with ${entries.length} files, and there are more; name the logs instead.`,
    )
  const logs = await logsOf(entries, { node, context })
  const sources = new Map<string, Source>()
  const missing: Missing[] = []
  const matched = new Set<string>()
  for (const value of new Set(values)) {
    const own =
      logs.find(({ files }) => files.includes(value)) ??
      (isShortName(value) ? onlyOne(logs.filter((each) => shortName(each) === value)) : undefined) ??
      logs.find(({ log, files }) => log === value && files.every(isDatedInside))
    if (own) sources.set(own.log, own)
    else if (mayBePattern(value)) {
      for (const source of await matching(logs, value)) {
        matched.add(value)
        sources.set(source.log, source)
      }
    } else {
      const made = await statSource({ node, context }, value, signal)
      if (!(made instanceof LogError)) sources.set(made.log, made)
      // What had a short name is in the cursor of the link, and gone.
      else if (!isShortName(value)) missing.push({ name: nameOf(node, value), error: made })
    }
  }
  // Only if there is nothing to show, a problem says what is missing.
  const misspelt =
    sources.size === 0 ? values.find((value) => nameOf(node, value) === missing[0]?.name) : undefined
  if (misspelt !== undefined) missing[0]!.error = noSuchFile(misspelt, entries)
  return { sources: [...sources.values()], missing, matched }
}

/** What a log is called in a link that would be too long: `~` and 24 bits of a hash. */
export function shortName({ log }: Source): string {
  const hash = hashOf(log)
  return `~${toBase64Url(String.fromCharCode(...[16, 8, 0].map((shift) => (hash >>> shift) % 256)))}`
}

/** Names may be made up so that two logs have the same short one: then it is neither. */
function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

function isShortName(value: string): boolean {
  return /^~[A-Za-z0-9_-]{4}$/.test(value)
}

/** Throws if a request names nothing at all, or too much. */
export function checkPicked(
  { sources, missing, matched }: Picked,
  values: readonly string[],
  most: number,
): void {
  const vain = values.find((value) => mayBePattern(value) && !matched.has(value))
  const isNamed = (value: string) => sources.some(({ files }) => files.includes(value))
  if (vain !== undefined && !isNamed(vain))
    throw new LogError('unknown-file', 'No log matches this pattern; take a name from the list of logs.')
  if (sources.length === 0) throw missing[0]?.error ?? unknownFile()
  if (sources.length > most)
    throw tooMany(sources, most, `This names ${sources.length} logs, and at most ${most} are merged`)
}

/** Says which nodes to name instead of all of them, of which about `most` logs are few enough. */
export function tooMany(sources: readonly Pick<Source, 'node'>[], most: number, why: string): LogError {
  const nodes = sources.map(({ node }) => node).sort()
  const [first, last = null] = [nodes[0], nodes[most - 1]]
  const which = first && last ? `fewer nodes, such as those from ${first} to ${last}` : 'fewer'
  return new LogError('too-many-sources', `${why}; name ${which}, or use a narrower pattern.`)
}

/** The logs of a list, each under the name of its active file or else of its newest. */
async function logsOf(entries: readonly Entry[], { node, context }: NodeLogs): Promise<Source[]> {
  const members = new Map<string, Entry[]>()
  const logs = await logNames(entries)
  for (const entry of entries) {
    const log = logs.get(entry.key) ?? entry.key
    const files = members.get(log) ?? []
    files.push(entry)
    members.set(log, files)
  }
  return [...members].map(([log, files]) => {
    const active = files.find(({ key }) => key === log)
    const newest = files.reduce((a, b) => (b.modified >= a.modified ? b : a))
    const file = (active ?? newest).key
    return { name: nameOf(node, file), file, node, log, files: files.map(({ key }) => key), context }
  })
}

/** A pattern in which only `*` and `?` mean something, for `includeFilter`. */
export function literalPattern(pattern: string): string {
  return pattern.replace(/[\\[\]{}]/g, '\\$&')
}

async function matching(logs: readonly Source[], pattern: string): Promise<Source[]> {
  const isWanted = includeFilter([literalPattern(pattern)])
  const found: Source[] = []
  for (const source of logs) {
    if (isTurnOver()) await yieldToEventLoop()
    if (isWanted(source.file) || isWanted(source.log)) found.push(source)
  }
  return found
}

/** A log that is not in the list, which may be a second old. */
async function statSource(
  { node, context }: NodeLogs,
  file: string,
  signal: AbortSignal | undefined,
): Promise<Source | LogError> {
  try {
    await context.files.stat(file, signal)
    return { name: nameOf(node, file), file, node, log: file, files: [file], context }
  } catch (error) {
    if (error instanceof LogError) return error
    throw error
  }
}

function nameOf(node: string | null, file: string): string {
  return node === null ? file : `${node}/${file}`
}

/** Sources in their order: by the UTF-8 bytes of their names. */
export function bySource(a: Source, b: Source): number {
  return byCodePoint(a.name, b.name)
}

/** The slots of something that has one already. */
export const IN_SLOT: ConcurrencyLimit = {
  run: (job) => job(),
  enter: async () => () => {},
  load: { running: 0, waiting: 0 },
}
