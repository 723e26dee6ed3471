import { endOf, lineEnd, startOf } from './lines.ts'
import type { Matcher } from './pattern.ts'
import type { LineFormat } from './record.ts'
import type { Zone } from './time.ts'

const LF = 10

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
  if (matcher?.all && !filter.since && !filter.until && filter.level === null) {
    around(matcher.all(bytes, at, to), bytes, at, to, format, ranges)
    return ranges
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

/** The records around places, when nothing else is asked of them. Lines are short: a loop beats a call. */
function around(
  places: readonly number[],
  bytes: Uint8Array,
  from: number,
  to: number,
  format: LineFormat,
  ranges: number[],
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = from
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!
    if (place < at) continue
    let start = place
    while (start - 4 >= at && !hasLf(view.getInt32(start - 4))) start -= 4
    while (start > at && bytes[start - 1] !== LF) start--
    if (start > at && !format.surely?.(bytes, start, to)) start = startOf(format, bytes, at, place, to)
    let end = place
    while (end + 4 <= to && !hasLf(view.getInt32(end))) end += 4
    while (end < to && bytes[end] !== LF) end++
    end = Math.min(end + 1, to)
    if (end < to && !format.surely?.(bytes, end, to)) end = endOf(format, bytes, end - 1, to)
    ranges.push(start, end)
    at = end
  }
}

/** Whether one of four bytes is a line break: taken from it, a zero byte borrows its highest bit. */
function hasLf(four: number): boolean {
  const zeros = four ^ 0x0a0a0a0a
  return ((zeros - 0x01010101) & ~zeros & 0x80808080) !== 0
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
