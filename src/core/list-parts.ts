import type { TaggedLogFile } from '../kit/answers.ts'
import type { LogFiles, Part } from '../log/files/files.ts'
import { textBody } from '../log/render/body.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { Detailer } from '../log/view/detail.ts'
import { SlicedStream } from '../store/fast.ts'
import { byCodePoint, type Entry } from '../store/store.ts'
import { COMMON_HEADERS, jsonResponse, noneMatchNames, notModified, textTag } from './http/conditional.ts'
import { noteHeader, respond } from './http/sliced.ts'
import type { Query } from './query.ts'

/** How many files an answer has that is a part of a list. */
const MOST_AT_ONCE = 10_000
/** Characters of a list that are sent at a time. */
const PIECE = 32 * 1024

/** `GET /api/v1/log/list?detail=true`: the log files, with what is known about each; `Link` leads to the next ones. */
export async function listDetails(
  request: Request,
  { after = '' }: Query,
  route: ListRoute,
  details: Detailer,
): Promise<Response> {
  const { signal } = request
  if (request.method === 'HEAD') {
    await route.files.list(signal)
    return jsonResponse(request, '', null)
  }
  const { entries, next, note } = await route.files.part(after, MOST_AT_ONCE, signal)
  const found = await details(entries, signal)
  const body = JSON.stringify(found.files)
  const more = onward({ next, note }, '?detail=true&', !found.complete)
  const etag = found.complete ? textTag(body) : null
  if (etag !== null && noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return listed(body, route, { ...more, ...(etag && { ETag: etag }) })
}

/** How many files an answer with tags has. */
const MOST_TAGGED = 2000

/**
 * `GET /api/v1/log/list?etag=true`: the log files as the store has them now, with the version of each; no file is read.
 * `X-Nodestate-Zone` is the zone of times that do not name one: what reads the files elsewhere must know it.
 */
export async function listTagged(request: Request, query: Query, route: ListRoute): Promise<Response> {
  const { after = '', prefix = '' } = query
  const { entries, next, note } = await tagged(route.files, { after, prefix }, request.signal)
  const body = JSON.stringify(entries.map(taggedEntry))
  const kept = prefix === '' ? '' : `prefix=${encodeURIComponent(prefix)}&`
  const headers = { ...onward({ next, note }, `?etag=true&${kept}`), 'X-Nodestate-Zone': route.zone.name }
  return jsonResponse(request, body, textTag(body), headers)
}

async function tagged(
  files: LogFiles,
  { after, prefix }: { after: string; prefix: string },
  signal: AbortSignal,
): Promise<Part> {
  const isWanted = ({ key }: Entry) => key.startsWith(prefix) && (after === '' || byCodePoint(key, after) > 0)
  // What a bucket lists, or what is joined, may be a second old.
  if (!files.isNear || files.joined) {
    const part = await files.part(after, MOST_TAGGED, signal)
    return { ...part, entries: part.entries.filter(isWanted) }
  }
  const found = (await files.startingWith(prefix, signal)).filter(isWanted)
  const entries = found.slice(0, MOST_TAGGED)
  return { entries, next: found.length > MOST_TAGGED ? entries.at(-1)!.key : null }
}

/** An entry of a list with `etag=true`. */
export function taggedEntry({ key, size, modified, etag, id, appendOnly, joined }: Entry): TaggedLogFile {
  return {
    name: key,
    size,
    modified: new Date(modified).toISOString(),
    etag,
    ...(id !== undefined && !appendOnly && { id }),
    ...(joined && { joined }),
  }
}

/** Long lists hold memory until they are sent. */
function listed(body: string, { memory, clock }: ListRoute, headers: Record<string, string>): Response {
  const sent = textBody(body, memory, clock)
  return respond(sent, { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...headers })
}

/** What lists are made of. */
export type ListRoute = Pick<ViewContext, 'files' | 'memory' | 'clock' | 'zone'>

/** The headers that say what is missing in a list, and where it goes on. */
function onward(
  { next, note }: { next: string | null; note: string | undefined },
  query: string,
  isIncomplete = false,
) {
  const headers = noteHeader([note, next !== null && 'list-cut', isIncomplete && 'detail-incomplete'])
  if (next !== null) headers.Link = `<${query}after=${encodeURIComponent(next)}>; rel="next"`
  return headers
}

/** A part of the plain list of a store that takes long, the first or the one after a name: `Link` leads to the next. */
export async function listPart(request: Request, from: Part | string, route: ListRoute): Promise<Response> {
  const part = typeof from === 'string' ? route.files.part(from, MOST_AT_ONCE, request.signal) : from
  const { entries, next, note } = await part
  const body = JSON.stringify(entries.map(({ key, size }) => ({ name: key, size })))
  return listed(body, route, onward({ next, note }, '?'))
}

/** The plain list, read as fast as the client takes it: it is never cut, and takes the memory of its names. */
export function streamList(request: Request, after: string, files: LogFiles): Response {
  if (request.method === 'HEAD') return jsonResponse(request, '', null)
  const pieces = written(files.each(after, request.signal))
  const body = new SlicedStream({
    next: async () => (await pieces.next()).value ?? null,
    release() {},
    cancel: () => void pieces.return(undefined),
  })
  return respond(body, { 'Content-Type': 'application/json', ...COMMON_HEADERS })
}

async function* written(entries: AsyncIterable<Entry>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder()
  let text = '['
  let comma = ''
  for await (const { key, size } of entries) {
    text += `${comma}${JSON.stringify({ name: key, size })}`
    comma = ','
    if (text.length < PIECE) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}]`)
}
