import type { Budget } from '../../kit/limits/budget.ts'
import { type Scanner, takeScanner } from '../scanner/scanner.ts'
import type { Series } from '../text/series.ts'
import type { TimeSpan } from '../text/text.ts'
import { type Chunk, type Filter, usesScanner } from './filter.ts'
import { type Reading, remoteChunk, SLACK } from './reading.ts'

/** A walk through [lo, hi) of a log, in one direction. */
export interface WalkRange {
  series: Series
  lo: number
  hi: number
  /** From `lo` to `hi`, or else from `hi` back to `lo`. */
  forward: boolean
  filter: Filter
  budget: Budget
  /** How the log is read. */
  reading: Reading
  /** Whether the end where it begins splits a record that was found and cut. @default false */
  splitsRecord?: boolean | undefined
  /** Whether a record is known to start where the walk does. @default false */
  isStart?: boolean | undefined
  /** About how far it goes at most. @default to the end */
  stretch?: number | undefined
  /** Whether it ends soon: a scanner takes longer to make than it saves. @default false */
  isShort?: boolean | undefined
  /** Whether every record is looked at, not only those that the filter wants, and has a time. @default false */
  looksAtAll?: boolean | undefined
  /** Whether records that the filter rejects are of use, too. @default archives skip what they know to be rejected */
  needsRejected?: boolean | undefined
  /** Whether the rest of a record that is too long to be held is wanted if its beginning is. Forward only. @default false */
  inPieces?: boolean | undefined
  /** What adds the records around those that the filter wants. @default they are left out */
  around?: Surroundings | undefined
}

/** What stands between two groups of records in a text that do not touch. */
export const SEPARATOR = '--\n'

/** The distance of a record that no match comes before, in the direction of the page: one comes after it. */
export const AHEAD = 255

/** Adds to the wanted records of a part of a log those around them. */
export interface Surroundings {
  /** `splits` says which end of the part is inside a record whose other part was given. */
  widen(chunk: Chunk, ranges: ArrayLike<number>, splits: 'start' | 'end' | null): Promise<ArrayLike<number>>
}

/** A text or a level is searched in chunks of up to four reads: each read costs a wake-up of another thread. */
const TEXT_CHUNKS = 4
/** Less than this is searched without a scanner: to make one takes longer. */
const SHORT_STRETCH = 512 * 1024

/** How much is read at first, and then. */
export function sizesOf(range: WalkRange): { step: number; largest: number } {
  const { forward, filter, budget, reading, stretch = Number.POSITIVE_INFINITY, looksAtAll, inPieces } = range
  const step = Math.min(reading.chunk, budget.bytesLeft, stretch)
  // A budget of a few chunks is used up in small ones. Where everything is read, in few: the edge has few requests.
  const most = Math.max(step, Math.floor(budget.bytesLeft / (looksAtAll ? 1 : 64)))
  const { matcher } = filter.selection
  const isQuick = matcher ? matcher.sure || matcher.without : usesScanner(filter)
  const { parallel = 1 } = reading
  const isLong = isQuick && (!forward || inPieces)
  const wanted = parallel > 1 ? remoteChunk(reading) : isLong ? TEXT_CHUNKS * step : step
  return { step, largest: Math.min(wanted, most, stretch) }
}

/** What finds records fast; null if that takes longer than it saves. */
export function scannerFor(range: WalkRange, largest: number): Scanner | null {
  const { forward, filter, reading, stretch = Number.POSITIVE_INFINITY, isShort = false } = range
  if (isShort || stretch <= SHORT_STRETCH || (forward && !usesScanner(filter))) return null
  return takeScanner(largest + SLACK, reading.sharedMemory)
}

/** Whether no record of a block that begins at `from` has a wanted time. */
export function isOutside(
  from: number,
  { to, earliest, latest }: { to: number } & TimeSpan,
  { since, until }: Filter,
): boolean {
  if (since && to <= since.below && latest < since.at) return true
  return until !== null && from >= until.from && earliest >= until.at
}

/** Whether a search examines the time of every record, not only of those that may hold a text or a level. */
export function isEveryTimeSeen({ since, until, selection }: Filter): boolean {
  return (since !== null || until !== null) && !selection.isSearch
}
