import { bad } from '../http/params.ts'
import { TooManyBuckets } from '../log/histogram/chart.ts'
import { histogramOf } from '../log/histogram/histogram.ts'
import { parseDuration } from '../log/instant.ts'
import type { Query } from './parameters/read.ts'
import { DEFAULT_BUCKETS } from './parameters/table.ts'
import { unexpected } from './parameters/unexpected.ts'
import { type QueryRoute, readViewRequest } from './parameters/view-request.ts'
import { showSummary } from './summary.ts'

/** `GET /api/v1/log/histogram`: how many records there are over time, by level. */
export async function showHistogram(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const read = await readViewRequest(query, route, false)
  return showSummary(request, read, route.files, async (isKnown) => {
    const wanted = {
      ...read.asked,
      buckets: query.buckets ?? DEFAULT_BUCKETS,
      estimate: query.estimate,
      step: stepOf(query.step),
    }
    const histogram = await histogramOf(route, wanted, isKnown, request.signal).catch(explain)
    if (histogram === null) return null
    const { notes = [], ...chart } = histogram
    return { body: chart, notes, cut: !chart.complete }
  })
}

function explain(error: unknown): never {
  throw error instanceof TooManyBuckets ? bad('step', error.message) : error
}

/** `40s` or `40000`, in ms. */
function stepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const step = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text)
  if (step === null || step < 1 || !Number.isInteger(step)) throw unexpected('step', text)
  return step
}
