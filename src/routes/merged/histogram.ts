import { bad } from '../../core/http/params.ts'
import type { Query } from '../../core/query.ts'
import { concurrencyLimit } from '../../kit/limits/concurrency-limit.ts'
import { each } from '../../kit/limits/each.ts'
import { LogError } from '../../log/error.ts'
import { COLUMNS, type Histogram, layOut } from '../../log/histogram/chart.ts'
import { type HistogramRequest, histogramOf, histogramRange } from '../../log/histogram/histogram.ts'
import { bySource, ELSEWHERE_AT_ONCE, type Missing, type Source } from '../../log/merge/source.ts'
import { sharingTime } from '../../log/view/context.ts'
import { StoreError } from '../../store/store.ts'
import { explain, histogramRequest } from '../parameters/histogram-request.ts'
import { filterQuery } from '../parameters/query-text.ts'
import { readViewRequest } from '../parameters/view-request.ts'
import { type MergedRoute, mergedJson, sourceHeaders } from './route.ts'

/** Which part of the time of a search may go into where the logs begin and end. */
const FOR_RANGES = 0.4
/** How many logs are counted at once here. */
const LOGS_AT_ONCE = 2

/** `GET /api/v1/log/histogram` of several logs: their records over time, by level, log or node. */
export async function mergedHistogram(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const by = (query.by ?? 'level') as 'level' | 'file' | 'node'
  const { asked, clock } = await readViewRequest(query, route, false)
  const { sources, ...rest } = await route.pick(query, request.signal)
  if (by === 'node' && sources[0]!.node === null)
    throw bad('by', 'is "node"; only a fleet has nodes, so it must be one of level, file')
  if (request.method === 'HEAD') return mergedJson(request, null, {}, false)
  const wanted = { ...histogramRequest(query, asked), rotated: true }
  const counting = countAll(sources.toSorted(bySource), wanted, { by, route, query }, request.signal)
  const { chart, missing } = await counting.catch(explain)
  const { notes = [], ...body } = chart
  const told = sourceHeaders({ ...rest, missing: [...rest.missing, ...missing] }, notes)
  return mergedJson(request, body, told, !clock && chart.complete)
}

/** The names of the columns are in `levels`, `files` or `nodes`. */
type MergedHistogram = Omit<Histogram, 'levels' | 'notes'> &
  Partial<Pick<Histogram, 'levels'>> & { notes?: string[] }

async function countAll(
  sources: readonly Source[],
  wanted: HistogramRequest,
  { by, route, query }: { by: 'level' | 'file' | 'node'; route: MergedRoute; query: Query },
  signal: AbortSignal,
): Promise<{ chart: MergedHistogram; missing: Missing[] }> {
  const missing: Missing[] = []
  const here = concurrencyLimit({ most: LOGS_AT_ONCE })
  const inTime = sharingTime(route.clock)
  const forEach = (sources: readonly Source[], work: (source: Source) => Promise<void>) =>
    each(sources, ELSEWHERE_AT_ONCE, async (source) => {
      try {
        await work(source)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof LogError || error instanceof StoreError)) throw error
        missing.push({ name: source.name, error })
      }
    })
  const counted: Source[] = []
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  let isCut = false
  await forEach(sources, async (source) => {
    const request = { ...wanted, file: source.file }
    const there = await route.readerOf?.(source)?.range(`${handedOn(query, request)}&lane=true`, signal)
    const search = () => {
      const context = inTime(source.context, FOR_RANGES)
      isCut ||= context === null
      return context && histogramRange(context, request, signal)
    }
    const range = there === undefined ? await here.run(async () => search(), signal) : there
    counted.push(source)
    if (!range) return
    from = Math.min(from, range.from)
    to = Math.max(to, range.to)
    isCut ||= range.isCut === true
  })
  if (counted.length === 0)
    throw (missing.find(({ error }) => error instanceof StoreError) ?? missing[0]!).error
  const columns = columnsOf(by, counted)
  if (from >= to) {
    const at = wanted.selection.since ?? wanted.selection.until ?? route.clock.now()
    return { chart: { from: at, to: at, step: 1, complete: !isCut, ...columns.named, buckets: [] }, missing }
  }
  const { levels: _, buckets, ...plan } = layOut({ from, to }, wanted, route.zone)
  const sums = buckets.map(({ time }) => ({ time, counts: columns.names.map(() => 0) }))
  const chart: MergedHistogram = { ...plan, complete: !isCut, ...columns.named, buckets: sums }
  const notes = new Set<string>()
  const planned = { ...wanted, step: plan.step, origin: plan.from, range: { from, to } }
  await forEach(counted, async (source) => {
    const request = { ...planned, file: source.file }
    const there = await route.readerOf?.(source)?.count(handedOn(query, request), signal)
    const count = async () => {
      const context = inTime(source.context)
      return context && histogramOf(context, request, () => false, signal)
    }
    const found = there ?? (await here.run(count, signal))
    if (found === null) {
      chart.complete = false
      return
    }
    for (const note of found.notes ?? []) notes.add(note)
    chart.complete &&= found.complete
    for (const { time, counts } of found.buckets)
      counts.forEach((count, level) => {
        // A log that grew meanwhile has records beyond the chart: as here, they count at its edge.
        const at = Math.min(Math.max(0, Math.round((time - plan.from) / plan.step)), sums.length - 1)
        sums[at]!.counts[columns.of(source, level)]! += count
      })
  })
  if (missing.length === sources.length) throw missing[0]!.error
  return { chart: { ...chart, notes: [...notes] }, missing }
}

/** The same request for one log, to be counted on its own node. */
function handedOn(query: Query, { file, selection, step, origin }: HistogramRequest): string {
  const { since, until } = selection
  const filters = filterQuery(query)
  return [
    `file=${encodeURIComponent(file)}&rotated=true`,
    ...(step === undefined ? [] : [`step=${step}`]),
    ...(origin === undefined ? [] : [`origin=${origin}`]),
    ...(since === null ? [] : [`since=${new Date(since).toISOString()}`]),
    ...(until === null ? [] : [`until=${new Date(until).toISOString()}`]),
    ...(filters === '' ? [] : [filters]),
  ].join('&')
}

/** The columns of a chart, and which of them a record counts in. */
function columnsOf(by: 'level' | 'file' | 'node', sources: readonly Source[]) {
  if (by === 'level')
    return { names: COLUMNS, named: { levels: COLUMNS }, of: (_source: Source, level: number) => level }
  const nameOf = (source: Source) => (by === 'file' ? source.file : source.node!)
  const names = [...new Set(sources.toSorted(bySource).map(nameOf))].sort()
  const named = by === 'file' ? { files: names } : { nodes: names }
  return { names, named, of: (source: Source) => names.indexOf(nameOf(source)) }
}
