import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { bad } from '../http/params.ts'
import { noteHeader, respond } from '../http/sliced.ts'
import type { Listing, LogFiles } from '../log/files/files.ts'
import type { Query } from './parameters/read.ts'
import type { QueryRoutes } from './query-routes.ts'

/** `GET /api/v1/log/list`: the log files, by name; with `detail=true`, what is known about each, with `etag=true` the version of each. */
export async function listLogs(
  request: Request,
  query: Query,
  files: LogFiles,
  more: () => Promise<QueryRoutes>,
): Promise<Response> {
  if (query.detail && query.etag) throw bad('etag', 'cannot be used with detail; ask for one of them')
  if (query.prefix !== undefined && !query.etag) throw bad('prefix', 'needs etag=true')
  if (query.etag) return (await more()).listTagged(request, query)
  if (query.detail) return (await more()).listDetails(request, query)
  // On a disk, all names are read for any part of them.
  if (query.after && !files.isNear) return (await more()).listPart(request, query.after)
  if (query.after) return (await more()).streamList(request, query.after)
  const listing = await files.list(request.signal)
  if (listing.isLate) return (await more()).listPart(request, { ...listing, next: listing.last! })
  if (listing.isCut) return (await more()).streamList(request, '')
  const { body, etag } = render(listing)
  const note = noteHeader([listing.note])
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, note)
  const headers = { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...note, ETag: etag }
  return respond(body, headers)
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
