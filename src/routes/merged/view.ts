import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../../http/conditional.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { encodeMerged } from '../../log/merge/cursor.ts'
import { type MergedPage, mergePage } from '../../log/merge/merge.ts'
import { mergedBody, ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import { keptQuery } from '../parameters/query-text.ts'
import type { Query } from '../parameters/read.ts'
import { readViewRequest, recordOptions } from '../parameters/view-request.ts'
import { TEXT_HEADERS, VARY, wantsNdjson } from '../view/headers.ts'
import { allMissing, type MergedRoute, mergedCursor, type Sources, sourceHeaders } from './route.ts'

/** `GET /api/v1/log/view` of several logs: a page of their timeline. */
export async function mergedView(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const isJson = (query.format ?? (wantsNdjson(request) ? 'ndjson' : 'text')) === 'ndjson'
  const { asked, clock } = await readViewRequest(
    { ...query, before: undefined, after: undefined },
    route,
    isJson,
  )
  const common = isJson ? NDJSON_HEADERS : TEXT_HEADERS
  if (query.download) {
    const { exportLogs } = await import('./export.ts')
    return exportLogs(request, query, route, { asked, headers: common })
  }
  if (query.follow) {
    const { followLogs } = await import('./follow.ts')
    return followLogs(request, query, route, asked)
  }
  const writer = isJson ? ndjsonWriter(recordOptions(query)) : textWriter()
  const { sources, ...rest } = await route.pick(query, request.signal)
  const cursor = mergedCursor(query, sources)
  const page = await mergePage(
    sources,
    { ...asked, cursor, unlisted: rest.unlisted, cost: writer.cost },
    request.signal,
  )
  const missing = allMissing(query, rest.missing, page.missing)
  const headers: Record<string, string> = {
    ...common,
    ...sourceHeaders({ ...rest, missing }),
    Link: linksOf(query, page, sources),
  }
  if (page.notes.length > 0) headers['X-Nodestate-Note'] = page.notes.join(', ')
  const { search } = new URL(request.url)
  const etag = textTag(`${isJson} ${page.state}\n${headers['X-Nodestate-Missing'] ?? ''}\n${search}`)
  const isLasting = !clock && !page.notes.includes('scan-budget')
  if (isLasting) headers.ETag = etag
  if (isLasting && noneMatchNames(request.headers.get('If-None-Match'), etag)) {
    page.release()
    // A cache takes them over: they change while the records stay as they are.
    return notModified(etag, { ...VARY, ...sourceHeaders({ ...rest, missing }) })
  }
  if (request.method === 'HEAD') {
    page.release()
    return new Response(null, { headers })
  }
  return bytesResponse(mergedBody(page.records, writer, page.release), headers)
}

/** The Link header: relative references that repeat the request. */
function linksOf(query: Query, { prev, next }: MergedPage, sources: Sources['sources']): string {
  const kept = keptQuery(query)
  const after = `<?${kept}&after=${encodeMerged(next, sources)}>; rel="next"`
  return prev === null ? after : `<?${kept}&before=${encodeMerged(prev, sources)}>; rel="prev", ${after}`
}

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
