import { noneMatchNames, notModified, textTag } from '../../http/conditional.ts'
import { noteHeader, respond } from '../../http/sliced.ts'
import type { Clock } from '../../limits/clock.ts'
import { UnfoundCursor } from '../../log/error.ts'
import { bytesOf, piecesBody } from '../../log/render/body.ts'
import { recordsBody, renderedBody } from '../../log/render/rendered.ts'
import { MAX_RECORD } from '../../log/search/scan.ts'
import type { View } from '../../log/view/answer.ts'
import { viewIfChanged } from '../../log/view/view.ts'
import { keptQuery } from '../parameters/query-text.ts'
import type { Query } from '../parameters/read.ts'
import { readViewRequest, recordOptions } from '../parameters/view-request.ts'
import { followLog, type QueryViewRoute } from './follow.ts'
import { formatOf, linkHeader, VARY } from './headers.ts'

/** Any view but the plain tail: filtered, by lines, from a cursor, as records, of an archive or of joined files. */
export async function queryView(request: Request, query: Query, route: QueryViewRoute): Promise<Response> {
  const { isJson, common } = formatOf(request, query)
  const { asked, clock: isRelative } = await readViewRequest(query, route, isJson)
  if (query.download) {
    const { exportLog } = await import('./export.ts')
    return exportLog(request, query, route, { asked, common })
  }
  if (query.follow) return followLog(request, query, route, { asked, common })
  const noneMatch = request.headers.get('If-None-Match')
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${isJson} ${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !isRelative && noneMatchNames(noneMatch, etag)
  }
  const kept = keptQuery(query)
  const view = await viewIfChanged(route, asked, isKnown, request.signal).catch(unlessUnfound)
  if (view === 'unfound') {
    // Nothing was searched yet: the same place again, for a client that has the patience.
    const { place } = asked.cursor!
    const Link = linkHeader(kept, place, place)
    return respond(new Uint8Array(0), { ...common, Link, ...noteHeader(['scan-budget']) })
  }
  if (view === null) return notModified(etag, VARY)
  const headers: Record<string, string> = {
    ...common,
    Link: linkHeader(kept, view.prev, view.next),
    ...noteHeader(view.notes),
  }
  // A time budget never runs out at the same place twice, and the clock moves on.
  if (!isRelative && !view.notes.includes('scan-budget')) headers.ETag = etag
  // HEAD does the same work: nothing less would show that a cursor is gone or an archive is broken.
  if (request.method === 'HEAD') {
    view.memory?.release()
    return new Response(null, { headers })
  }
  if (!isJson) return textOf(view, headers, route.clock)
  const { NdjsonWriter } = await import('../../log/render/ndjson.ts')
  const writer = new NdjsonWriter(view.format, route.zone, recordOptions(query))
  const body =
    view.pieces === null && view.from < view.to
      ? recordsBody(view, writer, MAX_RECORD, route.clock)
      : renderedBody(view.pieces ?? [], writer, view.memory, route.clock)
  return respond(body, headers)
}

function unlessUnfound(error: unknown): 'unfound' {
  if (error instanceof UnfoundCursor) return 'unfound'
  throw error
}

async function textOf(view: View, headers: Record<string, string>, clock: Clock): Promise<Response> {
  const { series, pieces, from, to, memory } = view
  const length = pieces ? pieces.reduce((sum, piece) => sum + piece.length, 0) : to - from
  // Records that were collected have a note; without a length, the cut of a text that is streamed is visible.
  if (pieces || !series.brokenIn(from, to)) headers['Content-Length'] = String(length)
  const body = pieces ? piecesBody(pieces, memory, clock) : await bytesOf(series, from, to, memory)
  return respond(body, headers)
}
