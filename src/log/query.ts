import { Backward } from './backward.ts'
import { countLines, endOf, lastStart, lineEnd, nextStart, startOf } from './lines.ts'
import type { Matcher } from './pattern.ts'
import { scanOnce } from './recent.ts'
import type { LineFormat } from './record.ts'
import type { Series } from './series.ts'
import type { Fit } from './span.ts'
import { characterStart } from './tail.ts'
import type { Zone } from './time.ts'

/** Which records are wanted. Whole records are kept or dropped; a continuation line goes with its record. */
export interface Filter {
  format: LineFormat
  zone: Zone
  /** An index into LEVELS: this one and above. */
  level: number | null
  matcher: Matcher | null
  /** Records that start below `below` must be at or after `at`. */
  since: { at: number; below: number } | null
  /** Records that start at or after `from` must be before `at`. */
  until: { at: number; from: number } | null
}

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

/** Each record is one line of the answer, however many lines it has: so it is when records become JSON. */
export type CountBy = 'lines' | 'records'

/** A record longer than this is taken apart: it would else have to be held in memory. */
const MAX_RECORD = 32 * 1024 * 1024
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
  const reader = new Backward(series, lo, Math.min(budget.chunk, budget.bytes))
  try {
    return await goBack(reader, series, lo, hi, filter, fit, countBy, budget, inside)
  } finally {
    await reader.end()
  }
}

async function goBack(
  reader: Backward,
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
  const step = Math.min(budget.chunk, budget.bytes)
  let length = step
  let kept: { from: number; bytes: Uint8Array } | null = null
  let turn = budget.now()
  while (at > lo) {
    const now = budget.now()
    if (scanned >= budget.bytes || now >= budget.deadline) return found(at, { cut: true })
    if (now - turn >= TURN) {
      await nextTurn()
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
    const { from, bytes } = await reader.chunk(at, length, kept, scanned > 0 && scanned + step < budget.bytes)
    kept = { from, bytes }
    if (from >= at) break
    const bottom = from <= lo || series.isStart(from)
    let first = bottom ? 0 : nextStart(filter.format, bytes, 0, bytes.length)
    if (first < 0) {
      if (length < MAX_RECORD) {
        length *= 4
        continue
      }
      first = Math.max(1, characterStart(bytes, 1))
    }
    scanned += bytes.length - first
    length = step
    const ranges = matches(bytes, first, bytes.length, from, filter, false)
    let i = ranges.length - 2
    while (i >= 0 && !sink.isFull() && sink.fits(bytes, ranges[i]!, ranges[i + 1]!)) i -= 2
    sink.keep(bytes, ranges, i + 2, from)
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
      await nextTurn()
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
  const ahead = Math.min(hi, at + 64 * 1024)
  for (let length = 64 * 1024; ; length *= 8) {
    const from = await series.floor(at - length)
    const bytes = await series.read(from, ahead)
    const inside = at - from
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
  ranges: number[],
  bytes: Uint8Array,
  place: number,
  base: number,
  filter: Filter,
  inside: boolean,
): number[] {
  if (ranges.length === 0 || ranges[0]! >= place) return ranges
  const given = inside || matches(bytes, 0, place, base, filter, false).length > 0
  if (!given) return ranges
  return ranges[1]! > place ? [place, ...ranges.slice(1)] : ranges.slice(2)
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

/** What has been taken so far, and whether more fits. */
class Sink {
  readonly pieces: Uint8Array[] = []
  readonly ends: number[] = []
  readonly #countBy: CountBy
  readonly #each: boolean
  #size: number
  #lines: number

  constructor(fit: Fit, countBy: CountBy, each: boolean) {
    this.#each = each
    this.#size = fit.size
    this.#lines = fit.lines ?? Number.POSITIVE_INFINITY
    this.#countBy = countBy
  }

  /** What still fits. */
  room(): Fit {
    return { size: this.#size, lines: this.#lines === Number.POSITIVE_INFINITY ? null : this.#lines }
  }

  isFull(): boolean {
    return this.#size <= 0 || this.#lines <= 0
  }

  /** Takes a whole record, if it fits. */
  take(bytes: Uint8Array, start: number, end: number, base: number): boolean {
    if (!this.fits(bytes, start, end)) return false
    this.#keep(bytes, start, end, base)
    return true
  }

  /** Whether a whole record fits; its room is then taken. */
  fits(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > this.#size) return false
    if (this.#lines !== Number.POSITIVE_INFINITY) {
      const lines = this.#countBy === 'records' ? 1 : countLines(bytes, start, end)
      if (lines > this.#lines) return false
      this.#lines -= lines
    }
    this.#size -= end - start
    return true
  }

  /** Keeps the records of a chunk from ranges[first] on, going backwards: each alone, or all in one piece. */
  keep(bytes: Uint8Array, ranges: readonly number[], first: number, base: number): void {
    if (first >= ranges.length) return
    if (this.#each) {
      for (let i = ranges.length - 2; i >= first; i -= 2) this.#keep(bytes, ranges[i]!, ranges[i + 1]!, base)
      return
    }
    let length = 0
    for (let i = first; i < ranges.length; i += 2) length += ranges[i + 1]! - ranges[i]!
    const piece = new Uint8Array(length)
    let at = 0
    for (let i = first; i < ranges.length; ) {
      const start = ranges[i]!
      let end = ranges[i + 1]!
      // Neighbours go in one copy.
      for (i += 2; i < ranges.length && ranges[i] === end; i += 2) end = ranges[i + 1]!
      piece.set(bytes.subarray(start, end), at)
      at += end - start
    }
    this.pieces.push(piece)
    this.ends.push(base + ranges[ranges.length - 1]!)
  }

  /** Takes the end of a record that does not fit; returns where the cut is. */
  cutBack(bytes: Uint8Array, start: number, end: number, base: number): number {
    let cut = start
    if (end - start > this.#size) {
      cut = end - this.#size
      const character = characterStart(bytes.subarray(0, end), cut)
      if (character < end) cut = character
    }
    if (this.#countBy === 'lines') {
      let left = this.#lines
      let at = end - 1
      while (at > cut && left > 0) {
        const lf = bytes.lastIndexOf(10, at - 1)
        if (lf < cut) break
        left--
        if (left === 0) cut = lf + 1
        at = lf
      }
    }
    this.#keep(bytes, cut, end, base)
    return cut
  }

  /** Takes the beginning of a record that does not fit; returns where the cut is. */
  cutForth(bytes: Uint8Array, start: number, end: number, base: number): number {
    let cut = end
    if (end - start > this.#size) {
      cut = start + this.#size
      let character = cut
      while (character > start && cut - character < 4 && (bytes[character]! & 0xc0) === 0x80) character--
      if (character > start && cut - character < 4) cut = character
    }
    if (this.#countBy === 'lines') {
      let at = start
      for (let left = this.#lines; left > 0 && at < cut; left--) at = lineEnd(bytes, at, cut) + 1
      cut = Math.min(cut, at)
    }
    this.#keep(bytes, start, cut, base)
    return cut
  }

  #keep(bytes: Uint8Array, start: number, end: number, base: number): void {
    this.pieces.push(bytes.slice(start, end))
    this.ends.push(base + end)
  }
}

/** Lets other work go first. A timer of 0 ms takes 1 ms where there is something quicker. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void }
  return new Promise((resolve) => (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))
}
