import { LogError } from '../error.ts'
import { periodReach } from '../joined/reach.ts'
import type { Candidate, Filter } from '../search/filter.ts'
import { MAX_RECORD } from '../search/records.ts'
import { EDGE_BYTES, firstTimeOf, type Timed } from '../seek/seek.ts'
import { EVERY_RECORD, type Selection } from '../selection.ts'
import { lastTime } from '../text/format.ts'
import type { LogRequest } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { timeNotes } from '../view/answer.ts'
import { budgetOf, type ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { inSession, type Opening, type Session, type SessionRequest, WIDER } from '../view/session.ts'
import { type Chart, COLUMNS, type Histogram, layOut, MOST_BUCKETS, widen } from './chart.ts'
import { type CountedRange, countRecords } from './count.ts'

/** From the first record to after the last, in ms. */
export interface Range {
  from: number
  to: number
  /** Whether the budget ended the search for it. @default false */
  isCut?: boolean
}

/** Which records are counted. */
export type HistogramRequest = Omit<LogRequest, 'cursor'> &
  Pick<ViewRequest, 'selection'> & {
    /** At most this many buckets. */
    buckets: number
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
  return countIn(context, openingOf(context, request, signal), (session) => rangeIn(session, request), signal)
}

/** Counts records over time; null if `isKnown` says that the client already has the answer for these files. */
export async function histogramOf(
  context: ViewContext,
  request: HistogramRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<Histogram | null> {
  const opening = { ...openingOf(context, request, signal), isKnown }
  const work = async (session: Session) => {
    const found = await count(session, request)
    return session.cut?.hole === 'gap' ? { ...found, complete: false } : found
  }
  return countIn(context, opening, work, signal)
}

/** Opens a log and counts in it, in one slot: to open a log with archives takes as much memory as to read it. */
export function countIn<T>(
  context: ViewContext,
  opening: Opening,
  work: (session: Session) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  const open = () =>
    inSession(context, opening, async (session) => ((await session.lacksPeriod()) ? WIDER : work(session)))
  return context.scans.run(open, signal)
}

/** How a log is opened to be counted. */
export function openingOf(
  context: ViewContext,
  request: Omit<SessionRequest, 'cursor'>,
  signal: AbortSignal | undefined,
): Opening {
  return {
    request: { ...request, cursor: null },
    reach: () => periodReach(request.selection),
    openerOf: () => ({ ...context, budget: budgetOf(context, signal) }),
    prefetch: { head: EDGE_BYTES, tail: EDGE_BYTES },
  }
}

async function count(session: Session, request: HistogramRequest): Promise<Histogram> {
  const { context, budget } = session
  const { zone, clock } = context
  const format = await session.format()
  const range = request.range ?? (await rangeIn(session, request))
  const { series } = session
  if (range === null) return empty(request, clock.now())
  if (!format.timed && !isEmptySeries(series)) throw noTime()
  if (request.selection.levels !== null && !format.leveled)
    throw new LogError('no-level', 'No levels were recognized in the lines of this file; leave level out.')
  if (range.to <= range.from)
    return {
      ...empty(request, clock.now()),
      from: range.from,
      to: range.from,
      complete: range.isCut !== true,
    }

  const notes: NonNullable<Histogram['notes']> = timeNotes(format, zone)
  const chart = layOut(range, request, zone)
  const { selection } = request
  const filter: Filter = { format, zone, selection, since: null, until: null }
  const stretch = await stretchOf(session)
  const { add, isSpan, beyond } = adder(chart, range, filter, request)
  const isCounted = await countRecords(context, series, budget, { ...stretch, filter, add, isSpan })
  const broken = series.brokenIn(stretch.lo, stretch.hi)
  if (broken) notes.push('archive-cut')
  const complete = isCounted && !broken && !series.isCut && !range.isCut
  return { ...chart, complete, notes: beyond() > 0 ? ['time-order', ...notes] : notes }
}

/** The part of a log that has all records of a range of time, and whether it has no others. */
export async function stretchOf(session: Session) {
  const { since, until } = await session.borders()
  const { end } = session.series
  return {
    lo: since?.from ?? Number.NEGATIVE_INFINITY,
    hi: Math.min(until?.to ?? end, end),
    isOrdered: since?.ordered !== false && until?.ordered !== false,
  }
}

/** The requested range, or from the log's first record to its last; null if it is empty. */
async function rangeIn(session: Session, { selection }: HistogramRequest): Promise<Range | null> {
  const { context, budget } = session
  const format = await session.format()
  const { series } = session
  const log = { ...context, series, format, budget: budget.half() }
  const { since, until } = selection
  const first = format.timed ? (since ?? (await firstTimeOfLog(log))) : null
  const last = format.timed ? await lastTimeOfLog(log) : null
  if (first === null || last === null) {
    if (!isEmptySeries(series)) throw noTime()
    return null
  }
  const end = Math.max(last, since === null ? first : last) + 1
  // A window that ends in the future ends where the log does, or now.
  const to = until === null ? end : Math.min(until, Math.max(end, context.clock.now()))
  if (to > first) return { from: first, to: Math.floor(to) }
  // The log begins after the range, or ends before it, unless its clock stepped back.
  return rangeWithin(session, selection, first)
}

/** From the first to the last of the times that a request is about, by the time of every record; null without any. */
async function rangeWithin(session: Session, selection: Selection, first: number): Promise<Range | null> {
  const { context, budget, series } = session
  const { zone } = context
  const format = await session.format()
  const { since, until } = selection
  let earliest = Number.POSITIVE_INFINITY
  let latest = Number.NEGATIVE_INFINITY
  const add: CountedRange['add'] = (time) => {
    // Lines before the first record of a log have no time.
    if (Number.isNaN(time) || time < (since ?? time) || time >= (until ?? Number.POSITIVE_INFINITY)) return
    earliest = Math.min(earliest, time)
    latest = Math.max(latest, time)
  }
  const filter: Filter = { format, zone, selection: EVERY_RECORD, since: null, until: null }
  const stretch = await stretchOf(session)
  // Records that are counted without looking at them would have no time of their own.
  const counted = { ...stretch, filter, add, isSpan: () => false }
  const isCut = !(await countRecords(context, series, budget, counted))
  if (latest < earliest) return isCut ? { from: first, to: first, isCut } : null
  return { from: since ?? earliest, to: until ?? Math.floor(latest) + 1, isCut }
}

async function firstTimeOfLog(log: Timed): Promise<number | null> {
  const { series, parallel = 1 } = log
  for (const part of series.parts) {
    const time = await firstTimeOf(part, { ...log, parallel })
    if (time !== null) return time
  }
  return null
}

async function lastTimeOfLog({ series, format, zone }: Timed): Promise<number | null> {
  for (let length = EDGE_BYTES; ; length *= 8) {
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
  range: Range,
  filter: Filter,
  request: HistogramRequest,
): Pick<CountedRange, 'add' | 'isSpan'> & { beyond: () => number } {
  const { since, until } = request.selection
  const { visit } = request
  const reach = reachOf(range, request)
  let beyond = 0
  const bucketOf = (time: number) => Math.floor((time - chart.from) / chart.step)
  const add: CountedRange['add'] = (time, column, record, count = 1) => {
    if (Number.isNaN(time) || time < (since ?? time) || time >= (until ?? Number.POSITIVE_INFINITY)) return
    let at = time
    // A clock that stepped back puts records there: better at the edge, with a note, than not counted.
    if (at < reach.from) at = reach.from
    // The first record may be later than that by microseconds.
    if (at >= reach.to) at = Math.max(reach.from, reach.to - 1)
    if (time < range.from || time >= range.to) beyond++
    if (visit) return visit(time, column, record!, filter)
    widen(chart, at)
    chart.buckets[bucketOf(at)]!.counts[column]! += count
  }
  const isSpan = (first: number, last: number) =>
    !visit && first >= range.from && last < range.to && bucketOf(first) === bucketOf(last)
  return { add, isSpan, beyond: () => beyond }
}

/**
 * How far a chart may grow for records beyond the log's own ends. One that a coordinator adds to others begins with
 * theirs, at `origin`: there those records have buckets, and only beyond all of them they count at the edge.
 */
function reachOf(range: Range, { range: fixed, step, origin }: HistogramRequest): Range {
  if (fixed || step === undefined || origin === undefined) return range
  const end = origin + MOST_BUCKETS * step
  return origin <= range.from && range.to <= end ? { from: origin, to: end } : range
}

function empty({ selection: { since, until } }: HistogramRequest, now: number): Histogram {
  const at = since ?? until ?? now
  return { from: at, to: at, step: 1, complete: true, levels: COLUMNS, buckets: [] }
}
