import { bad } from '../../core/http/params.ts'
import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { Followers } from '../../log/follow/followers.ts'
import { decodeCursor } from '../../log/text/cursor.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { filterKey } from '../parameters/query-text.ts'
import { followOf, type QueryRoute, recordOptions } from '../parameters/view-request.ts'

export { Followers }

export interface QueryViewRoute extends QueryRoute {
  /** Answers who follows; null if nobody can. */
  follow:
    | ((
        request: Request,
        query: Query,
        asked: { asked: ViewRequest; common: Record<string, string> },
      ) => Promise<Response>)
    | null
}

/** `follow=true`: sends the tail, stays open, and sends what is appended. */
export async function followLog(
  request: Request,
  query: Query,
  { files, followers }: QueryRoute & { followers: Followers },
  { asked, common }: { asked: ViewRequest; common: Record<string, string> },
): Promise<Response> {
  const { events, headers, lastId } = followOf(request, query, common)
  if (asked.first) throw bad('first', 'was given together with follow of one log; give lines instead')
  const last = lastId ? decodeCursor(lastId, 'Last-Event-ID') : (asked.cursor?.place ?? null)
  if (request.method === 'HEAD') {
    await files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  const frame = { events, json: asked.records, record: recordOptions(query) }
  // Followers with the same key share one rendering. A duration is a different instant for each of them.
  const { since, until } = asked.selection
  const key = JSON.stringify([frame, since, until, filterKey(query)])
  const body = await followers.follow({ view: { ...asked, cursor: null }, frame, key, last }, request.signal)
  return respond(body, headers)
}
