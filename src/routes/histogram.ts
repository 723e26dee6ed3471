import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad } from '../http/params.ts'
import { parseDuration } from '../log/instant.ts'
import { TooManyBuckets } from '../log/view/chart.ts'
import { histogramOf } from '../log/view/histogram.ts'
import { unexpected } from './parameters/kept.ts'
import type { Query } from './parameters/read.ts'
import { DEFAULT_BUCKETS } from './parameters/table.ts'
import { type QueryRoute, readRequest } from './request.ts'

/** `GET /api/v1/log/histogram`: how many records there are over time, by level. */
export async function showHistogram(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const { asked, clock } = await readRequest(query, route, false)
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (request.method === 'HEAD') {
    await route.files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(request.headers.get('If-None-Match'), etag)
  }
  const histogram = await histogramOf(
    route,
    {
      ...asked,
      buckets: query.buckets ?? DEFAULT_BUCKETS,
      estimate: query.estimate,
      step: stepOf(query.step),
    },
    isKnown,
    request.signal,
  ).catch((error) => {
    throw error instanceof TooManyBuckets ? bad('step', error.message) : error
  })
  if (histogram === null) return notModified(etag)
  // An answer that depends on the clock or hit a budget differs the next time.
  if (!clock && histogram.complete) headers.ETag = etag
  const { notes = [], ...chart } = histogram
  if (notes.length > 0) headers['X-Nodestate-Note'] = notes.join(', ')
  return new Response(JSON.stringify(chart), { headers })
}

/** `40s` or `40000`, in ms. */
function stepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const step = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text)
  if (step === null || step < 1 || !Number.isInteger(step)) throw unexpected('step', text)
  return step
}
