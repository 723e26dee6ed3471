import { type Budget, BudgetError } from '../../limits/budget.ts'
import { LEVELS } from '../format/detect.ts'
import { lastStart, lineEnd, nextStart } from '../format/lines.ts'
import { type Scanner, takeScanner } from '../scanner/scanner.ts'
import { Backward } from '../search/backward.ts'
import { type Candidate, type Chunk, eachWanted, type Filter, usesScanner } from '../search/filter.ts'
import { matchesInTurns } from '../search/in-turns.ts'
import { remoteChunk, SLACK } from '../search/reading.ts'
import { MAX_RECORD } from '../search/scan.ts'
import { isHole } from '../text/bytes.ts'
import { lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import { type CountedRange, LineCount } from './line-count.ts'

/** Counts backwards through a log, as a search reads it. */
export class Count {
  readonly #series: Series
  readonly #budget: Budget
  readonly #stretch: CountedRange
  readonly #reader: Backward
  readonly #scanner: Scanner | null
  readonly #lines: LineCount | null

  constructor(context: ViewContext, series: Series, budget: Budget, stretch: CountedRange) {
    this.#series = series
    this.#budget = budget
    this.#stretch = stretch
    const reading = readingOf(context)
    const { chunk, parallel = 1 } = reading
    const largest = parallel > 1 ? remoteChunk(reading) : chunk
    const { memory } = budget
    const { filter } = stretch
    this.#scanner =
      usesScanner(filter) || countsAll(filter) ? takeScanner(largest + SLACK, reading.sharedMemory) : null
    this.#lines = this.#scanner && countsAll(filter) ? new LineCount(stretch, this.#scanner) : null
    this.#reader = new Backward({
      series,
      lo: stretch.lo,
      step: chunk,
      largest,
      scanner: this.#scanner,
      parallel,
      memory,
    })
  }

  /** False if the budget ran out. */
  async run(): Promise<boolean> {
    try {
      return await this.#goBack()
    } catch (error) {
      if (error instanceof BudgetError) return false
      throw error
    } finally {
      await this.#reader.end()
      this.#scanner?.release()
    }
  }

  async #goBack(): Promise<boolean> {
    const series = this.#series
    const { lo, hi, filter } = this.#stretch
    let kept: { from: number; bytes: Uint8Array } | null = null
    let longer: number | null = null
    let readAhead = false
    for (let at = hi; at > lo; ) {
      // With everything counted, a spent budget left nothing out.
      if (series.addresses.isStart(at)) break
      if (!(await this.#budget.step())) return false
      const start = await series.sequentialStart(at)
      if (start !== null) {
        const from = Math.max(lo, start)
        if (!(await this.#goThrough(from, at))) return false
        at = from
        kept = null
        continue
      }
      kept = await this.#reader.chunk(at, { longer, kept, ahead: readAhead ? Number.POSITIVE_INFINITY : 0 })
      const { from, bytes } = kept
      if (from >= at) break
      const bottom = from <= lo || series.addresses.isStart(from)
      let first = bottom ? 0 : nextStart(filter.format, bytes, 0, bytes.length)
      if (first < 0) {
        if (longer === null && isHole(bytes)) {
          this.#budget.spend(bytes.length)
          readAhead = true
          at = from
          continue
        }
        if (bytes.length < MAX_RECORD) {
          longer = 4 * bytes.length
          continue
        }
        first = 0
      }
      longer = null
      readAhead = true
      await this.#countIn(bytes, first, bytes.length)
      this.#budget.spend(bytes.length - first)
      at = from + first
      if (bottom) break
    }
    return true
  }

  /** An archive that can only be read from its start. */
  async #goThrough(from: number, to: number): Promise<boolean> {
    const { format } = this.#stretch.filter
    for (let at = from, length = FORWARD; at < to; ) {
      if (!(await this.#budget.step())) return false
      const bytes = await this.#series.read(at, Math.min(at + length, to))
      const whole = at + bytes.length >= to
      let last = whole ? bytes.length : lastStart(format, bytes, 0, bytes.length)
      if (last <= 0) {
        if (length < MAX_RECORD) {
          length *= 4
          continue
        }
        last = bytes.length
      }
      await this.#countIn(bytes, 0, last)
      this.#budget.spend(last)
      at += last
      length = FORWARD
    }
    return true
  }

  /** Counts the records of bytes[from, to), which are whole, in steps, yielding in between. */
  async #countIn(bytes: Uint8Array, from: number, to: number): Promise<void> {
    const { filter } = this.#stretch
    for (let at = from; at < to; ) {
      const next = at + UNIT >= to ? -1 : nextStart(filter.format, bytes, at + UNIT, to)
      const end = next < 0 ? to : next
      await this.#countUnit({ bytes: bytes.subarray(0, end), from: at, to: end, base: 0 })
      at = end
      await this.#budget.step()
    }
  }

  async #countUnit(chunk: Chunk): Promise<void> {
    const { filter } = this.#stretch
    const scanner = this.#scanner
    if (this.#lines?.count(chunk)) return
    const count = counter(chunk, this.#stretch)
    if (filter.matcher === null) return eachWanted(chunk, filter, count, scanner)
    const { bytes, base } = chunk
    const ranges = await matchesInTurns(chunk, filter, this.#budget, { scanner })
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      count({ bytes, start, end, base, time: Number.NaN, headEnd: lineEnd(bytes, start, end) })
    }
  }
}

/** How much is counted between two turns of the event loop. */
const UNIT = 512 * 1024
const FORWARD = 1024 * 1024

/** Counts the wanted records of a chunk one by one. */
function counter({ bytes, from }: Chunk, { filter, add }: CountedRange): (record: Candidate) => void {
  const { format, zone } = filter
  let before = Number.NaN
  let last = from
  return (record) => {
    const { start, end, headEnd } = record
    let time = format.time(bytes, start, headEnd, zone)
    // A record without a time has that of the one before it, wanted or not.
    if (Number.isNaN(time)) time = lastTime(format, zone, bytes, [last, start])
    if (Number.isNaN(time)) time = before
    const level = format.level(bytes, start, headEnd, end)
    add(time, level < 0 ? LEVELS.length : level, record)
    before = time
    last = end
  }
}

/** Whether all records are wanted. */
function countsAll({ level, matcher }: Filter): boolean {
  return level === null && matcher === null
}
