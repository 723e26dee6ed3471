import { acceptedTypes } from '../../http/accept.ts'
import { bad } from '../../http/params.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { LogError } from '../../log/error.ts'
import { decodeCursor } from '../../log/text/cursor.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { filterKey } from '../parameters/query-text.ts'
import type { Query } from '../parameters/read.ts'
import { recordOptions } from '../parameters/view-request.ts'
import { FOLLOW_HEADERS, TEXT_TYPE } from './headers.ts'
import type { QueryViewRoute } from './route.ts'

/** `follow=true`: sends the tail, stays open, and sends what is appended. */
export async function followLog(
  request: Request,
  query: Query,
  { files, followers }: QueryViewRoute,
  asked: ViewRequest,
): Promise<Response> {
  if (followers === null)
    throw new LogError(
      'unsupported',
      'This service cannot keep answers open; poll with the next cursor instead.',
    )
  if (asked.cursor?.direction === 'before')
    throw bad('before', 'was given together with follow; give after instead, or leave it out')
  if (asked.first) throw bad('first', 'was given together with follow of one log; give lines instead')
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
