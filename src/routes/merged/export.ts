import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { ENDINGS, type Format } from '../../core/view-headers.ts'
import { MergedExport } from '../../log/merge/export.ts'
import type { Elsewhere } from '../../log/merge/reader.ts'
import { type MergedWriter, mergedStream } from '../../log/merge/render.ts'
import { IN_SLOT, type Source } from '../../log/merge/source.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { exportHeaders } from '../view/export.ts'
import type { Table } from '../view/table.ts'
import { type MergedRoute, readable, sourceHeaders } from './route.ts'

/** A request for several logs, as it was read. */
export interface MergedRequest {
  asked: ViewRequest
  common: Record<string, string>
  writer: MergedWriter
}

interface ExportRequest extends MergedRequest {
  format: Format
  table: Table | null
  others: Elsewhere | undefined
}

/** `download=true` of several logs: the filtered timeline as a file, oldest record first, to the end of the logs. */
export async function exportLogs(
  request: Request,
  query: Query,
  route: MergedRoute,
  { asked, common, writer, format, table, others }: ExportRequest,
): Promise<Response> {
  const own = exportHeaders(query, `timeline.${ENDINGS[format]}`, common)
  const { sources, ...rest } = await route.pick(query, request.signal)
  // Nothing is read: a client that asks HEAD first, as ClickHouse does, would pay for the beginning twice.
  if (request.method === 'HEAD') return new Response(null, { headers: { ...own, ...sourceHeaders(rest) } })
  const leave = await sources[0]!.context.scans.enter(request.signal, 'long')
  const wanted = { ...asked, cost: writer.cost, elsewhere: others }
  const merged = new MergedExport(sources.map(inSlot), wanted, request.signal)
  const end = () => {
    merged.release()
    leave()
  }
  request.signal.addEventListener('abort', end, { once: true })
  await merged.open().catch((error) => {
    end()
    throw error
  })
  const lacks = table && (await table.lacks(merged.records.map(readable)))
  const missing = [...rest.missing, ...merged.missing]
  const notes = [...merged.notes, lacks && 'unknown-field']
  const headers = { ...own, ...sourceHeaders({ ...rest, missing }, notes) }
  return respond(mergedStream(merged.pages(), writer, end), headers)
}

/** An export has no budget of bytes and time, and a slot of its own for all of its pages. */
function inSlot(source: Source): Source {
  const { archives: _, ...context } = source.context
  const limits = {
    ...context.limits,
    scanBytes: Number.MAX_SAFE_INTEGER,
    scanMillis: Number.MAX_SAFE_INTEGER,
  }
  return { ...source, context: { ...context, limits, scans: IN_SLOT } }
}
