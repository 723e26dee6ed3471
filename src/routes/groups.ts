import { bad } from '../core/http/params.ts'
import { respond } from '../core/http/sliced.ts'
import type { Query } from '../core/query.ts'
import { TEXT_HEADERS } from '../core/view-headers.ts'
import { groupsAnswer, groupsOf, groupsText } from '../log/groups/count.ts'
import { groupsRequest } from './parameters/groups-request.ts'
import { type QueryRoute, readViewRequest } from './parameters/view-request.ts'
import { showSummary } from './summary.ts'

/** `GET /api/v1/log/groups`: records by the values of a field. */
export async function showGroups(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const wanted = groupsRequest(query)
  const read = await readViewRequest(query, route, true)
  if (query.lane) {
    if (query.files) throw bad('lane', 'was given with several logs; name one of them')
    const counted = (await groupsOf(route, { ...read.asked, ...wanted }, () => false, request.signal))!
    return respond(groupsText(counted), { ...TEXT_HEADERS, 'Content-Type': 'application/octet-stream' })
  }
  return showSummary(request, read, route.files, async (isKnown) => {
    const found = await groupsOf(route, { ...read.asked, ...wanted }, isKnown, request.signal)
    return found && { ...groupsAnswer(found, wanted), cut: found.notes.includes('scan-budget') }
  })
}
