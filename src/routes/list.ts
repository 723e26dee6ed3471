import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bytesResponse, textResponse } from '../http/sliced.ts'
import type { Listing, LogFiles } from '../log/files/files.ts'
import type { Detailer } from '../log/view/detail.ts'
import type { Query } from './parameters/read.ts'

/** What the log list needs. */
export interface LogRoutes {
  files: LogFiles
  details: Detailer
}

/** `GET /api/v1/log/list`: the log files, by name; with `detail=true`, what is known about each. */
export async function listLogs(
  request: Request,
  query: Query,
  { files, details }: LogRoutes,
): Promise<Response> {
  const listing = await files.list(request.signal)
  if (query.detail) return listDetails(request, listing, details)
  const { body, etag } = render(listing)
  const note: Record<string, string> = listing.note ? { 'X-Nodestate-Note': listing.note } : {}
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, note)
  const headers = { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...note, ETag: etag }
  return bytesResponse(body, headers)
}

/** A cached listing is rendered once, as bytes: Node sends the list of 10,000 files six times as fast as a string. */
const rendered = new WeakMap<Listing, { body: Uint8Array<ArrayBuffer>; etag: string }>()

function render(listing: Listing): { body: Uint8Array<ArrayBuffer>; etag: string } {
  const known = rendered.get(listing)
  if (known) return known
  const text = JSON.stringify(listing.entries.map(({ key, size }) => ({ name: key, size })))
  const answer = { body: new TextEncoder().encode(text), etag: textTag(text) }
  rendered.set(listing, answer)
  return answer
}

async function listDetails(request: Request, listing: Listing, details: Detailer): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (request.method === 'HEAD') return textResponse(null, headers)
  const { files, complete } = await details(listing.entries, request.signal)
  const body = JSON.stringify(files)
  if (!complete) return textResponse(body, { ...headers, 'X-Nodestate-Note': 'detail-incomplete' })
  const etag = textTag(body)
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return textResponse(body, { ...headers, ETag: etag })
}
