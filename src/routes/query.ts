import { acceptedTypes } from '../http/accept.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad, type Params } from '../http/params.ts'
import { bytesResponse } from '../http/sliced.ts'
import { LogError } from '../log/error.ts'
import { Followers } from '../log/follow/follow.ts'
import type { FollowLimits } from '../log/follow/hub.ts'
import { bytesOf, piecesBody } from '../log/render/body.ts'
import { NdjsonWriter } from '../log/render/ndjson.ts'
import { recordsBody, renderedBody } from '../log/render/rendered.ts'
import { MAX_RECORD } from '../log/search/scan.ts'
import { decodeCursor } from '../log/text/cursor.ts'
import { type Detailer, detailer } from '../log/view/detail.ts'
import { type View, type ViewContext, type ViewRequest, viewUnless } from '../log/view/view.ts'
import { showHistogram } from './histogram.ts'
import { linkHeader } from './link.ts'
import { type BeyondRoute, readRequest } from './request.ts'
import { TEXT_HEADERS, TEXT_TYPE, VARY, type ViewRoute, wantsNdjson } from './view.ts'

/** All that asks for more than a list and a tail. It is most of the code, so it is loaded when it is needed. */
export interface Beyond {
  view: ViewRoute['beyond']
  histogram(request: Request): Promise<Response>
  details: Detailer
}

/** Opens it on the logs that `context` names. */
export function openBeyond(
  context: ViewContext,
  maxSize: number | undefined,
  following: FollowLimits | null,
): Beyond {
  const followers = following && new Followers(context, following)
  const route: BeyondRoute = { ...context, maxSize, followers }
  return {
    view: (request, params, file, size) => viewBeyond(request, route, params, file, size),
    histogram: (request) => showHistogram(request, route),
    details: detailer(context),
  }
}

async function viewBeyond(
  request: Request,
  route: BeyondRoute,
  params: Params,
  file: string,
  size: number | undefined,
): Promise<Response> {
  const format = params.choice('format', ['text', 'ndjson']) ?? (wantsNdjson(request) ? 'ndjson' : 'text')
  const { asked, query, clock } = await readRequest(params, route, file, size, format)
  const common = format === 'ndjson' ? NDJSON_HEADERS : TEXT_HEADERS
  const colours = params.flag('ansi')
  if (params.flag('follow')) return followLog(request, route, asked, format, colours)
  const noneMatch = request.headers.get('If-None-Match')
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${format} ${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(noneMatch, etag)
  }
  const view = await viewUnless(route, asked, isKnown, request.signal)
  if (view === null) return notModified(etag, VARY)
  const headers: Record<string, string> = { ...common, Link: linkHeader(query, view.prev, view.next) }
  if (view.notes.length > 0) headers['X-Nodestate-Note'] = view.notes.join(', ')
  // A budget of time does not cut twice at the same place, and a clock moves on.
  if (!clock && !view.notes.includes('scan-budget')) headers.ETag = etag
  // HEAD tells what GET would: that a cursor is gone or an archive is none can't be known for less.
  if (request.method === 'HEAD') return new Response(null, { headers })
  if (format === 'text') return textResponse(view, headers)
  const writer = new NdjsonWriter(view.format, route.zone, colours)
  const body =
    view.pieces === null && view.from < view.to
      ? recordsBody(view.series, view.from, view.to, view.format, writer, MAX_RECORD)
      : renderedBody(view.pieces ?? [], view.series.broken(), writer)
  return bytesResponse(body, headers)
}

/** Sends the tail, stays open, and sends what is appended. */
async function followLog(
  request: Request,
  { files, followers }: BeyondRoute,
  asked: ViewRequest,
  format: 'text' | 'ndjson',
  colours: boolean,
): Promise<Response> {
  if (followers === null)
    throw new LogError(
      'unsupported',
      'This service cannot keep answers open; ask again with the next cursor instead.',
    )
  if (asked.cursor?.direction === 'before')
    throw bad('before', 'was given together with follow; give after, or leave it out')
  const events = acceptedTypes(request.headers.get('Accept')).has('text/event-stream')
  const lastId = request.headers.get('Last-Event-ID')
  const last = lastId ? decodeCursor(lastId, 'Last-Event-ID') : (asked.cursor?.place ?? null)
  const type = events ? 'text/event-stream' : format === 'ndjson' ? 'application/x-ndjson' : TEXT_TYPE
  // A proxy that collects answers before it passes them on would keep a quiet log to itself.
  const headers = { ...COMMON_HEADERS, ...VARY, 'Content-Type': type, 'X-Accel-Buffering': 'no' }
  if (request.method === 'HEAD') {
    await files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  const frame = { events, json: format === 'ndjson', colours }
  const { since, until, level } = asked
  const { searchParams } = new URL(request.url)
  const key = JSON.stringify([frame, since, until, level, searchParams.get('q'), searchParams.get('regex')])
  const body = await followers.follow({ view: { ...asked, cursor: null }, frame, key, last }, request.signal)
  return bytesResponse(body, headers)
}

async function textResponse(view: View, headers: Record<string, string>): Promise<Response> {
  const { series, pieces, from, to } = view
  const broken = series.broken()
  const length = pieces ? pieces.reduce((sum, piece) => sum + piece.length, 0) : to - from
  // Without a length, the cut at the end of a broken archive shows.
  if (!broken) headers['Content-Length'] = String(length)
  return bytesResponse(pieces ? piecesBody(pieces, broken) : await bytesOf(series, from, to), headers)
}

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
