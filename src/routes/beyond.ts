import { acceptedTypes } from '../http/accept.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad, type Params, show } from '../http/params.ts'
import { bytesResponse } from '../http/sliced.ts'
import { bytesOf, piecesBody } from '../log/body.ts'
import { decodeCursor } from '../log/cursor.ts'
import { type Detailer, detailer } from '../log/detail.ts'
import { LogError } from '../log/error.ts'
import { Followers } from '../log/follow.ts'
import type { FollowLimits } from '../log/hub.ts'
import { NdjsonWriter } from '../log/ndjson.ts'
import { MAX_PATTERN, type Matcher, regexMatcher, textMatcher } from '../log/pattern.ts'
import { MAX_RECORD } from '../log/query.ts'
import { LEVELS, parseLevel } from '../log/record.ts'
import { recordsBody, renderedBody } from '../log/rendered.ts'
import { parseInstant } from '../log/time.ts'
import { type View, type ViewContext, type ViewRequest, viewUnless } from '../log/view.ts'
import { showHistogram } from './histogram.ts'
import { linkHeader, queryOf } from './link.ts'
import { defaultSize, TEXT_HEADERS, TEXT_TYPE, VARY, type ViewRoute, wantsNdjson } from './view.ts'

/** What the views beyond a tail need. */
export interface BeyondRoute extends ViewContext {
  /** The largest tail that may be asked for. @default none */
  maxSize?: number | undefined
  /** Those who follow; null where the runtime can't. */
  followers: Followers | null
}

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

interface Asked {
  asked: ViewRequest
  /** The parameters that its cursors keep. */
  query: string
  /** Whether the answer depends on the clock. */
  clock: boolean
}

const MAX_CURSOR = 4500
const MAX_INSTANT = 64

/** What a request asks of a log. */
export async function readRequest(
  params: Params,
  route: BeyondRoute,
  file: string,
  size: number | undefined,
  format: 'text' | 'ndjson',
): Promise<Asked> {
  const now = route.now()
  const lines = params.integer('lines')
  const since = instantOf(params, 'since', route, now)
  const until = instantOf(params, 'until', route, now, since?.at)
  const level = levelOf(params)
  const q = params.text('q', { max: MAX_PATTERN }) || undefined
  const regex = params.text('regex', { max: MAX_PATTERN }) || undefined
  const rotated = params.flag('rotated')
  const before = params.text('before', { max: MAX_CURSOR })
  const after = params.text('after', { max: MAX_CURSOR })
  if (before !== undefined && after !== undefined)
    throw bad('before', 'was given together with after; give one of the two')
  const cursor: ViewRequest['cursor'] =
    before !== undefined
      ? { place: decodeCursor(before, 'before'), direction: 'before' }
      : after !== undefined
        ? { place: decodeCursor(after, 'after'), direction: 'after' }
        : null
  const matcher = both(q === undefined ? null : textMatcher(q), regex ? await regexMatcher(regex) : null)
  return {
    asked: {
      file,
      rotated,
      cursor,
      fit: { size: size ?? defaultSize(route.maxSize), lines: lines ?? null },
      since: since?.at ?? null,
      until: until?.at ?? null,
      level: level?.index ?? null,
      matcher,
      records: format === 'ndjson',
    },
    query: queryOf({
      file,
      size,
      lines,
      since: since?.text,
      until: until?.text,
      level: level?.text,
      q,
      regex,
      rotated: rotated ? 'true' : undefined,
      format: params.text('format') ? format : undefined,
      ansi: params.flag('ansi') ? 'true' : undefined,
    }),
    clock: since?.clock === true || until?.clock === true,
  }
}

function instantOf(params: Params, name: string, { zone }: BeyondRoute, now: number, after?: number) {
  const text = params.text(name, { max: MAX_INSTANT })
  if (!text) return null
  const at = parseInstant(text, { zone, now, after })
  if (at === null)
    throw bad(
      name,
      `is ${show(text)}; it must be a time such as 2026-11-14T02:10:00Z, 2026-11-14 02:10:00 or 02:10, or a duration back from now such as 15m or 2h`,
    )
  // Two days on, what depends on the clock is another instant.
  return { text, at, clock: parseInstant(text, { zone, now: now + 172_800_000, after }) !== at }
}

function levelOf(params: Params) {
  const text = params.text('level', { max: 64 })
  if (!text) return null
  const index = parseLevel(text)
  if (index === null) throw bad('level', `is ${show(text)}; it must be one of ${LEVELS.join(', ')}`)
  return { text, index }
}

/** Records that both want. */
function both(a: Matcher | null, b: Matcher | null): Matcher | null {
  if (a === null || b === null) return a ?? b
  const matcher: Matcher = {
    test: (bytes, from, to) => a.test(bytes, from, to) && b.test(bytes, from, to),
  }
  const find = a.find ?? b.find
  return find ? { ...matcher, find } : matcher
}

const NDJSON_HEADERS = { 'Content-Type': 'application/x-ndjson', ...COMMON_HEADERS, ...VARY } as const
