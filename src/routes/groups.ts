import { groupsAnswer, groupsOf } from '../log/groups/count.ts'
import { groupsRequest } from './parameters/groups-request.ts'
import type { Query } from './parameters/read.ts'
import { type QueryRoute, readViewRequest } from './parameters/view-request.ts'
import { showSummary } from './summary.ts'

/** `GET /api/v1/log/groups`: records by the values of a field. */
export async function showGroups(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const wanted = groupsRequest(query)
  const read = await readViewRequest(query, route, true)
  return showSummary(request, read, route.files, async (isKnown) => {
    const found = await groupsOf(route, { ...read.asked, ...wanted }, isKnown, request.signal)
    return found && { ...groupsAnswer(found, wanted), cut: found.notes.includes('scan-budget') }
  })
}
