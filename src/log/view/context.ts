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
}

/**
 * The contexts of several logs that one request counts: together, their searches take no longer than one may. Null when
 * that time, or this share of it, is over: the log is then missing from an answer that is not complete.
 */
export function sharingTime(clock: Clock): (context: ViewContext, share?: number) => ViewContext | null {
  const begun = clock.elapsed()
  return (context, share = 1) => {
    const left = context.limits.scanMillis * share - (clock.elapsed() - begun)
    return left > 0 ? { ...context, limits: { ...context.limits, scanMillis: left } } : null
  }
}

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
