import { BYTES, countFields, isWhole, RECORDS } from '../../log/fields/fields.ts'
import { mergePage } from '../../log/merge/merge.ts'
import type { Query } from '../parameters/read.ts'
import { readViewRequest } from '../parameters/view-request.ts'
import { type MergedRoute, sourceHeaders } from './route.ts'
import { showMerged } from './summary.ts'

/** `GET /api/v1/log/fields` of several logs: the fields and patterns of the newest records of their timeline. */
export async function mergedFields(request: Request, query: Query, route: MergedRoute): Promise<Response> {
  const { asked, clock } = await readViewRequest(query, route, true)
  const { sources, ...rest } = await route.pick(query, request.signal)
  const fit = { size: BYTES, lines: RECORDS }
  const cost = (bytes: Uint8Array) => ({ size: bytes.length, lines: 1 })
  const page = await mergePage(sources, { ...asked, first: false, cursor: null, fit, cost }, request.signal)
  try {
    const found = await countFields(
      page.records.map(({ bytes, format, source }) => ({
        bytes,
        reader: { format, zone: source.context.zone },
      })),
    )
    const headers = sourceHeaders({ ...rest, missing: [...rest.missing, ...page.missing] })
    const isLasting = !clock && !page.notes.includes('scan-budget')
    return showMerged(request, {
      body: { ...found, sampled: page.prev !== null, complete: isWhole(page.notes) },
      headers,
      notes: page.notes,
      isLasting,
    })
  } finally {
    page.release()
  }
}
