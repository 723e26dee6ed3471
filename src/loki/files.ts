import { each } from '../limits/each.ts'
import { LogError } from '../log/error.ts'
import type { Choice } from './labels.ts'
import { LokiError } from './logql/query.ts'
import type { LokiSource } from './source.ts'

/** What a query is asked of, and what it has read so far: the records that matched. */
export interface Search {
  sources: readonly LokiSource[]
  signal: AbortSignal
  read: { lines: number; bytes: number }
  /** Set when a node has more files than are listed at once. */
  isCut?: boolean
  /** Set when an archive ends early. */
  isBroken?: boolean
}

export interface LogFile extends LokiSource {
  file: string
  size: number
}

/** How many nodes are listed, or files searched, at the same time. */
const AT_ONCE = 4

export async function filesOf(search: Search, choice: Choice): Promise<LogFile[]> {
  const { sources, signal } = search
  const wanted = sources.filter(({ node }) => choice.isNode(node))
  const found = new Map<string, LogFile[]>()
  const list = async ({ node, context }: LokiSource) => {
    const { entries, isCut } = await context.files.list(signal)
    if (isCut) search.isCut = true
    const files = entries.filter(({ key }) => choice.isFile(key))
    found.set(
      node,
      files.map(({ key, size }) => ({ node, context, file: key, size })),
    )
  }
  await eachInTime(wanted, list, deadlineOf(wanted))
  return wanted.flatMap(({ node }) => found.get(node)!)
}

/** Works on the files that a selector is about, a few at a time, within the time of one search. */
export async function eachFile(search: Search, choice: Choice, work: (file: LogFile) => Promise<void>) {
  const deadline = deadlineOf(search.sources)
  await eachInTime(await filesOf(search, choice), work, deadline)
}

/** Whether a file cannot match: its lines have no times, or no levels although levels are requested. */
export function isSilent(error: unknown): boolean {
  return (
    error instanceof LogError && ['no-time', 'no-level', 'not-viewable', 'unknown-file'].includes(error.code)
  )
}

/** Remembers that an archive ends early, for a warning. */
export function reportBroken(search: Search, notes: readonly string[] = []): void {
  if (notes.includes('archive-cut')) search.isBroken = true
}

/** When the work must be done: one search's time for all files together. */
export function deadlineOf(sources: readonly LokiSource[]): number {
  return Date.now() + (sources[0]?.context.limits.scanMillis ?? 0)
}

async function eachInTime<T>(items: readonly T[], work: (item: T) => Promise<void>, deadline: number) {
  await each(items, AT_ONCE, (item) => {
    refuseLate(deadline)
    return work(item)
  })
}

/** Throws after the deadline. */
export function refuseLate(deadline: number): void {
  if (Date.now() <= deadline) return
  throw new LokiError(
    'The search took more time than one request may; narrow the selector to fewer files.',
    504,
  )
}
