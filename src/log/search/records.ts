import type { LineFormat } from '../format/detect.ts'
import { lineEnd, nextStart, startOf } from '../format/lines.ts'
import { lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import type { Filter } from './filter.ts'

/** A longer record is split: it would have to be held in memory. */
export const MAX_RECORD = 8 * 1024 * 1024

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

/** How far back the time is searched for that a record without one has. */
const TIME_BEFORE = 512 * 1024

/** The time of the last record before `at` that has one; NaN if none is near. */
export async function timeBefore(
  { series, filter: { format, zone } }: { series: Series; filter: Filter },
  at: number,
): Promise<number> {
  for (let length = NEARBY; ; length *= 8) {
    const start = await series.addresses.floor(at - length)
    const text = await series.read(start, at)
    const isStart = series.addresses.isStart(start)
    const first = isStart ? 0 : nextStart(format, text, 0, text.length)
    const time = first < 0 ? Number.NaN : lastTime(format, zone, text, [first, text.length])
    if (!Number.isNaN(time) || isStart || length >= TIME_BEFORE) return time
  }
}

/** How far to search for the first record start before it takes a walk. */
const HEAD_BYTES = 64 * 1024

/**
 * Where the most recent records of [lo, hi) that fit start, when all of them are wanted: what a walk would find, without
 * reading them. Null if only a walk can decide: at a cut record, in an archive, at a long record.
 */
export async function wholeBack(
  series: Series,
  [lo, hi]: readonly [lo: number, hi: number],
  format: LineFormat,
  size: number,
): Promise<{ from: number; complete: boolean } | null> {
  if (size <= 0 || series.parts.some((part) => part.compressed)) return null
  if (hi < series.end && (await recordBefore(series, hi, series.end, format)) !== hi) return null
  const from = await series.addresses.floor(Math.max(lo, hi - size))
  if (from <= lo || series.addresses.isStart(from)) return { from, complete: true }
  const to = Math.min(from + HEAD_BYTES, hi)
  const bytes = await series.read(from - 1, to)
  const start = nextStart(format, bytes, 0, bytes.length)
  // The last line may be cut, and judging it takes all of it.
  if (start < 0 || (to < hi && bytes.indexOf(10, start) < 0)) return null
  return { from: from - 1 + start, complete: false }
}
