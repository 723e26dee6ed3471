import { type Budget, BudgetError } from '../../kit/limits/budget.ts'
import { LEVELS } from '../format/detect.ts'
import { lineEnd } from '../format/lines.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { ANYTHING, type Flush, type IsSpan, Shapes } from '../scanner/shapes.ts'
import { walkThrough } from '../search/consumer.ts'
import { type Candidate, type Chunk, eachWanted, type Filter } from '../search/filter.ts'
import type { WalkPart } from '../search/walk.ts'
import { lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import { readingOf, type ViewContext } from '../view/context.ts'

/** What is counted: the records of [lo, hi) that a filter wants. */
export interface CountedRange {
  lo: number
  hi: number
  filter: Filter
  /** Counts a record, or as many as `count` says without looking at them. */
  add: (time: number, column: number, record: Candidate | null, count?: number) => void
  /** Whether all times from the first to the last count as one. */
  isSpan: IsSpan
}

/** Counts backwards through a log, as a search reads it. False if the budget ran out. */
export async function countRecords(
  context: ViewContext,
  series: Series,
  budget: Budget,
  range: CountedRange,
): Promise<boolean> {
  const { lo, hi, filter } = range
  const isEverything = !filter.selection.isSearch
  let lines: LineCount | null = null
  const take = async (part: WalkPart) => {
    if (part.scanner && isEverything) lines ??= new LineCount(range, part.scanner)
    if (!lines?.count(part)) await countWanted(part, range)
    return null
  }
  const walk = { series, lo, hi, forward: false, filter, budget, reading: readingOf(context) }
  try {
    const { cut } = await walkThrough({ ...walk, isStart: true, looksAtAll: true }, { take })
    return !cut
  } catch (error) {
    if (error instanceof BudgetError) return false
    throw error
  }
}

/** Counts the wanted records of a part one by one. */
async function countWanted(part: WalkPart, { filter, add }: CountedRange): Promise<void> {
  const { format, zone } = filter
  const { bytes, base } = part
  let { before = Number.NaN } = part
  let last = part.from
  const count = (record: Candidate) => {
    const { start, end, headEnd } = record
    let time = format.time(bytes, start, headEnd, zone)
    // A record without a time has that of the one before it, wanted or not.
    if (Number.isNaN(time)) time = lastTime(format, zone, bytes, [last, start])
    if (Number.isNaN(time)) time = before
    const level = format.level(bytes, start, headEnd, end)
    add(time, columnOf(level), record)
    before = time
    last = end
  }
  if (filter.selection.matcher === null) return eachWanted(part, filter, count, part.scanner)
  const ranges = await part.wanted()
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const end = ranges[i + 1]!
    count({ bytes, start, end, base, time: Number.NaN, headEnd: lineEnd(bytes, start, end) })
  }
}

/** Counts where all records are wanted: each line is read once, and in the scanner if it is written like one before. */
export class LineCount {
  readonly #range: CountedRange
  readonly #scanner: Scanner
  readonly #shapes: Shapes
  readonly #flush: Flush
  /** The record that goes on. */
  readonly #record: Candidate = {
    bytes: new Uint8Array(0),
    start: -1,
    end: 0,
    base: 0,
    time: Number.NaN,
    headEnd: 0,
  }

  constructor(range: CountedRange, scanner: Scanner) {
    this.#range = range
    this.#scanner = scanner
    this.#shapes = new Shapes(scanner)
    this.#flush = (time, level, count) => range.add(time, columnOf(level), null, count)
  }

  /** Counts the records of a chunk; false if it is too large for the scanner. */
  count(chunk: Chunk): boolean {
    const { bytes, from, to } = chunk
    const { format } = this.#range.filter
    const base = this.#scanner.hold(chunk)
    if (base === null) return false
    this.#record.bytes = bytes
    this.#record.time = chunk.before ?? Number.NaN
    // A line that wraps another may be the rest of the one before: only the format knows.
    let isSure = !format.unwrap
    for (let at = from; at < to; ) {
      isSure ||= format.starts(bytes, at, lineEnd(bytes, at, to))
      const start = isSure ? this.#afterShaped(base, at, to) : at
      if (start >= to) break
      const end = lineEnd(bytes, start, to)
      this.#read(start, end, start === from)
      isSure = !format.unwrap
      at = end + 1
    }
    this.#end(to)
    this.#shapes.flush(this.#flush)
    return true
  }

  /** Counts the lines that are written like ones before, and gives where the next one begins. */
  #afterShaped(base: number, from: number, to: number): number {
    for (let at = from; ; ) {
      const next = this.#walk(base, at, to)
      if (next >= to || !this.#shapes.isWorth(next - at) || !this.#learn(next, to)) return next
      at = next
    }
  }

  #walk(base: number, from: number, to: number): number {
    const at = this.#scanner.afterShaped(base, { from, to }, this.#shapes.length, ANYTHING)
    if (at > from) {
      this.#end(from)
      const { time } = this.#shapes
      if (!Number.isNaN(time)) this.#record.time = time
    }
    return at
  }

  #learn(from: number, limit: number): boolean {
    const { isSpan, filter } = this.#range
    const { format, zone } = filter
    const { bytes } = this.#record
    const to = lineEnd(bytes, from, limit)
    const pieces = format.shape?.(bytes, from, to)
    if (!pieces) return false
    const timeOf = (line: Uint8Array, end: number) => format.time(line, 0, end, zone)
    return this.#shapes.learn({ bytes, from, to, pieces }, { timeOf, isSpan }, this.#flush)
  }

  /** Reads a line, which may begin a record; the first one does. */
  #read(from: number, to: number, isFirst: boolean): void {
    const { format, zone } = this.#range.filter
    const { bytes } = this.#record
    if (!isFirst && !format.starts(bytes, from, to)) return
    this.#end(from)
    const time = format.time(bytes, from, to, zone)
    // A record without a time has that of the one before it.
    if (!Number.isNaN(time)) this.#record.time = time
    this.#record.start = from
    this.#record.headEnd = to
  }

  /** Counts the record that ends here. */
  #end(end: number): void {
    const record = this.#record
    const { bytes, start, headEnd, time } = record
    if (start < 0) return
    const { format } = this.#range.filter
    const level = format.level(bytes, start, headEnd, end)
    record.end = end
    this.#range.add(time, columnOf(level), record)
    record.start = -1
  }
}

/** The column of a level; the last one is for records without one. */
function columnOf(level: number): number {
  return level < 0 ? LEVELS.length : level
}
