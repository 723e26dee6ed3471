import type { Codec } from '../codec/gzip.ts'
import { concurrencyLimit } from '../work/concurrency-limit.ts'
import { LogError } from './error.ts'
import type { LogFiles } from './files/files.ts'
import type { FollowLimits } from './follow/hub.ts'
import { parseZone, UTC } from './time.ts'
import type { ViewContext } from './view/view.ts'

/** How logs are read, and how much that may cost. */
export interface LogOptions {
  /** The zone of times that have none: an IANA name, an offset, `local` for the system's. @default 'UTC' */
  timezone?: string
  /** How many bytes a filtered view may look through. @default 1 GiB */
  scanBytes?: number
  /** How many milliseconds a filtered view may take. @default 10,000 */
  scanMillis?: number
  /** How many filtered views run at once; four times as many wait in line. @default 4 */
  scans?: number
  /** How much text is taken out of a compressed file. @default 512 MiB */
  archiveBytes?: number
  /** How much of that text is kept in memory at a time. @default 32 MiB */
  windowBytes?: number
  /** How many clients may follow logs at once; 0 or false where the runtime can't. @default 2000 */
  followers?: number | false
  /** Milliseconds after which a follow ends, where a runtime limits what a request may do. @default no end */
  followMillis?: number
  /** The pause between two looks at a file, in ms, where the store gives no notice. @default [250, 3000] */
  pollMillis?: readonly [shortest: number, longest: number]
  /** Whether followers of a log share one look at it; not where requests may share nothing. @default true */
  sharedFollow?: boolean
  /** Milliseconds between two signs of life to a follower. @default 15,000 */
  heartbeatMillis?: number
  /** Decompresses zstd, as Node's zlib can since 22.15. @default DecompressionStream, where it knows zstd */
  zstd?: Codec
}

const MIB = 1024 * 1024

/** What views need, from the options. */
export function viewContext(files: LogFiles, options: LogOptions): ViewContext {
  const zone = options.timezone === undefined ? UTC : parseZone(options.timezone)
  if (zone === null) throw new RangeError(`Cannot use the time zone "${options.timezone}": it is not known`)
  return {
    files,
    zone,
    limits: {
      scanBytes: options.scanBytes ?? 1024 * MIB,
      scanMillis: options.scanMillis ?? 10_000,
      scanChunk: MIB,
      answerBytes: 64 * MIB,
      archiveBytes: options.archiveBytes ?? 512 * MIB,
      archiveWindow: options.windowBytes ?? 32 * MIB,
      zstd: options.zstd,
    },
    scans: concurrencyLimit({ most: options.scans ?? 4, busy: () => tooBusy('searches') }),
    archives: concurrencyLimit({
      most: options.scans ?? 4,
      queue: 1000,
      busy: () => tooBusy('views of archives'),
    }),
    now: Date.now,
  }
}

/** How following behaves, from the options; null where it is not offered. */
export function followLimits(options: LogOptions): FollowLimits | null {
  if (options.followers === false || options.followers === 0) return null
  return {
    followers: options.followers ?? 2000,
    heartbeat: options.heartbeatMillis ?? 15_000,
    duration: options.followMillis ?? null,
    poll: options.pollMillis ?? [250, 3000],
    shared: options.sharedFollow ?? true,
  }
}

function tooBusy(what: string): LogError {
  return new LogError('too-busy', `Too many ${what} are running; try again in a few seconds.`)
}
