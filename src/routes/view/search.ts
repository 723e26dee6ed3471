import { noneMatchNames, notModified, textTag } from '../../core/http/conditional.ts'
import { noteHeader, respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { formatOf, linkHeader, VARY } from '../../core/view-headers.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { UnfoundCursor } from '../../log/error.ts'
import { bytesOf, piecesBody } from '../../log/render/body.ts'
import { type Renderer, recordsBody, renderedBody } from '../../log/render/rendered.ts'
import { MAX_RECORD } from '../../log/search/records.ts'
import type { Zone } from '../../log/time.ts'
import type { View } from '../../log/view/answer.ts'
import { viewIfChanged } from '../../log/view/view.ts'
import { keptQuery } from '../parameters/query-text.ts'
import { cannotFollow, readViewRequest, recordOptions } from '../parameters/view-request.ts'
import type { QueryViewRoute } from './follow.ts'
import { tableOf } from './table.ts'

/** Any view but the plain tail: filtered, by lines, from a cursor, as records, of an archive or of joined files. */
export async function queryView(request: Request, query: Query, route: QueryViewRoute): Promise<Response> {
  const { format, common } = formatOf(request, query)
  const table = format === 'csv' ? await tableOf(query) : null
  const { asked, clock: isRelative } = await readViewRequest(query, route, format !== 'text')
  if (query.download) {
    const { exportLog } = await import('./export.ts')
    return exportLog(request, query, route, { asked, common, format, table })
  }
  if (query.follow) {
    if (route.follow === null) throw cannotFollow()
    return route.follow(request, query, { asked, common })
  }
  const noneMatch = request.headers.get('If-None-Match')
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${format} ${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !isRelative && noneMatchNames(noneMatch, etag)
  }
  const kept = keptQuery(query)
  const view = await viewIfChanged(route, asked, isKnown, request.signal).catch(unlessUnfound)
  if (view === 'unfound') {
    // Nothing was searched yet: the same place again, for a client that has the patience.
    const { place } = asked.cursor!
    const Link = linkHeader(kept, place, place)
    return respond(table?.head ?? new Uint8Array(0), { ...common, Link, ...noteHeader(['scan-budget']) })
  }
  if (view === null) return notModified(etag, VARY)
  const lacks = table && request.method === 'GET' && (await table.lacks(await sampleOf(view, route.zone)))
  const headers: Record<string, string> = {
    ...common,
    Link: linkHeader(kept, view.prev, view.next),
    ...noteHeader([...view.notes, lacks && 'unknown-field']),
  }
  // A time budget never runs out at the same place twice, and the clock moves on.
  if (!isRelative && !view.notes.includes('scan-budget')) headers.ETag = etag
  // HEAD does the same work: nothing less would show that a cursor is gone or an archive is broken.
  if (request.method === 'HEAD') {
    view.memory?.release()
    return new Response(null, { headers })
  }
  if (view.distances) return (await import('./context.ts')).contextOf(view, headers, format, { query, route })
  if (format === 'text') return textOf(view, headers, route.clock)
  const writer = table?.writer(view.format, route.zone) ?? (await ndjsonWriter(query, view, route.zone))
  const body =
    view.pieces === null && view.from < view.to
      ? recordsBody(view, writer, MAX_RECORD, route.clock)
      : renderedBody(view.pieces ?? [], writer, view.memory, route.clock)
  return respond(body, headers)
}

async function ndjsonWriter(query: Query, { format }: View, zone: Zone): Promise<Renderer> {
  const { NdjsonWriter } = await import('../../log/render/ndjson.ts')
  return new NdjsonWriter(format, zone, recordOptions(query))
}

/** How much is read ahead of a page that is read while it is sent, to learn which fields its records have. */
const SAMPLE = 256 * 1024

/** The records of a page, or the first of them. */
async function sampleOf({ series, format, pieces, from, to }: View, zone: Zone) {
  const sample = pieces ?? (from < to ? [await series.read(from, Math.min(to, from + SAMPLE))] : [])
  return sample.map((bytes) => ({ bytes, reader: { format, zone } }))
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
