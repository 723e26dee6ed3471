import { yieldToEventLoop } from '../../work/yield.ts'
import { characterStart } from '../files/tail.ts'
import type { LineFormat } from '../format/detect.ts'
import { lastStart, lineEnd, nextStart, startOf } from '../format/lines.ts'
import type { Series } from '../text/series.ts'
import { Backward, SLACK } from './backward.ts'
import { type Filter, isWanted, matches, timeAt } from './filter.ts'
import { scanOnce } from './recent.ts'
import { type Scanner, takeScanner } from './scanner.ts'
import { type CountBy, Sink } from './sink.ts'
import type { Fit } from './span.ts'

/** How much a scan may cost. */
export interface ScanBudget {
  bytes: number
  /** The clock (ms) at which it ends. */
  deadline: number
  now: () => number
  /** Bytes per read. */
  chunk: number
  /** Whether each record is a piece of its own, with its end. */
  each?: boolean | undefined
}

/** What a scan found: records in the order of the log, and where to go on. */
export interface Found {
  pieces: Uint8Array[]
  /** Where each piece ends. */
  ends: number[]
  /** Everything that starts in [from, to) is decided. */
  from: number
  to: number
  /** Whether the record at the open end was cut, so that its rest belongs to the next answer. */
  inside: boolean
  /** Whether the end that it went for was reached. */
  complete: boolean
  /** Whether the budget ended it. */
  cut: boolean
}

/** A record longer than this is taken apart: it would else have to be held in memory. */
export const MAX_RECORD = 32 * 1024 * 1024
/** A text is looked for in so many chunks at once: each read costs a wake-up of another thread. */
const MANY = 4
/** Scans let others go first after so many milliseconds. */
const TURN = 8

/** Goes back from `hi` and finds the most recent records that fit. */
export async function scanBack(
  series: Series,
  lo: number,
  hi: number,
  filter: Filter,
  fit: Fit,
  countBy: CountBy,
  budget: ScanBudget,
  inside: boolean,
): Promise<Found> {
  const step = Math.min(budget.chunk, budget.bytes)
  const most = filter.matcher?.sure ? Math.min(MANY * step, Math.max(step, budget.bytes >>> 6)) : step
  const scanner = takeScanner(most + SLACK)
  const reader = new Backward(series, lo, step, most, scanner)
  try {
    return await goBack(reader, scanner, series, lo, hi, filter, fit, countBy, budget, inside)
  } finally {
    await reader.end()
    scanner?.release()
  }
}

async function goBack(
  reader: Backward,
  scanner: Scanner | null,
  series: Series,
  lo: number,
  hi: number,
  filter: Filter,
  fit: Fit,
  countBy: CountBy,
  budget: ScanBudget,
  inside: boolean,
): Promise<Found> {
  const sink = new Sink(fit, countBy, budget.each ?? false)
  const found = (from: number, more: Partial<Found>): Found => ({
    pieces: sink.pieces.reverse(),
    ends: sink.ends.reverse(),
    from,
    to: hi,
    inside: false,
    complete: false,
    cut: false,
    ...more,
  })
  if (sink.isFull()) return found(hi, { inside })
  let at = hi
  // A place inside a record, such as a cut line: seen alone, its beginning may not even look like one.
  const head = hi < series.end ? Math.max(lo, await recordBefore(series, hi, series.end, filter.format)) : hi
  if (head < hi) {
    const bytes = await series.read(head, hi)
    const time = timeAt(bytes, 0, bytes.length, filter)
    if (inside || isWanted(bytes, 0, bytes.length, head, filter, time)) {
      if (!sink.take(bytes, 0, bytes.length, head)) {
        const cut = sink.cutBack(bytes, 0, bytes.length, head)
        return found(head + cut, { inside: cut > 0, complete: cut === 0 && head <= lo })
      }
    }
    at = head
    if (sink.isFull()) return found(at, {})
  }
  let scanned = 0
  let longer: number | null = null
  let kept: { from: number; bytes: Uint8Array } | null = null
  let turn = budget.now()
  while (at > lo) {
    const now = budget.now()
    if (scanned >= budget.bytes || now >= budget.deadline) return found(at, { cut: true })
    if (now - turn >= TURN) {
      await yieldToEventLoop()
      turn = budget.now()
    }
    const start = await series.sequentialStart(at)
    if (start !== null) {
      const low = Math.max(lo, start)
      const isBottom = low <= lo || series.isStart(low)
      const room = sink.room()
      const recent = await scanOnce(series, low, at, isBottom, filter, room, countBy, budget.now)
      if (recent) {
        for (const { bytes, start, end } of recent.kept.reverse()) {
          if (sink.take(bytes, 0, bytes.length, start)) {
            if (!sink.isFull()) continue
            return found(start, { complete: isBottom && start <= low })
          }
          if (sink.pieces.length > 0) return found(end, {})
          const cut = sink.cutBack(bytes, 0, bytes.length, start)
          return found(start + cut, { inside: cut > 0, complete: cut === 0 && isBottom && start <= low })
        }
        if (recent.dropped) return found(recent.kept.at(-1)!.start, {})
        scanned += at - recent.from
        at = recent.from
        kept = null
        if (isBottom) break
        continue
      }
    }
    // The first chunk often answers already; only a scan that goes on reads ahead.
    const { from, bytes } = await reader.chunk(
      at,
      longer,
      kept,
      scanned > 0 && scanned + reader.most < budget.bytes,
    )
    kept = { from, bytes }
    if (from >= at) break
    const bottom = from <= lo || series.isStart(from)
    let first = bottom ? 0 : nextStart(filter.format, bytes, 0, bytes.length)
    if (first < 0) {
      if (bytes.length < MAX_RECORD) {
        longer = 4 * bytes.length
        continue
      }
      first = Math.max(1, characterStart(bytes, 1))
    }
    scanned += bytes.length - first
    longer = null
    const ranges = matches(bytes, first, bytes.length, from, filter, false, scanner)
    let i = ranges.length - 2
    while (i >= 0 && !sink.isFull() && sink.fits(bytes, ranges[i]!, ranges[i + 1]!)) i -= 2
    sink.keep(bytes, ranges, i + 2, from, scanner)
    if (sink.isFull() && i + 2 < ranges.length) {
      const start = ranges[i + 2]!
      return found(from + start, { complete: start === 0 && bottom })
    }
    if (i >= 0) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      if (sink.pieces.length > 0) return found(from + end, {})
      const cut = sink.cutBack(bytes, start, end, from)
      return found(from + cut, { inside: cut > start, complete: cut === 0 && bottom })
    }
    at = from + first
    if (bottom) break
  }
  return found(at, { complete: true })
}

/** How far the first record start is looked for before a scan must find it. */
const HEAD = 64 * 1024

/**
 * Where the most recent records of [lo, hi) that fit start, when all of them are wanted: what `scanBack` would give,
 * without a look at each. Null when only a scan can tell: at a cut record, in an archive, at a long record.
 */
export async function wholeBack(
  series: Series,
  lo: number,
  hi: number,
  format: LineFormat,
  size: number,
): Promise<{ from: number; complete: boolean } | null> {
  if (size <= 0 || series.parts.some((part) => part.compressed)) return null
  if (hi < series.end && (await recordBefore(series, hi, series.end, format)) !== hi) return null
  const from = await series.floor(Math.max(lo, hi - size))
  if (from <= lo || series.isStart(from)) return { from, complete: true }
  const to = Math.min(from + HEAD, hi)
  const bytes = await series.read(from - 1, to)
  const start = nextStart(format, bytes, 0, bytes.length)
  // The last line may be cut, and what it is depends on all of it.
  if (start < 0 || (to < hi && bytes.indexOf(10, start) < 0)) return null
  return { from: from - 1 + start, complete: false }
}

/** Goes on from `lo` and finds the first records that fit. */
export async function scanForth(
  series: Series,
  lo: number,
  hi: number,
  filter: Filter,
  fit: Fit,
  countBy: CountBy,
  budget: ScanBudget,
  inside: boolean,
): Promise<Found> {
  const sink = new Sink(fit, countBy, true)
  const found = (to: number, more: Partial<Found>): Found => ({
    pieces: sink.pieces,
    ends: sink.ends,
    from: lo,
    to,
    inside: false,
    complete: false,
    cut: false,
    ...more,
  })
  if (sink.isFull()) return found(lo, { inside })
  if (lo >= hi) return found(lo, { complete: true, inside })
  // A place in the middle of a record: what of it was given before depends on whether that part was a match.
  const head = await recordBefore(series, lo, hi, filter.format)
  let at = head
  let scanned = 0
  const step = Math.min(budget.chunk, budget.bytes)
  let length = step
  let turn = budget.now()
  while (at < hi) {
    const now = budget.now()
    if (scanned >= budget.bytes || now >= budget.deadline) return found(Math.max(at, lo), { cut: true })
    if (now - turn >= TURN) {
      await yieldToEventLoop()
      turn = budget.now()
    }
    const bytes = await series.read(at, Math.min(at + length, hi))
    const whole = at + bytes.length >= hi
    let last = whole ? bytes.length : lastStart(filter.format, bytes, 0, bytes.length)
    if (last <= 0 || at + last <= lo) {
      if (length < MAX_RECORD) {
        length *= 4
        continue
      }
      last = bytes.length
    }
    scanned += last
    length = step
    let ranges = matches(bytes, 0, last, at, filter, at < lo && inside)
    if (at < lo) ranges = withoutGiven(ranges, bytes, lo - at, at, filter, inside)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      if (sink.take(bytes, start, end, at)) {
        if (sink.isFull()) return found(at + end, { complete: at + end >= hi })
        continue
      }
      if (sink.pieces.length > 0) return found(at + start, {})
      const cut = sink.cutForth(bytes, start, end, at)
      return found(at + cut, { inside: cut < end })
    }
    at += last
  }
  return found(hi, { complete: true })
}

/** Where the record that holds `at` starts; `at` itself when it is a record's start. */
async function recordBefore(series: Series, at: number, hi: number, format: LineFormat): Promise<number> {
  let ahead = Math.min(hi, at + 64 * 1024)
  for (let length = 64 * 1024; ; length *= 8) {
    const from = await series.floor(at - length)
    const inside = at - from
    let bytes = await series.read(from, ahead)
    // What a line is may depend on how it ends, as of JSON: a long one is looked at to its end.
    while (ahead < hi && ahead - at < MAX_RECORD && bytes.indexOf(10, inside) < 0) {
      ahead = Math.min(hi, at + 4 * (ahead - at))
      bytes = await series.read(from, ahead)
    }
    const end = lineEnd(bytes, inside, bytes.length)
    if ((inside === 0 || bytes[inside - 1] === 10) && format.starts(bytes, inside, end)) return at
    if (inside === 0) return at
    const start = startOf(format, bytes, 0, inside - 1, bytes.length)
    if (start > 0 || series.isStart(from)) return from + start
    if (length >= MAX_RECORD) return at
  }
}

/**
 * The first record began before the place where the answer does. If the part before it was a match, it was given
 * already, and its rest follows; if only the whole is one, all of it follows.
 */
function withoutGiven(
  ranges: ArrayLike<number>,
  bytes: Uint8Array,
  place: number,
  base: number,
  filter: Filter,
  inside: boolean,
): ArrayLike<number> {
  if (ranges.length === 0 || ranges[0]! >= place) return ranges
  const given = inside || matches(bytes, 0, place, base, filter, false).length > 0
  if (!given) return ranges
  const [, end, ...rest] = Array.from(ranges)
  return end! > place ? [place, end!, ...rest] : rest
}
