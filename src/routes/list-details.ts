import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { textResponse } from '../http/sliced.ts'
import type { Listing } from '../log/files/files.ts'
import type { Detailer } from '../log/view/detail.ts'

/** `GET /api/v1/log/list?detail=true`: the log files, with what is known about each. */
export async function listDetails(request: Request, listing: Listing, details: Detailer): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (request.method === 'HEAD') return textResponse(null, headers)
  const { files, complete } = await details(listing.entries, request.signal)
  const body = JSON.stringify(files)
  const notes = [listing.note, !complete && 'detail-incomplete'].filter(Boolean).join(', ')
  if (notes) headers['X-Nodestate-Note'] = notes
  if (!complete) return textResponse(body, headers)
  const etag = textTag(body)
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return textResponse(body, { ...headers, ETag: etag })
}
