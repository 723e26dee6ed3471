import { type Budget, BudgetError } from '../../limits/budget.ts'
import { LogError } from '../error.ts'
import { LEVELS, type LineFormat } from '../format/detect.ts'
import { lastStart, lineEnd, nextStart, startOf } from '../format/lines.ts'
import { Backward } from '../search/backward.ts'
import { type Chunk, type Filter, matches } from '../search/filter.ts'
import { remoteChunk } from '../search/scan.ts'
import { firstTimeOf, seek, type Timed } from '../search/seek.ts'
import { isHole } from '../text/hole.ts'
import { openAnyLog } from '../text/joined.ts'
import type { LogRequest, OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'
import { COLUMNS, type Histogram, layOut } from './chart.ts'
import { estimate } from './estimate.ts'
import { untilHole } from './holes.ts'
import { timeNotes } from './time-notes.ts'
import {
  budgetOf,
  formatOf,
  inPlace,
  mayPass,
  readingOf,
  tooMuchArchive,
  type ViewContext,
  type ViewRequest,
} from './view.ts'

/** Which records are counted. */
export type HistogramRequest = Omit<LogRequest, 'cursor'> &
  Pick<ViewRequest, 'since' | 'until' | 'level' | 'levels' | 'matcher'> & {
    /** At most this many buckets. */
    buckets: number
    /** An estimate from a few samples instead of a count. @default false */
    estimate?: boolean | undefined
    /** Where a bucket begins, and so all of them. @default the wall clock's full steps */
    origin?: number | undefined
    /** The width of a bucket in ms, instead of their number. */
    step?: number | undefined
  }

const EDGE = 64 * 1024
/** A record longer than this is counted in pieces. */
const MAX_RECORD = 8 * 1024 * 1024

/** Counts records over time; null if `isKnown` says that the client already has the answer for these files. */
export async function histogramOf(
  context: ViewContext,
  request: HistogramRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<Histogram | null> {
  for (let tries = 0; ; tries++) {
    try {
      const budget = budgetOf(context, signal)
      const log = await openAnyLog(
        { ...context, budget },
        { ...request, cursor: null },
        { head: EDGE, tail: EDGE },
      )
      if (isKnown(log.series.parts.map(({ entry }) => entry.etag).join())) return null
      const { result, hole } = await untilHole(log, { ...request, cursor: null }, (log) =>
        inPlace(context.scans, budget, () => count(context, log, request, budget)),
      )
      return hole === 'gap' ? { ...result, complete: false } : result
    } catch (error) {
      if (error instanceof BudgetError) throw tooMuchArchive(request.file, error)
      if (tries >= 2 || !(await mayPass(error, context.files, request.file, signal))) throw error
    }
  }
}

async function count(
  context: ViewContext,
  { series }: OpenLog,
  request: HistogramRequest,
  budget: Budget,
): Promise<Histogram> {
  const { zone, now } = context
  const format = await formatOf(series)
  const { files, parallel = 1 } = context
  const log = { files, series, format, zone, parallel, budget: budget.half() }
  const range = format.timed ? await rangeOf(log, request, now()) : null
  if (range === null) {
    if (series.end === 0 && series.isStart(0)) return empty(request, now())
    throw new LogError(
      'no-time',
      'The lines of this file have no times that are understood; there is nothing to count over time.',
    )
  }
  if (request.level !== null && !format.leveled)
    throw new LogError(
      'no-level',
      'The lines of this file have no levels that are understood; ask without level.',
    )
  if (range.to <= range.from) return { ...empty(request, now()), from: range.from, to: range.from }

  const notes = timeNotes(format, zone)
  const chart = layOut(range, request, zone)
  const [since, until] = await Promise.all([
    request.since === null ? null : seek(log, range.from),
    request.until === null ? null : seek(log, range.to),
  ])
  const lo = since?.from ?? Number.NEGATIVE_INFINITY
  const hi = until?.to ?? series.end
  const { level, levels, matcher } = request
  const filter: Filter = { format, zone, level, levels, matcher, since: null, until: null }
  const add = (time: number, column: number) => {
    let at = time
    // A clock that stepped back puts records beyond the log's own ends: better at the edge than not counted.
    if (at < range.from && request.since === null) at = range.from
    if (at >= range.to && request.until === null) at = range.to - 1
    if (!(at >= range.from && at < range.to)) return
    chart.buckets[Math.floor((at - chart.from) / chart.step)]!.counts[column]!++
  }
  const stretch = { lo, hi: Math.min(hi, series.end), filter }
  if (request.estimate) {
    const isWhole = await estimate({ ...log, budget, parallel }, stretch, chart)
    return { ...chart, complete: isWhole, estimated: true, notes }
  }
  const isWhole = await new Count(context, series, budget, { ...stretch, add }).run()
  return { ...chart, complete: isWhole && !series.isCut && series.broken() === null, notes }
}

/** What is counted: the records of [lo, hi) that a filter wants. */
interface Stretch {
  lo: number
  hi: number
  filter: Filter
  add: (time: number, column: number) => void
}

/** Counts backwards through a log, as a search reads it. */
class Count {
  readonly #series: Series
  readonly #budget: Budget
  readonly #stretch: Stretch
  readonly #reader: Backward

  constructor(context: ViewContext, series: Series, budget: Budget, stretch: Stretch) {
    this.#series = series
    this.#budget = budget
    this.#stretch = stretch
    const reading = readingOf(context)
    const { chunk, parallel = 1 } = reading
    const largest = parallel > 1 ? remoteChunk(reading) : chunk
    const { memory } = budget
    this.#reader = new Backward({
      series,
      lo: stretch.lo,
      step: chunk,
      largest,
      scanner: null,
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
    }
  }

  async #goBack(): Promise<boolean> {
    const series = this.#series
    const { lo, hi, filter } = this.#stretch
    let kept: { from: number; bytes: Uint8Array } | null = null
    let longer: number | null = null
    let readAhead = false
    for (let at = hi; at > lo; ) {
      if (!(await this.#budget.step())) return false
      const start = await series.sequentialStart(at)
      if (start !== null) {
        const from = Math.max(lo, start)
        if (!(await this.#goThrough(from, at))) return false
        at = from
        kept = null
        continue
      }
      kept = await this.#reader.chunk(at, { longer, kept, readAhead })
      const { from, bytes } = kept
      if (from >= at) break
      const bottom = from <= lo || series.isStart(from)
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
    const { filter, add } = this.#stretch
    for (let at = from; at < to; ) {
      const next = at + UNIT >= to ? -1 : nextStart(filter.format, bytes, at + UNIT, to)
      const end = next < 0 ? to : next
      countIn(bytes.subarray(0, end), at, filter, add)
      at = end
      await this.#budget.step()
    }
  }
}

/** How much is counted between two turns of the event loop. */
const UNIT = 512 * 1024
const FORWARD = 1024 * 1024

/** Counts the wanted records of bytes from a record's start on. */
function countIn(
  bytes: Uint8Array,
  from: number,
  filter: Filter,
  add: (time: number, column: number) => void,
) {
  const { format, zone } = filter
  const ranges = matches({ bytes, from, to: bytes.length, base: 0 }, filter)
  let before = Number.NaN
  let last = from
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const end = lineEnd(bytes, start, ranges[i + 1]!)
    let time = format.time(bytes, start, end, zone)
    // A record without a time has that of the one before it, wanted or not.
    if (Number.isNaN(time)) time = timeBefore({ bytes, from: last, to: start }, format, zone)
    if (Number.isNaN(time)) time = before
    const level = format.level(bytes, start, end, ranges[i + 1])
    add(time, level < 0 ? LEVELS.length : level)
    before = time
    last = ranges[i + 1]!
  }
}

function timeBefore({ bytes, from, to }: Omit<Chunk, 'base'>, format: LineFormat, zone: Zone): number {
  for (let end = to; end > from; ) {
    const at = startOf(format, bytes, from, end - 1, end)
    const time = format.time(bytes, at, lineEnd(bytes, at, end), zone)
    if (!Number.isNaN(time)) return time
    end = at
  }
  return Number.NaN
}

/** The requested range, or from the log's first record to its last; null if no record has a time. */
async function rangeOf(
  log: Timed,
  { since, until }: HistogramRequest,
  now: number,
): Promise<{ from: number; to: number } | null> {
  const first = since ?? (await firstTime(log))
  const { series, format, zone } = log
  const last = await lastTime(series, format, zone)
  if (first === null || last === null) return null
  // A clock that stepped back must not turn the range around.
  const end = Math.max(last, since === null ? first : last) + 1
  // A window that ends in the future ends where the log does, or now.
  return { from: first, to: Math.floor(until === null ? end : Math.min(until, Math.max(end, now))) }
}

async function firstTime(log: Timed): Promise<number | null> {
  const { series, format, zone, parallel = 1 } = log
  for (const part of series.parts) {
    const head = await part.head(EDGE)
    for (let at = 0; at < head.length; ) {
      const end = lineEnd(head, at, head.length)
      const time = format.starts(head, at, end) ? format.time(head, at, end, zone) : Number.NaN
      if (!Number.isNaN(time)) return time
      at = end + 1
    }
    const behind = part.compressed ? null : await firstTimeOf(part, { ...log, parallel })
    if (behind !== null) return behind
  }
  return null
}

async function lastTime(series: Series, format: LineFormat, zone: Zone): Promise<number | null> {
  for (let length = EDGE; ; length *= 8) {
    const from = await series.floor(series.end - length)
    const bytes = await series.read(from, series.end)
    const time = timeBefore({ bytes, from: 0, to: bytes.length }, format, zone)
    if (!Number.isNaN(time)) return time
    if (series.isStart(from) || length > MAX_RECORD) return null
  }
}

function empty({ since, until }: HistogramRequest, now: number): Histogram {
  const at = since ?? until ?? now
  return { from: at, to: at, step: 1, complete: true, levels: COLUMNS, buckets: [] }
}
