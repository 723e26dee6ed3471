import { type Clock, systemClock } from '../kit/limits/clock.ts'
import { type ConcurrencyLimit, concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { MemoryBudget } from '../kit/limits/memory-budget.ts'
import { LogError } from './error.ts'
import type { LogFiles } from './files/files.ts'
import type { FollowLimits } from './follow/hub.ts'
import { limitBlocks } from './search/blocks.ts'
import { parseZone, UTC } from './time.ts'
import type { ViewContext } from './view/context.ts'

/** How logs are read. */
export interface LogOptions {
  /** The zone of times that do not name one: an IANA name, an offset, or `local` for the system's. @default 'UTC' */
  timezone?: string | undefined
  /** How much one request may cost. */
  limits?: Limits | undefined
  /** How following behaves; `false` if the runtime cannot keep responses open. */
  follow?: FollowOptions | false | undefined
  /** Searches in shared memory: Bun reads into it without a copy, V8 reads out of it slowly. @default false */
  sharedMemory?: boolean | undefined
  /** Time and timers. @default the system's */
  clock?: Clock | undefined
}

/** How much one request may cost. */
export interface Limits {
  /** The largest tail in bytes; below 1 MiB it is also the default tail. @default none */
  maxSize?: number | undefined
  /** Bytes that one search may read. @default 1 GiB */
  scanBytes?: number | undefined
  /** Milliseconds that one search may take. @default 10,000 */
  scanMillis?: number | undefined
  /** Searches that run at once; four times as many are queued. @default 4 */
  scans?: number | undefined
  /** Text to decompress from one file, in bytes. @default 512 MiB */
  archiveBytes?: number | undefined
  /** Text of one compressed file that is kept in memory at a time, in bytes. @default 32 MiB, or what fits `memory` */
  windowBytes?: number | undefined
  /** Parallel reads if the store is not a disk; the platform may limit them. @default 16 */
  parallelReads?: number | undefined
  /** Logs that one request may merge. @default 32 */
  sources?: number | undefined
  /** Memory of the process in bytes: searches, archives and unsent answers are kept within it. @default 2 GiB */
  memory?: number | undefined
}

/** How following behaves. */
export interface FollowOptions {
  /** Clients that may follow logs at once; 0 turns following off. @default 2000 */
  followers?: number | undefined
  /** Milliseconds after which a follow ends, where a runtime limits what a request may do. @default no end */
  maxMillis?: number | undefined
  /** Milliseconds between two checks of a file, if the store does not report changes. @default [250, 3000] */
  pollMillis?: readonly [shortest: number, longest: number] | undefined
  /** Whether requests share work, such as polling or a list; false where one cannot wait for another's. @default true */
  shared?: boolean | undefined
  /** Milliseconds between two heartbeats. Bun closes a connection that is silent for 10 seconds. @default 8000 */
  heartbeatMillis?: number | undefined
}

const KIB = 1024
const MIB = 1024 * KIB
const DEFAULT_MEMORY = 2048 * MIB
export const SCAN_MILLIS = 10_000
/** Clients that stall must leave most of the memory for answers to others. */
const DOWNLOADS_SHARE = 0.25

/**
 * Divides the memory of a process. The runtime, its code and its garbage take up to 96 MiB. Each concurrent search takes
 * about 16 MiB, or four reads if the log is in a bucket, and each archive that is read takes two windows and a read; the
 * rest is for all answers together, and half of it for one.
 */
export function sharesOf(memory: number) {
  const usable = memory - Math.min(96 * MIB, 0.375 * memory)
  const between = (low: number, value: number, high: number) =>
    Math.floor(Math.min(high, Math.max(low, value)))
  const answers = Math.floor(usable * 0.4)
  return {
    window: between(MIB, usable / 40, 32 * MIB),
    answers,
    answer: between(MIB, answers / 2, 64 * MIB),
    scans: between(1, usable / (60 * MIB), 4),
    // With what is made of them, files that are listed take about a kilobyte each.
    listed: between(10_000, usable / (3 * KIB), 100_000),
  }
}

/** How many files of a node are held in memory. */
export function mostListed({ limits = {} }: LogOptions): number {
  return sharesOf(limits.memory ?? DEFAULT_MEMORY).listed
}

/** What all logs of a process share: however many nodes it shows, it searches and follows no more than one would. */
export interface ProcessLimits {
  clock: Clock
  memory: MemoryBudget
  /** The part of it for what downloads read ahead. */
  downloads: MemoryBudget
  scans: ConcurrencyLimit
  archives: ConcurrencyLimit
  /** Clients that follow a log now. */
  count: { following: number }
}

/** The limits of a process: make them once, and pass them to everything that reads logs. */
export function processLimits({ limits = {}, clock = systemClock }: LogOptions): ProcessLimits {
  const shares = sharesOf(limits.memory ?? DEFAULT_MEMORY)
  const most = limits.scans ?? shares.scans
  const maxWait = limits.scanMillis ?? SCAN_MILLIS
  limitBlocks(shares.answers)
  const memory = new MemoryBudget(shares.answers)
  return {
    clock,
    memory,
    downloads: memory.part(DOWNLOADS_SHARE),
    scans: concurrencyLimit({ most, maxWait, busy: () => tooBusy('searches'), clock }),
    // Tails of archives are short, so many may queue for them; none waits longer than a search takes.
    archives: concurrencyLimit({
      most,
      queue: 1000,
      maxWait,
      busy: () => tooBusy('views of archives'),
      clock,
    }),
    count: { following: 0 },
  }
}

/** What views need, from the options. */
export function viewContext(
  files: LogFiles,
  options: LogOptions,
  { clock, memory, downloads, scans, archives }: ProcessLimits = processLimits(options),
): ViewContext {
  const { limits = {} } = options
  const zone = options.timezone === undefined ? UTC : parseZone(options.timezone)
  if (zone === null)
    throw new RangeError(`Cannot use the time zone "${options.timezone}": there is no such zone`)
  const shares = sharesOf(limits.memory ?? DEFAULT_MEMORY)
  return {
    files,
    zone,
    memory,
    downloads,
    limits: {
      scanBytes: limits.scanBytes ?? 1024 * MIB,
      scanMillis: limits.scanMillis ?? SCAN_MILLIS,
      scanChunk: MIB,
      sharedMemory: options.sharedMemory,
      answerBytes: shares.answer,
      archiveBytes: limits.archiveBytes ?? 512 * MIB,
      archiveWindow: limits.windowBytes ?? shares.window,
    },
    scans,
    archives,
    clock,
    parallel: files.isNear ? 1 : (limits.parallelReads ?? 16),
    mostSources: limits.sources,
  }
}

/** How following behaves, from the options; null where it is off. */
export function followLimits({ follow = {}, clock = systemClock }: LogOptions): FollowLimits | null {
  if (follow === false || follow.followers === 0) return null
  return {
    clock,
    followers: follow.followers ?? 2000,
    heartbeat: follow.heartbeatMillis ?? 8_000,
    duration: follow.maxMillis ?? null,
    poll: follow.pollMillis ?? [250, 3000],
    shared: follow.shared ?? true,
  }
}

function tooBusy(what: string): LogError {
  return new LogError('too-busy', `Too many ${what} are running; try again in a few seconds.`)
}
