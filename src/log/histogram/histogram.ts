import type { Budget } from '../../limits/budget.ts'
import { LogError } from '../error.ts'
import type { LogRequest, OpenLog } from '../rotated/open.ts'
import type { Filter } from '../search/filter.ts'
import { seek } from '../seek/seek.ts'
import { budgetOf, runInSlot, type ViewContext } from '../view/context.ts'
import { formatOf } from '../view/format.ts'
import { untilHole } from '../view/holes.ts'
import { openPeriod } from '../view/period.ts'
import type { ViewRequest } from '../view/request.ts'
import { stateOf, withRetries } from '../view/retry.ts'
import { timeNotes } from '../view/time-notes.ts'
import { type Chart, COLUMNS, type Histogram, layOut } from './chart.ts'
import { Count } from './count.ts'
import { estimate, estimateMembers } from './estimate.ts'
import { EDGE, rangeOf } from './range.ts'

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
  }

/** Counts records over time; null if `isKnown` says that the client already has the answer for these files. */
export async function histogramOf(
  context: ViewContext,
  request: HistogramRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<Histogram | null> {
  const wanted = { ...request, cursor: null }
  return withRetries({ files: context.files, file: request.file, signal }, async () => {
    const budget = budgetOf(context, signal)
    const log = await openPeriod({ ...context, budget }, wanted, { head: EDGE, tail: EDGE })
    if (isKnown(stateOf(log.series))) return null
    const { result, hole } = await untilHole(log, wanted, (log) =>
      runInSlot(context.scans, budget, () => count(context, log, request, budget)),
    )
    return hole === 'gap' ? { ...result, complete: false } : result
  })
}

async function count(
  context: ViewContext,
  { series, joined }: OpenLog,
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
      'No times were recognized in the lines of this file, so there is nothing to count over time; view it instead.',
    )
  }
  if (request.level !== null && !format.leveled)
    throw new LogError('no-level', 'No levels were recognized in the lines of this file; leave level out.')
  if (range.to <= range.from) return { ...empty(request, now()), from: range.from, to: range.from }

  const notes = timeNotes(format, zone)
  const chart = layOut(range, request, zone)
  const { level, levels, matcher } = request
  const filter: Filter = { format, zone, level, levels, matcher, since: null, until: null }
  if (request.estimate && joined && series.parts.length > 1) {
    const result = await estimateMembers({ ...log, budget }, filter, chart)
    if (result !== 'thin') return { ...chart, complete: result === 'whole', estimated: true, notes }
  }
  const [since, until] = await Promise.all([
    request.since === null ? null : seek(log, range.from),
    request.until === null ? null : seek(log, range.to),
  ])
  const lo = since?.from ?? Number.NEGATIVE_INFINITY
  const hi = until?.to ?? series.end
  const stretch = { lo, hi: Math.min(hi, series.end), filter }
  if (request.estimate && !joined) {
    const result = await estimate({ ...log, budget }, stretch, chart)
    if (result !== 'thin') return { ...chart, complete: result === 'whole', estimated: true, notes }
  }
  const { add, beyond } = adder(chart, range, request)
  const isWhole = await new Count(context, series, budget, { ...stretch, add }).run()
  const complete = isWhole && !series.isCut && series.broken() === null
  return { ...chart, complete, notes: beyond() > 0 ? ['time-order', ...notes] : notes }
}

/** Adds records to the buckets of a chart, and says how many are beyond the log's own ends. */
function adder(
  chart: Chart,
  range: { from: number; to: number },
  { since, until }: HistogramRequest,
): { add: (time: number, column: number) => void; beyond: () => number } {
  let beyond = 0
  const add = (time: number, column: number) => {
    let at = time
    // A clock that stepped back puts records there: better at the edge, with a note, than not counted.
    if (at < range.from && since === null) at = range.from
    if (at >= range.to && until === null) at = range.to - 1
    if (!(at >= range.from && at < range.to)) return
    if (at !== time) beyond++
    chart.buckets[Math.floor((at - chart.from) / chart.step)]!.counts[column]!++
  }
  return { add, beyond: () => beyond }
}

function empty({ since, until }: HistogramRequest, now: number): Histogram {
  const at = since ?? until ?? now
  return { from: at, to: at, step: 1, complete: true, levels: COLUMNS, buckets: [] }
}
