import type { LevelHistogram } from '../../answers.ts'
import { Budget } from '../../kit/limits/budget.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import type { ConcurrencyLimit } from '../../kit/limits/concurrency-limit.ts'
import type { MemoryBudget } from '../../kit/limits/memory-budget.ts'
import type { LogFiles } from '../files/files.ts'
import type { Reading } from '../search/reading.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import type { Zone } from '../time.ts'

/** How much a view may cost. */
export interface ViewLimits extends ArchiveLimits {
  /** Bytes and milliseconds of one scan. */
  scanBytes: number
  scanMillis: number
  /** Bytes per read of a scan. */
  scanChunk: number
  /** Whether searches use shared memory, which one runtime reads into faster. @default false */
  sharedMemory?: boolean | undefined
  /** The largest answer that is collected in memory. */
  answerBytes: number
}

/** What a view needs besides the request. */
export interface ViewContext {
  files: LogFiles
  zone: Zone
  limits: ViewLimits
  scans: ConcurrencyLimit
  /** Each archive that is being read keeps its window of text in memory. @default no limit */
  archives?: ConcurrencyLimit
  /** Memory for answers, shared by all requests. @default no limit */
  memory?: MemoryBudget | undefined
  /** The part of it for what downloads read ahead. @default they read nothing ahead */
  downloads?: MemoryBudget | undefined
  clock: Clock
  /** How many reads run in parallel: many if the store is far away. @default 1 */
  parallel?: number
  /** How much of a log is read through to know its times. @default 256 MiB on a disk, 32 MiB elsewhere */
  wholeBytes?: number | undefined
  /** How many logs are merged at most. @default 32 */
  mostSources?: number | undefined
  /** Counts records where the log is, if that is elsewhere. @default they are read and counted here */
  countThere?: CountThere | undefined
  /** Reads pages of a timeline where the log is. @default they are read here */
  laneThere?: LaneThere | undefined
  /** Groups records where the log is. @default they are read and grouped here */
  groupThere?: GroupThere | undefined
}

/** Groups the records that a query of `groups` selects, in a form that can be merged; null if that must be done here. */
export type GroupThere = (query: string, signal?: AbortSignal) => Promise<unknown>

/** Reads a page of a log on its own node; null if it must be read here. */
export type LaneThere = (asked: LaneAsked, signal?: AbortSignal) => Promise<LaneAnswer | null>

export interface LaneAsked {
  /** The query of `view`. */
  query: string
  /** How many bytes of records may come. */
  most: number
  /** How long a search may take. */
  millis: number
  /** Called before bytes are held; throws if there is no memory for them. */
  grow(bytes: number): void
}

/** What the node says of a page, and the bytes of its records. */
export interface LaneAnswer {
  head: unknown
  body: Uint8Array
}

/** Counts the records that a query of `histogram` selects; null if they must be counted here. */
export type CountThere = (
  query: string,
  signal?: AbortSignal,
) => Promise<(LevelHistogram & { notes: string[] }) | null>

export function budgetOf({ limits, memory, clock }: ViewContext, signal: AbortSignal | undefined): Budget {
  // Archives are read twice: once for their size, once for their text.
  const unpacked = 2 * Math.max(limits.scanBytes, limits.archiveBytes)
  return new Budget({ bytes: limits.scanBytes, unpacked, millis: limits.scanMillis, signal, memory, clock })
}

export function readingOf({ limits, memory, clock, parallel = 1 }: ViewContext): Reading {
  const { scanChunk: chunk, sharedMemory = false } = limits
  return { chunk, clock, sharedMemory, parallel, ...(memory && { memory: memory.total }) }
}

/** Runs a job when there is a free slot. Waiting time does not count. */
export function runInSlot<T>(limit: ConcurrencyLimit, budget: Budget, job: () => Promise<T>): Promise<T> {
  const resume = budget.pause()
  return limit.run(() => {
    resume()
    return job()
  }, budget.signal)
}
