import { acceptedTypes } from '../http/accept.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad } from '../http/params.ts'
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
import { filterKey, keptQuery } from './parameters/kept.ts'
import type { Query } from './parameters/read.ts'
import { type QueryRoute, readRequest } from './request.ts'
import { TEXT_HEADERS, TEXT_TYPE, VARY, type ViewRoute, wantsNdjson } from './view.ts'

/** Every route that needs more than a list and a plain tail. It is most of the code, so it is loaded when needed. */
export interface QueryRoutes {
  view: ViewRoute['queryView']
  histogram(request: Request, query: Query): Promise<Response>
  fields(request: Request, query: Query): Promise<Response>
  details: Detailer
}

interface QueryOptions {
  maxSize: number | undefined
  /** Null if following is off. */
  following: FollowLimits | null
  /** The current number of followers, counted together for all that share the limit. */
  count: { following: number }
}

/** Creates them for the logs in `context`. */
export function loadQueryRoutes(
  context: ViewContext,
  { maxSize, following, count }: QueryOptions,
): QueryRoutes {
  const followers = following && new Followers(context, following, count)
  const route: QueryRoute = { ...context, maxSize, followers }
  return {
    view: (request, query) => queryView(request, query, route),
    histogram: (request, query) => showHistogram(request, query, route),
    // Loaded when the first panel of fields opens.
    fields: async (request, query) => (await import('./fields.ts')).showFields(request, query, route),
    details: detailer(context),
  }
}

async function queryView(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const format = query.format ?? (wantsNdjson(request) ? 'ndjson' : 'text')
  const { asked, clock } = await readRequest(query, route, format === 'ndjson')
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
  const view = await viewUnless(route, asked, isKnown, request.signal)
  if (view === null) return notModified(etag, VARY)
  const headers: Record<string, string> = {
    ...common,
    Link: linkHeader(keptQuery(query), view.prev, view.next),
  }
  if (view.notes.length > 0) headers['X-Nodestate-Note'] = view.notes.join(', ')
  // A time budget never runs out at the same place twice, and the clock moves on.
  if (!clock && !view.notes.includes('scan-budget')) headers.ETag = etag
  // HEAD does the same work: only that shows that a cursor is gone or an archive is broken.
  if (request.method === 'HEAD') {
    view.memory?.release()
    return new Response(null, { headers })
  }
  if (format === 'text') return textResponse(view, headers)
  const writer = new NdjsonWriter(view.format, route.zone, recordOptions(query))
  const body =
    view.pieces === null && view.from < view.to
      ? recordsBody(view, writer, MAX_RECORD)
      : renderedBody(view.pieces ?? [], view.series.broken(), writer, view.memory)
  return bytesResponse(body, headers)
}

const recordOptions = ({ ansi = false, raw = false }: Query) => ({ colours: ansi, raw })

/** Sends the tail, stays open, and sends what is appended. */
async function followLog(
  request: Request,
  query: Query,
  { files, followers }: QueryRoute,
  asked: ViewRequest,
): Promise<Response> {
  if (followers === null)
    throw new LogError(
      'unsupported',
      'This service cannot keep answers open; poll with the next cursor instead.',
    )
  if (asked.cursor?.direction === 'before')
    throw bad('before', 'was given together with follow; give after instead, or leave it out')
  const events = acceptedTypes(request.headers.get('Accept')).has('text/event-stream')
  const lastId = request.headers.get('Last-Event-ID')
  const last = lastId ? decodeCursor(lastId, 'Last-Event-ID') : (asked.cursor?.place ?? null)
  const type = events ? 'text/event-stream' : asked.records ? 'application/x-ndjson' : TEXT_TYPE
  const headers = { ...FOLLOW_HEADERS, 'Content-Type': type, ETag: `W/"follow-${crypto.randomUUID()}"` }
  if (request.method === 'HEAD') {
    await files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  const frame = { events, json: asked.records, record: recordOptions(query) }
  // Followers with the same key share one rendering. A duration is a different instant for each of them.
  const key = JSON.stringify([frame, asked.since, asked.until, filterKey(query)])
  const body = await followers.follow({ view: { ...asked, cursor: null }, frame, key, last }, request.signal)
  return bytesResponse(body, headers)
}

async function textResponse(view: View, headers: Record<string, string>): Promise<Response> {
  const { series, pieces, from, to } = view
  const broken = series.broken()
  const length = pieces ? pieces.reduce((sum, piece) => sum + piece.length, 0) : to - from
  // Without a length, the cut at the end of a broken archive is visible.
  if (!broken) headers['Content-Length'] = String(length)
  return bytesResponse(
    pieces ? piecesBody(pieces, broken, view.memory) : await bytesOf(series, from, to),
    headers,
  )
}

/**
 * Proxies and middleware must pass a follow on as it comes. nginx buffers unless told otherwise; `no-transform` stops a
 * compressor that would hold back short writes, such as hono/compress; and a follow has a unique ETag, because
 * hono/etag reads an answer without one to its end, which never comes.
 */
const FOLLOW_HEADERS = {
  ...COMMON_HEADERS,
  ...VARY,
  'Cache-Control': `${COMMON_HEADERS['Cache-Control']}, no-transform`,
  'X-Accel-Buffering': 'no',
} as const

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
