import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../../http/conditional.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { UnfoundCursor } from '../../log/error.ts'
import { bytesOf, piecesBody } from '../../log/render/body.ts'
import { recordsBody, renderedBody } from '../../log/render/rendered.ts'
import { MAX_RECORD } from '../../log/search/scan.ts'
import type { View } from '../../log/view/answer.ts'
import { viewIfChanged } from '../../log/view/view.ts'
import { keptQuery } from '../parameters/query-text.ts'
import type { Query } from '../parameters/read.ts'
import { readViewRequest, recordOptions } from '../parameters/view-request.ts'
import { followLog } from './follow.ts'
import { TEXT_HEADERS, VARY, wantsNdjson } from './headers.ts'
import { linkHeader } from './link.ts'
import type { QueryViewRoute } from './route.ts'

/** Any view but the plain tail: filtered, by lines, from a cursor, as records, of an archive or of joined files. */
export async function queryView(request: Request, query: Query, route: QueryViewRoute): Promise<Response> {
  const format = query.format ?? (wantsNdjson(request) ? 'ndjson' : 'text')
  const { asked, clock } = await readViewRequest(query, route, format === 'ndjson')
  const common = format === 'ndjson' ? NDJSON_HEADERS : TEXT_HEADERS
  if (query.download) {
    const { exportLog } = await import('./export.ts')
    return exportLog(request, query, route, { asked, headers: common })
  }
  if (query.follow) return followLog(request, query, route, asked)
  const noneMatch = request.headers.get('If-None-Match')
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${format} ${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(noneMatch, etag)
  }
  const view = await viewIfChanged(route, asked, isKnown, request.signal).catch(unlessUnfound)
  if (view === 'unfound') {
    // Nothing was searched yet: the same place again, for a client that has the patience.
    const { place } = asked.cursor!
    const headers = { ...common, Link: linkHeader(keptQuery(query), place, place) }
    return bytesResponse(new Uint8Array(0), { ...headers, 'X-Nodestate-Note': 'scan-budget' })
  }
  if (view === null) return notModified(etag, VARY)
  const headers: Record<string, string> = {
    ...common,
    Link: linkHeader(keptQuery(query), view.prev, view.next),
  }
  if (view.notes.length > 0) headers['X-Nodestate-Note'] = view.notes.join(', ')
  // A time budget never runs out at the same place twice, and the clock moves on.
  if (!clock && !view.notes.includes('scan-budget')) headers.ETag = etag
  // HEAD does the same work: nothing less would show that a cursor is gone or an archive is broken.
  if (request.method === 'HEAD') {
    view.memory?.release()
    return new Response(null, { headers })
  }
  if (format === 'text') return textResponse(view, headers)
  const { NdjsonWriter } = await import('../../log/render/ndjson.ts')
  const writer = new NdjsonWriter(view.format, route.zone, recordOptions(query))
  const body =
    view.pieces === null && view.from < view.to
      ? recordsBody(view, writer, MAX_RECORD)
      : renderedBody(view.pieces ?? [], writer, view.memory)
  return bytesResponse(body, headers)
}

function unlessUnfound(error: unknown): 'unfound' {
  if (error instanceof UnfoundCursor) return 'unfound'
  throw error
}

async function textResponse(view: View, headers: Record<string, string>): Promise<Response> {
  const { series, pieces, from, to } = view
  const length = pieces ? pieces.reduce((sum, piece) => sum + piece.length, 0) : to - from
  // Records that were collected have a note; without a length, the cut of a text that is streamed is visible.
  if (pieces || !series.brokenIn(from, to)) headers['Content-Length'] = String(length)
  return bytesResponse(
    pieces ? piecesBody(pieces, view.memory) : await bytesOf(series, from, to, view.memory),
    headers,
  )
}

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
