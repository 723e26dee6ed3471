import { jsonResponse } from '../core/http/conditional.ts'
import { bad } from '../core/http/params.ts'
import type { Query } from '../core/query.ts'
import { histogramOf, histogramRange } from '../log/histogram/histogram.ts'
import { explain, histogramRequest } from './parameters/histogram-request.ts'
import { type QueryRoute, readViewRequest } from './parameters/view-request.ts'
import { showSummary } from './summary.ts'

/** `GET /api/v1/log/histogram`: how many records there are over time, by level. */
export async function showHistogram(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const read = await readViewRequest(query, route, false)
  if (query.lane) {
    if (query.files) throw bad('lane', 'was given with several logs; name one of them')
    const range = await histogramRange(route, histogramRequest(query, read.asked), request.signal)
    return jsonResponse(request, JSON.stringify({ range }), null)
  }
  return showSummary(request, read, route.files, async (isKnown) => {
    const wanted = histogramRequest(query, read.asked)
    const histogram = await histogramOf(route, wanted, isKnown, request.signal).catch(explain)
    if (histogram === null) return null
    const { notes = [], ...chart } = histogram
    // The chart of an empty log begins and ends now, so the next one is another.
    return { body: chart, notes, cut: !chart.complete || chart.buckets.length === 0 }
  })
}
