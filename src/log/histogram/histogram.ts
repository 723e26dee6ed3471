import type { Budget } from '../../limits/budget.ts'
import { MissingBytes } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LineFormat } from '../format/detect.ts'
import { openPeriod } from '../open.ts'
import type { Candidate, Filter } from '../search/filter.ts'
import { MAX_RECORD } from '../search/scan.ts'
import { firstTimeOf, seek, type Timed } from '../seek/seek.ts'
import { firstTime, formatOf, lastTime } from '../text/format.ts'
import type { LogRequest, OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { timeNotes } from '../view/answer.ts'
import { budgetOf, runInSlot, type ViewContext } from '../view/context.ts'
import { CutLog } from '../view/holes.ts'
import type { ViewRequest } from '../view/request.ts'
import { stateOf, throwUnlessMoved } from '../view/retry.ts'
import { type Chart, COLUMNS, type Histogram, layOut } from './chart.ts'
import { type CountedRange, countRecords } from './count.ts'
import { estimate, estimateMembers } from './estimate.ts'

/** How much of a file's head and tail is read for its first and last time. */
const EDGE = 64 * 1024

/** From the first record to after the last, in ms. */
export interface Range {
  from: number
  to: number
}

/** Which records are counted. */
export type HistogramRequest = Omit<LogRequest, 'cursor'> &
  Pick<ViewRequest, 'since' | 'until' | 'level' | 'levels' | 'matcher'> & {
    /** At most this many buckets. */
    buckets: number
    /** An estimate from a few samples, unless they hold too few matching records to tell. @default false */
    estimate?: boolean | undefined
    /** An instant at which a bucket begins; the others follow from it. @default the wall clock's full steps */
    origin?: number | undefined
    /** The width of a bucket in ms, instead of their number. */
    step?: number | undefined
    /** The range to count in. @default the requested one, or that of the log */
    range?: Range | undefined
    /** Called with each record, its time and its column; the buckets stay empty. */
    visit?: ((time: number, column: number, record: Candidate, filter: Filter) => void) | undefined
  }

/** The range that a histogram of a log would have; null if the log is empty. */
export function histogramRange(
  context: ViewContext,
  request: HistogramRequest,
  signal?: AbortSignal,
): Promise<Range | null> {
  return opened(context, request, signal, async ({ series }, budget) =>
    rangeIn(context, { series, format: await formatOf(series) }, request, budget),
  )
}

/** Counts records over time; null if `isKnown` says that the client already has the answer for these files. */
export async function histogramOf(
  context: ViewContext,
  request: HistogramRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<Histogram | null> {
  return opened(context, request, signal, async (log, budget, hole) => {
    if (isKnown(stateOf(log.series))) return null
    const found = await runInSlot(context.scans, budget, () => count(context, log, request, budget))
    return hole === 'gap' ? { ...found, complete: false } : found
  })
}

/** Works on an open log, and again after a rotation or when bytes of it turn out to be missing. */
async function opened<T>(
  context: ViewContext,
  request: HistogramRequest,
  signal: AbortSignal | undefined,
  work: (log: OpenLog, budget: Budget, hole: CutLog['hole']) => Promise<T>,
): Promise<T> {
  const wanted = { ...request, cursor: null }
  let log: CutLog | null = null
  let budget = budgetOf(context, signal)
  for (let retries = 0; ; ) {
    try {
      log ??= new CutLog(await openPeriod({ ...context, budget }, wanted, { head: EDGE, tail: EDGE }), wanted)
      return await work(log.open, budget, log.hole)
    } catch (error) {
      if (error instanceof MissingBytes && log) {
        await log.cut(error)
        continue
      }
      await throwUnlessMoved(error, retries++, { files: context.files, file: request.file, signal })
      budget = budgetOf(context, signal)
      log = null
    }
  }
}

async function count(
  context: ViewContext,
  { series, beyond: members }: OpenLog,
  request: HistogramRequest,
  budget: Budget,
): Promise<Histogram> {
  const { zone, now } = context
  const format = await formatOf(series)
  const log = { ...context, series, format, budget: budget.half() }
  const range = request.range ?? (await rangeIn(context, { series, format }, request, budget))
  if (range === null) return empty(request, now())
  if (!format.timed && !isEmptySeries(series)) throw noTime()
  if (request.level !== null && !format.leveled)
    throw new LogError('no-level', 'No levels were recognized in the lines of this file; leave level out.')
  if (range.to <= range.from) return { ...empty(request, now()), from: range.from, to: range.from }

  const notes: NonNullable<Histogram['notes']> = timeNotes(format, zone)
  const chart = layOut(range, request, zone)
  const { level, levels, matcher } = request
  const filter: Filter = { format, zone, level, levels, matcher, since: null, until: null }
  if (request.estimate && members && series.parts.length > 1) {
    const result = await estimateMembers({ ...log, budget }, filter, chart)
    if (result !== 'thin') return { ...chart, complete: isWhole(series, result), estimated: true, notes }
  }
  const [since, until] = await Promise.all([
    request.since === null ? null : seek(log, range.from),
    request.until === null ? null : seek(log, range.to),
  ])
  const lo = since?.from ?? Number.NEGATIVE_INFINITY
  const hi = until?.to ?? series.end
  const stretch = { lo, hi: Math.min(hi, series.end), filter }
  if (request.estimate && !members) {
    const result = await estimate({ ...log, budget }, stretch, chart)
    if (result !== 'thin') return { ...chart, complete: isWhole(series, result), estimated: true, notes }
  }
  const { add, isSpan, beyond } = adder(chart, range, filter, request)
  const isCounted = await countRecords(context, series, budget, { ...stretch, add, isSpan })
  const broken = series.brokenIn(lo, hi)
  if (broken) notes.push('archive-cut')
  const complete = isCounted && !broken && !series.isCut
  return { ...chart, complete, notes: beyond() > 0 ? ['time-order', ...notes] : notes }
}

/** Whether an estimate is about all of a log: no budget ran out, and no archive ends early. */
function isWhole(series: Series, result: string): boolean {
  return result === 'whole' && !series.isCut && !series.brokenIn(Number.NEGATIVE_INFINITY, series.end)
}

/** The requested range, or from the log's first record to its last; null if it is empty. */
async function rangeIn(
  context: ViewContext,
  { series, format }: { series: Series; format: LineFormat },
  { since, until }: HistogramRequest,
  budget: Budget,
): Promise<Range | null> {
  const log = { ...context, series, format, budget: budget.half() }
  const first = format.timed ? (since ?? (await firstTimeOfLog(log))) : null
  const last = format.timed ? await lastTimeOfLog(log) : null
  if (first === null || last === null) {
    if (!isEmptySeries(series)) throw noTime()
    return null
  }
  // A clock that stepped back must not turn the range around.
  const end = Math.max(last, since === null ? first : last) + 1
  // A window that ends in the future ends where the log does, or now.
  const to = until === null ? end : Math.min(until, Math.max(end, context.now()))
  return { from: first, to: Math.floor(to) }
}

async function firstTimeOfLog(log: Timed): Promise<number | null> {
  const { series, format, zone, parallel = 1 } = log
  for (const part of series.parts) {
    const head = await part.head(EDGE)
    const time = firstTime(format, zone, head)
    if (!Number.isNaN(time)) return time
    const behind = part.compressed || head.length === 0 ? null : await firstTimeOf(part, { ...log, parallel })
    if (behind !== null) return behind
  }
  return null
}

async function lastTimeOfLog({ series, format, zone }: Timed): Promise<number | null> {
  for (let length = EDGE; ; length *= 8) {
    const from = await series.addresses.floor(series.end - length)
    const bytes = await series.read(from, series.end)
    const time = lastTime(format, zone, bytes)
    if (!Number.isNaN(time)) return time
    if (series.addresses.isStart(from) || length > MAX_RECORD) return null
  }
}

function isEmptySeries(series: Series): boolean {
  return series.end === 0 && series.addresses.isStart(0)
}

function noTime(): LogError {
  return new LogError(
    'no-time',
    'No times were recognized in the lines of this file, so there is nothing to count over time; view it instead.',
  )
}

/** Adds records to the buckets of a chart, and says how many are beyond the log's own ends. */
function adder(
  chart: Chart,
  range: { from: number; to: number },
  filter: Filter,
  { since, until, visit }: HistogramRequest,
): Pick<CountedRange, 'add' | 'isSpan'> & { beyond: () => number } {
  let beyond = 0
  const bucketOf = (time: number) => Math.floor((time - chart.from) / chart.step)
  const add: CountedRange['add'] = (time, column, record, count = 1) => {
    let at = time
    // A clock that stepped back puts records there: better at the edge, with a note, than not counted.
    if (at < range.from && since === null) at = range.from
    // The first record may be later than that by microseconds.
    if (at >= range.to && until === null) at = Math.max(range.from, range.to - 1)
    if (!(at >= range.from && at < range.to)) return
    if (at !== time) beyond++
    if (visit) visit(at, column, record!, filter)
    else chart.buckets[bucketOf(at)]!.counts[column]! += count
  }
  const isSpan = (first: number, last: number) =>
    !visit && first >= range.from && last < range.to && bucketOf(first) === bucketOf(last)
  return { add, isSpan, beyond: () => beyond }
}

function empty({ since, until }: HistogramRequest, now: number): Histogram {
  const at = since ?? until ?? now
  return { from: at, to: at, step: 1, complete: true, levels: COLUMNS, buckets: [] }
}
