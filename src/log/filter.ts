import { endOf, lineEnd, startOf } from './lines.ts'
import type { Matcher } from './pattern.ts'
import type { LineFormat } from './record.ts'
import type { Zone } from './time.ts'

/** Which records are wanted. Whole records are kept or dropped; a continuation line goes with its record. */
export interface Filter {
  format: LineFormat
  /** Set while the log was empty: the format is found by the first lines that come. */
  undecided?: boolean
  zone: Zone
  /** An index into LEVELS: this one and above. */
  level: number | null
  matcher: Matcher | null
  /** Records that start below `below` must be at or after `at`. */
  since: { at: number; below: number } | null
  /** Records that start at or after `from` must be before `at`. */
  until: { at: number; from: number } | null
}

/**
 * The records of bytes[from, to) that are wanted, as pairs of start and end; `from` and `to` are record borders.
 * With `first`, the first record is wanted whatever it holds, because its other part was.
 */
export function matches(
  bytes: Uint8Array,
  from: number,
  to: number,
  base: number,
  filter: Filter,
  first: boolean,
): number[] {
  const { format, matcher } = filter
  const ranges: number[] = []
  const find = matcher?.find?.bind(matcher)
  let at = from
  if (first && at < to) {
    const end = endOf(format, bytes, at, to)
    ranges.push(at, end)
    at = end
  }
  // The time of a record without one is that of the record before it.
  let before = Number.NaN
  const timed = filter.since !== null || filter.until !== null
  let headEnd = lineEnd(bytes, at, to)
  while (at < to) {
    if (find) {
      const hit = find(bytes, at, to)
      if (hit < 0) break
      at = startOf(format, bytes, at, hit, to)
      headEnd = lineEnd(bytes, at, to)
    }
    // Each line is looked at once: where it ends, and whether it starts the next record.
    let end = headEnd + 1
    let nextHeadEnd = to
    for (; end < to; end = nextHeadEnd + 1) {
      nextHeadEnd = lineEnd(bytes, end, to)
      if (format.starts(bytes, end, nextHeadEnd)) break
    }
    if (end > to) end = to
    if (timed) {
      const time = format.time(bytes, at, headEnd, filter.zone)
      if (!Number.isNaN(time)) before = time
      else if (find) before = timeBefore(bytes, from, at, filter)
    }
    if (isWanted(bytes, at, end, base, filter, before, headEnd)) ranges.push(at, end)
    at = end
    headEnd = nextHeadEnd
  }
  return ranges
}

/** The time of a record's first line, NaN when it has none. */
export function timeAt(bytes: Uint8Array, start: number, end: number, { format, zone }: Filter): number {
  return format.time(bytes, start, lineEnd(bytes, start, end), zone)
}

/** The time of the nearest record before `start` that has one. */
function timeBefore(bytes: Uint8Array, from: number, start: number, filter: Filter): number {
  for (let end = start; end > from; ) {
    const at = startOf(filter.format, bytes, from, end - 1, end)
    const time = timeAt(bytes, at, end, filter)
    if (!Number.isNaN(time)) return time
    end = at
  }
  return Number.NaN
}

/** Whether the record bytes[start, end) is wanted; `time` is its own or what it inherits. */
export function isWanted(
  bytes: Uint8Array,
  start: number,
  end: number,
  base: number,
  filter: Filter,
  time: number,
  headEnd = lineEnd(bytes, start, end),
): boolean {
  const { since, until, level, matcher } = filter
  if (since && base + start < since.below && !(time >= since.at)) return false
  if (until && base + start >= until.from && !(time < until.at)) return false
  if (level !== null && filter.format.level(bytes, start, headEnd) < level) return false
  return matcher === null || matcher.test(bytes, start, end)
}
