import { COMMON_HEADERS, jsonResponse, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { noteHeader, respond } from '../http/sliced.ts'
import type { LogFiles, Part } from '../log/files/files.ts'
import { textBody } from '../log/render/body.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { Detailer } from '../log/view/detail.ts'
import { SlicedStream } from '../store/fast.ts'
import type { Entry } from '../store/store.ts'
import type { Query } from './parameters/read.ts'

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

/** Long lists hold memory until they are sent. */
function listed(body: string, { memory, clock }: ListRoute, headers: Record<string, string>): Response {
  const sent = textBody(body, memory, clock)
  return respond(sent, { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...headers })
}

/** What lists are made of. */
export type ListRoute = Pick<ViewContext, 'files' | 'memory' | 'clock'>

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
