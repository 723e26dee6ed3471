import type { LineFormat } from '../format/detect.ts'
import { endOf, lineEnd, startOf } from '../format/lines.ts'
import type { Matcher } from '../pattern/pattern.ts'
import type { Zone } from '../time.ts'
import type { Scanner } from './scanner.ts'

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
 * With a scanner, a text is found by it: best when it holds the bytes. The result is then valid until it is used again.
 */
export function matches(
  bytes: Uint8Array,
  from: number,
  to: number,
  base: number,
  filter: Filter,
  first: boolean,
  scanner: Scanner | null = null,
): ArrayLike<number> {
  const { format, matcher } = filter
  const ranges: number[] = []
  let at = from
  if (first && at < to) {
    const end = endOf(format, bytes, at, to)
    ranges.push(at, end)
    at = end
  }
  const lines =
    scanner && matcher?.needle ? scanner.linesWith(matcher.needle, format.head, bytes, at, to) : null
  if (lines && matcher?.sure && !filter.since && !filter.until && filter.level === null)
    return ranges.length === 0 && areRecords(lines) ? lines : around(lines, bytes, at, to, format, ranges)
  const find = lines ? nextOf(lines) : matcher?.find?.bind(matcher)
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

/** Whether each line is surely all of its record. */
function areRecords(lines: Int32Array): boolean {
  for (let i = 0; i < lines.length; i += 2) if (lines[i]! < 0) return false
  return true
}

/** The records that hold lines, when nothing else is asked of them; added to `ranges`. */
function around(
  lines: Int32Array,
  bytes: Uint8Array,
  from: number,
  to: number,
  format: LineFormat,
  ranges: number[],
): number[] {
  let at = from
  for (let i = 0; i < lines.length; i += 2) {
    let start = startAt(lines, i)
    let end = lines[i + 1]!
    if (start < at) continue
    if (lines[i]! < 0) {
      if (start > at) start = startOf(format, bytes, at, start, to)
      if (end < to) end = endOf(format, bytes, end - 1, to)
    }
    ranges.push(start, end)
    at = end
  }
  return ranges
}

/** Finds the next of some lines. */
function nextOf(lines: Int32Array): NonNullable<Matcher['find']> {
  let i = 0
  return (_bytes, from) => {
    while (i < lines.length && startAt(lines, i) < from) i += 2
    return i < lines.length ? startAt(lines, i) : -1
  }
}

/** Where a line starts, sure of it or not. */
function startAt(lines: Int32Array, i: number): number {
  const start = lines[i]!
  return start < 0 ? ~start : start
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
