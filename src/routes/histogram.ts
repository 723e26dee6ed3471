import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad, readParams } from '../http/params.ts'
import { histogramOf } from '../log/view/histogram.ts'
import { type BeyondRoute, readRequest } from './request.ts'

const DEFAULT_BUCKETS = 100
const MAX_BUCKETS = 1000

/** `GET /api/v1/log/histogram`: how many records there are over time, by level. */
export async function showHistogram(request: Request, route: BeyondRoute): Promise<Response> {
  const params = readParams(request.url)
  const file = params.text('file')
  if (!file) throw bad('file', 'is missing; give it the name of a log file from the list of logs')
  const buckets = params.integer('buckets', { min: 1, max: MAX_BUCKETS }) ?? DEFAULT_BUCKETS
  const { asked, clock } = await readRequest(params, route, file, undefined, 'text')
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (request.method === 'HEAD') {
    await route.files.stat(file, request.signal)
    return new Response(null, { headers })
  }
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(request.headers.get('If-None-Match'), etag)
  }
  const histogram = await histogramOf(route, { ...asked, buckets }, isKnown, request.signal)
  if (histogram === null) return notModified(etag)
  // An answer that depends on the clock or was cut by a budget is another one the next time.
  if (!clock && histogram.complete) headers.ETag = etag
  return new Response(JSON.stringify(histogram), { headers })
}
