import type { Budget } from '../../work/budget.ts'
import { LogError } from '../error.ts'
import { LEVELS, type LineFormat } from '../format/detect.ts'
import { lineEnd, nextStart, startOf } from '../format/lines.ts'
import { type Chunk, type Filter, matches } from '../search/filter.ts'
import { firstTimeOf, seek, type Timed } from '../search/seek.ts'
import { type LogRequest, type OpenLog, openLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'
import { untilHole } from './holes.ts'
import { type TimeNote, timeNotes } from './time-notes.ts'
import { budgetOf, formatOf, inPlace, mayPass, type ViewContext, type ViewRequest } from './view.ts'

/** Which records are counted. */
export type HistogramRequest = Omit<LogRequest, 'cursor'> &
  Pick<ViewRequest, 'since' | 'until' | 'level' | 'matcher'> & {
    /** At most so many buckets. */
    buckets: number
  }

/** How many records there are over time, by level. */
export interface Histogram {
  /** Ms since the epoch: where the first bucket begins and the last one ends. */
  from: number
  to: number
  /** Ms per bucket. */
  step: number
  /** False when the budget ended the count; it goes back from the end, so that the oldest are missing. */
  complete: boolean
  /** What the columns of `counts` are: the levels, and `none` for records without one. */
  levels: string[]
  buckets: { time: number; counts: number[] }[]
  /** What an answer must say about the times, beside the chart. */
  notes?: TimeNote[]
}

/** The columns of a histogram. */
export const COLUMNS = [...LEVELS, 'none']

const EDGE = 64 * 1024
/** A record longer than this is counted in pieces. */
const MAX_RECORD = 8 * 1024 * 1024

/** Counts records over time; null when `isKnown` says that the client knows the answer for these files already. */
export async function histogramOf(
  context: ViewContext,
  request: HistogramRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<Histogram | null> {
  for (let tries = 0; ; tries++) {
    try {
      const budget = budgetOf(context, signal)
      const log = await openLog({ ...context, budget }, { ...request, cursor: null })
      if (isKnown(log.series.parts.map(({ entry }) => entry.etag).join())) return null
      const { result, hole } = await untilHole(log, { ...request, cursor: null }, (log) =>
        inPlace(context.scans, budget, () => count(context, log, request, budget)),
      )
      return hole === 'gap' ? { ...result, complete: false } : result
    } catch (error) {
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
  const { zone, limits, now } = context
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
  const chart = layOut(range.from, range.to, request.buckets, zone)
  const lo = request.since === null ? Number.NEGATIVE_INFINITY : (await seek(log, range.from)).from
  const hi = request.until === null ? series.end : (await seek(log, range.to)).to
  const { level, matcher } = request
  const filter: Filter = { format, zone, level, matcher, since: null, until: null }
  const add = (time: number, column: number) => {
    let at = time
    // A clock that stepped back puts records beyond the log's own ends: better at the edge than not counted.
    if (at < range.from && request.since === null) at = range.from
    if (at >= range.to && request.until === null) at = range.to - 1
    if (!(at >= range.from && at < range.to)) return
    chart.buckets[Math.floor((at - chart.from) / chart.step)]!.counts[column]!++
  }
  let length = limits.scanChunk
  for (let at = Math.min(hi, series.end); at > lo; ) {
    if (!(await budget.step())) return { ...chart, complete: false, notes }
    const from = await series.floor(Math.max(lo, at - length))
    if (from >= at) break
    const bytes = await series.read(from, at)
    const bottom = from <= lo || series.isStart(from)
    let first = bottom ? 0 : nextStart(format, bytes, 0, bytes.length)
    if (first < 0) {
      if (length < MAX_RECORD) {
        length *= 4
        continue
      }
      first = 0
    }
    countIn(bytes, first, filter, add)
    budget.spend(bytes.length - first)
    length = limits.scanChunk
    at = from + first
    if (bottom) break
  }
  return { ...chart, complete: series.broken() === null, notes }
}

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

/** What was asked for, or from the log's first record to its last; null when no record has a time. */
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

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Steps that people can read on an axis. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((n) => n * DAY),
]

/** Buckets of an even step that begin on the wall clock's full steps, at most `most` of them. */
function layOut(from: number, to: number, most: number, zone: Zone): Omit<Histogram, 'complete'> {
  const offset = zone.offsetAt(from)
  const plan = (step: number) => {
    const start = Math.floor((from + offset) / step) * step - offset
    return { start, count: Math.ceil((to - start) / step) }
  }
  // Beyond the largest step, whole years of days.
  const step = STEPS.find((size) => plan(size).count <= most) ?? Math.ceil((to - from) / most / DAY + 1) * DAY
  const { start, count } = plan(step)
  const buckets = Array.from({ length: count }, (_, i) => ({
    time: start + i * step,
    counts: new Array<number>(COLUMNS.length).fill(0),
  }))
  return { from: start, to: start + count * step, step, levels: COLUMNS, buckets }
}
