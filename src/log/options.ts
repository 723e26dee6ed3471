import { type Check, flag, group, having, type OptionsOf, orFalse, whole } from '../kit/checked.ts'
import { type Clock, systemClock } from '../kit/limits/clock.ts'
import { type ConcurrencyLimit, concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { MemoryBudget } from '../kit/limits/memory-budget.ts'
import { LogError } from './error.ts'
import type { LogFiles } from './files/files.ts'
import type { FollowLimits } from './follow/hub.ts'
import { limitBlocks } from './search/blocks.ts'
import { parseZone, UTC } from './time.ts'
import type { ViewContext } from './view/context.ts'

/** What a timer can wait for: 24 days. */
const LONGEST = 2 ** 31 - 1

/** How much one request may cost. */
export const LIMITS = {
  /** The largest tail in bytes; below 1 MiB it is also the default tail. @default none */
  maxSize: whole(1),
  /** Bytes that one search may read. @default 1 GiB */
  scanBytes: whole(1),
  /** Milliseconds that one search may take. @default 10,000 */
  scanMillis: whole(1, LONGEST),
  /** Searches that run at once; four times as many are queued. @default 4 */
  scans: whole(1),
  /** Text to decompress from one file, in bytes. @default 512 MiB */
  archiveBytes: whole(1),
  /** Text of one compressed file that is kept in memory at a time, in bytes. @default 32 MiB, or what fits `memory` */
  windowBytes: whole(1),
  /** Parallel reads if the store is not a disk; the platform may limit them. @default 16 */
  parallelReads: whole(1),
  /** Logs that one request may merge. @default 1,000 */
  sources: whole(1),
  /** Memory of the process in bytes: searches, archives and unsent answers are kept within it. @default 2 GiB */
  memory: bytes(),
}
export type Limits = OptionsOf<typeof LIMITS>

/** How following behaves. */
export const FOLLOW = {
  /** Clients that may follow logs at once; 0 turns following off. @default 2000 */
  followers: whole(0),
  /** Milliseconds after which a follow ends, where a runtime limits what a request may do. @default no end */
  maxMillis: whole(1, LONGEST),
  /** Milliseconds between two checks of a file, if the store does not report changes. @default [250, 3000] */
  pollMillis: pair(),
  /** Whether requests share work, such as polling or a list; false where one cannot wait for another's. @default true */
  shared: flag,
  /** Milliseconds between two heartbeats. Bun closes a connection that is silent for 10 seconds. @default 8000 */
  heartbeatMillis: whole(1, LONGEST),
}
export type FollowOptions = OptionsOf<typeof FOLLOW>

/** How logs are read. */
export const READING = {
  /** The zone of times that do not name one: an IANA name, an offset, or `local` for the system's. @default 'UTC' */
  timezone: zone(),
  /** How much one request may cost. @default see below */
  limits: group(LIMITS),
  /** How following behaves; `false` if the runtime cannot keep responses open. @default see below */
  follow: orFalse(group(FOLLOW)),
  /** Searches in shared memory: Bun reads into it without a copy, V8 reads out of it slowly. @default false */
  sharedMemory: flag,
  /** Time and timers. @default the system's */
  clock: having<Clock>('a clock', 'now', 'elapsed'),
}
export type LogOptions = OptionsOf<typeof READING>

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
  const zone = options.timezone === undefined ? UTC : parseZone(options.timezone)!
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

/** Half of a container's memory need not be a whole number. */
function bytes(): Check<number> {
  return (value) =>
    Number.isFinite(value) && (value as number) >= 1 ? null : 'a number of bytes of 1 or more'
}

function pair(): Check<readonly [shortest: number, longest: number]> {
  const one = whole(1, LONGEST)
  return (value) =>
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((each) => one(each) === null) &&
    value[0] <= value[1]
      ? null
      : 'two whole numbers of 1 or more, the smaller one first'
}

function zone(): Check<string> {
  return (value) =>
    typeof value === 'string' && parseZone(value) !== null
      ? null
      : 'a time zone such as Europe/Berlin, +02:00, UTC, or local'
}
