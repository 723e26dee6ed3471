import type { LogSource } from '../../core/capability.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { each } from '../../kit/limits/each.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { LogError } from '../../log/error.ts'
import { noMemory } from '../../log/search/sink.ts'
import type { Choice } from './labels.ts'
import { LokiError } from './logql/query.ts'

/** What a query is asked of, and what it has read so far: the records that matched. */
export interface Search {
  sources: readonly LogSource[]
  signal: AbortSignal
  read: { lines: number; bytes: number }
  clock: Clock
  /** The memory that it holds; null if that is not limited. */
  memory: Lease | null
  /** Set when a node has more files than are listed at once. */
  isCut?: boolean
  /** Set when an archive ends early. */
  isBroken?: boolean
}

export interface LogFile extends LogSource {
  file: string
  size: number
}

/** What a file that was chosen takes, whatever is done with it. */
const FILE_COST = 256

/** How many nodes are listed, or files searched, at the same time. */
const FILES_AT_ONCE = 4

export async function filesOf(search: Search, choice: Choice): Promise<LogFile[]> {
  const { sources, signal } = search
  const wanted = sources.filter(({ node }) => choice.isNode(node))
  const found = new Map<string, LogFile[]>()
  const list = async ({ node, context }: LogSource) => {
    const { entries, isCut } = await context.files.list(signal)
    if (isCut) search.isCut = true
    const files: LogFile[] = []
    found.set(node, files)
    for (const { key: file, size } of entries) {
      // A pattern takes microseconds for each name.
      if (isTurnOver()) await yieldToEventLoop()
      if (!choice.isFile(file)) continue
      if (search.memory?.grow(FILE_COST) === false) throw noMemory()
      files.push({ node, context, file, size })
    }
    signal.throwIfAborted()
  }
  await eachInTime(wanted, deadlineOf(search, wanted), list)
  return wanted.flatMap(({ node }) => found.get(node)!)
}

/** Whether a file cannot match: its lines have no times, or no levels although levels are requested. */
export function isSilent(error: unknown): boolean {
  return (
    error instanceof LogError && ['no-time', 'no-level', 'not-viewable', 'unknown-file'].includes(error.code)
  )
}

/** For a file that cannot match; other errors are thrown on. */
export function nullIfSilent(error: unknown): null {
  if (isSilent(error)) return null
  throw error
}

/** Remembers that an archive ends early, for a warning. */
export function reportBroken(search: Search, notes: readonly string[] = []): void {
  if (notes.includes('archive-cut')) search.isBroken = true
}

/** Tells whether the time is over: one search's time for all files together. */
export function deadlineOf({ clock }: Search, sources: readonly LogSource[]): () => boolean {
  const until = clock.elapsed() + (sources[0]?.context.limits.scanMillis ?? 0)
  return () => clock.elapsed() > until
}

/** Works on each item, a few at a time. */
export async function eachInTime<T>(
  items: readonly T[],
  isLate: () => boolean,
  work: (item: T) => Promise<void>,
): Promise<void> {
  await each(items, FILES_AT_ONCE, (item) => {
    refuseLate(isLate)
    return work(item)
  })
}

export function refuseLate(isLate: () => boolean): void {
  if (!isLate()) return
  throw new LokiError(
    'The search took more time than one request may; narrow the selector to fewer files.',
    504,
  )
}

export function tooMuch(): LokiError {
  return new LokiError(
    'The search took more than one request may; narrow the time range or the selector.',
    504,
  )
}
