import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../../http/conditional.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { encodeMerged } from '../../log/merge/cursor.ts'
import { type MergedPage, mergePage } from '../../log/merge/merge.ts'
import { mergedBody, ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import { shortName } from '../../log/merge/source.ts'
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
  const after = `after=${encodeMerged(next, sources)}`
  const before = prev && `before=${encodeMerged(prev, sources)}`
  const written = (kept: string) => {
    const onward = `<?${kept}&${after}>; rel="next"`
    return before ? `<?${kept}&${before}>; rel="prev", ${onward}` : onward
  }
  const links = written(keptQuery(query))
  return links.length <= MOST_LINKS || !query.files ? links : written(keptQuery(shortened(query, sources)))
}

/** Proxies refuse heads of more than 4 KiB. */
const MOST_LINKS = 4000

/** The same request with short names for its logs. */
function shortened(query: Query, sources: Sources['sources']): Query {
  const files = query.files?.map((file) => {
    const source = sources.find((each) => each.files.includes(file))
    return source ? shortName(source) : file
  })
  return { ...query, files }
}

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
