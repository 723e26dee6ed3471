import type { Query } from '../core/query.ts'
import { fieldsOf } from '../log/fields/fields.ts'
import { type QueryRoute, readViewRequest } from './parameters/view-request.ts'
import { showSummary } from './summary.ts'

/** `GET /api/v1/log/fields`: the fields of the newest records with their values, and the patterns of their messages. */
export async function showFields(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const read = await readViewRequest(query, route, true)
  return showSummary(request, read, route.files, async (isKnown) => {
    const found = await fieldsOf(route, read.asked, isKnown, request.signal)
    return found && { body: found.fields, notes: found.notes, cut: found.notes.includes('scan-budget') }
  })
}
