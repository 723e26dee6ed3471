import type { Lease } from '../../limits/memory-budget.ts'
import type { LineFormat } from '../format/detect.ts'
import { lineEnd, nextStart, startOf } from '../format/lines.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import { type Chunk, type Filter, timeAt } from './filter.ts'
import type { Forward } from './forward.ts'
import type { Reading } from './reading.ts'
import type { Sink, SinkOptions } from './sink.ts'

/** Receives every searched chunk: merging needs the records around each match. */
export interface Witness {
  /** The next part, in whole records; those found in it are ranges[first, last). */
  saw(chunk: Chunk, ranges: ArrayLike<number>, first: number, last: number): void
  /** Nothing was kept of what lies before an address. */
  forget(before: number): void
  /** One for the next part, which is read from its start although the search goes backwards. */
  fromStart(): Witness
  /** What that one saw, from an address on, is the next part. */
  adopt(witness: Witness, from: number): void
}

/** A search through [lo, hi) of a log. */
export interface Scan extends SinkOptions {
  series: Series
  lo: number
  hi: number
  filter: Filter
  /** How the log is read. */
  reading: Reading
  /** Reads forward for several searches, each of which continues the one before. @default one for this search */
  reader?: Forward | undefined
  /** Whether each record is a separate piece, with its end. @default false */
  each?: boolean | undefined
  /** Whether the open end splits a record that was found and cut. @default false */
  splitsRecord?: boolean | undefined
  /** Whether a record is known to start where the search does. @default false */
  isStart?: boolean | undefined
  /** About how much is searched at most. @default everything */
  stretch?: number | undefined
  witness?: Witness | undefined
  /** Is given every part, in whole records, instead of a search through it: nothing is found. Backwards only. */
  examine?: Examine | undefined
}

export type Examine = (chunk: Chunk, scanner: Scanner | null) => Promise<void>

/** What a search found: records in log order, and where to continue. */
export interface Found {
  pieces: Uint8Array[]
  /** Where each piece ends. */
  ends: number[]
  /** Every record that starts in [from, to) is decided. */
  from: number
  to: number
  /** Whether the record at the open end was cut, so that its rest belongs to the next answer. */
  splitsRecord: boolean
  /** Whether the far end was reached. */
  complete: boolean
  /** Whether the budget ran out. */
  cut: boolean
  /** Whether the memory for answers ran out before the answer was full. */
  isShort: boolean
  /** The memory that the pieces hold, to be released when they are sent. */
  memory: Lease | null
}

/** A longer record is split: it would have to be held in memory. */
export const MAX_RECORD = 8 * 1024 * 1024

/** So little is searched without a scanner: to make one takes longer. */
export const SHORT_STRETCH = 512 * 1024

/** Whether a search has gone far enough: a record that a chunk cuts is left to the next search. */
export function isFarEnough({ stretch }: Scan, distance: number): boolean {
  return stretch !== undefined && distance >= 0.75 * stretch
}

/** What a sink took of [from, to), in log order. */
export function foundIn(
  { pieces, ends, isRefused: isShort, memory }: Sink,
  from: number,
  to: number,
  more: Partial<Found>,
): Found {
  return {
    pieces,
    ends,
    from,
    to,
    splitsRecord: false,
    complete: false,
    cut: false,
    isShort,
    memory,
    ...more,
  }
}

/** How far back the time is searched for that a record without one has. */
const TIME_BEFORE = 512 * 1024

/** A chunk with the time of the record before it, if its first record has none itself and times matter. */
export async function withTimeBefore(
  chunk: Chunk,
  { series, filter, examine }: Pick<Scan, 'series' | 'filter' | 'examine'>,
): Promise<Chunk> {
  const { bytes, from, to, base } = chunk
  if (from >= to || !(filter.since || filter.until || examine)) return chunk
  if (!Number.isNaN(timeAt(bytes, from, to, filter))) return chunk
  const at = base + from
  for (let length = NEARBY; ; length *= 8) {
    const start = await series.addresses.floor(at - length)
    const text = await series.read(start, at)
    const isStart = series.addresses.isStart(start)
    const first = isStart ? 0 : nextStart(filter.format, text, 0, text.length)
    const before = first < 0 ? Number.NaN : lastTime(filter.format, filter.zone, text, [first, text.length])
    if (!Number.isNaN(before) || isStart || length >= TIME_BEFORE) return { ...chunk, before }
  }
}

/** How far around a place to search for a record boundary at first. */
const NEARBY = 64 * 1024

/** Where the record that holds `at` starts; `at` itself when it is a record's start. */
export async function recordBefore(
  series: Series,
  at: number,
  hi: number,
  format: LineFormat,
): Promise<number> {
  let ahead = Math.min(hi, at + NEARBY)
  for (let length = NEARBY; ; length = Math.min(8 * length, MAX_RECORD)) {
    const from = await series.addresses.floor(at - length)
    const inside = at - from
    let bytes = await series.read(from, ahead)
    // Some formats, such as JSON, are known by how a line ends: a long line is read to its end.
    while (ahead < hi && ahead - at < MAX_RECORD && bytes.indexOf(10, inside) < 0) {
      ahead = Math.min(hi, at + 4 * (ahead - at))
      bytes = await series.read(from, ahead)
    }
    const end = lineEnd(bytes, inside, bytes.length)
    if ((inside === 0 || bytes[inside - 1] === 10) && format.starts(bytes, inside, end)) return at
    if (inside === 0) return at
    const start = startOf(format, { bytes, from: 0, to: bytes.length }, inside - 1)
    if (start > 0 || series.addresses.isStart(from)) return from + start
    if (length >= MAX_RECORD) return at
  }
}
