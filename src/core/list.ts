import type { Listing } from '../log/files/files.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { Queries } from './capability.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from './http/conditional.ts'
import { bad } from './http/params.ts'
import { noteHeader, respond } from './http/sliced.ts'
import type { Query } from './query.ts'

/** `GET /api/v1/log/list`: the log files, by name; with `detail=true`, what is known about each, with `etag=true` the version of each. */
export async function listLogs(
  request: Request,
  query: Query,
  context: ViewContext,
  queries: () => Promise<Queries>,
): Promise<Response> {
  if (query.detail && query.etag) throw bad('etag', 'cannot be used with detail; ask for one of them')
  if (query.prefix !== undefined && !query.etag) throw bad('prefix', 'needs etag=true')
  const { files } = context
  if (query.etag) return (await parts()).listTagged(request, query, context)
  if (query.detail) return (await queries()).listDetails(request, query)
  // On a disk, all names are read for any part of them.
  if (query.after && !files.isNear) return (await parts()).listPart(request, query.after, context)
  if (query.after) return (await parts()).streamList(request, query.after, files)
  const listing = await files.list(request.signal)
  if (listing.isLate) return (await parts()).listPart(request, { ...listing, next: listing.last! }, context)
  if (listing.isCut) return (await parts()).streamList(request, '', files)
  const { body, etag } = render(listing)
  const note = noteHeader([listing.note])
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag, note)
  const headers = { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...note, ETag: etag }
  return respond(body, headers)
}

/** Parts of long lists; their code is loaded with the first. */
const parts = () => import('./list-parts.ts')

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
