import type { Query } from '../../core/query.ts'
import { BYTES, countFields, isWhole, RECORDS } from '../../log/fields/fields.ts'
import { mergePage } from '../../log/merge/merge.ts'
import { handedQuery } from '../parameters/query-text.ts'
import { readViewRequest } from '../parameters/view-request.ts'
import { elsewhere, type MergedRoute, mergedJson, readable, sourceHeaders } from './route.ts'

/** `GET /api/v1/log/fields` of several logs: the fields and patterns of the newest records of their timeline. */
export async function mergedFields(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const { asked, clock } = await readViewRequest(query, route, true)
  const { sources, ...rest } = await route.pick(query, request.signal)
  const fit = { size: BYTES, lines: RECORDS }
  const others = elsewhere(route, handedQuery(query, asked.selection))
  const wanted = { ...asked, first: false, cursor: null, fit, elsewhere: others }
  const page = await mergePage(sources, wanted, request.signal)
  try {
    const found = await countFields(page.records.map(readable))
    const missing = [...rest.missing, ...page.missing]
    const headers = sourceHeaders({ ...rest, missing }, page.notes)
    const body = { ...found, sampled: page.prev !== null, complete: isWhole(page.notes) }
    return mergedJson(request, body, headers, !clock && !page.notes.includes('scan-budget'))
  } finally {
    page.release()
  }
}
