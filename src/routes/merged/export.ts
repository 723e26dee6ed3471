import { attachment } from '../../http/range.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { MergedExport } from '../../log/merge/export.ts'
import { mergedStream, ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import { IN_SLOT, type Source } from '../../log/merge/source.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import type { Query } from '../parameters/read.ts'
import { recordOptions } from '../parameters/view-request.ts'
import { refuseExcluded } from '../view/export.ts'
import { type MergedRoute, sourceHeaders } from './route.ts'

/** `download=true` of several logs: the filtered timeline as a file, oldest record first, to the end of the logs. */
export async function exportLogs(
  request: Request,
  query: Query,
  route: MergedRoute,
  { asked, headers }: { asked: ViewRequest; headers: Record<string, string> },
): Promise<Response> {
  refuseExcluded(query)
  const { sources, ...rest } = await route.pick(query, request.signal)
  const writer = asked.records ? ndjsonWriter(recordOptions(query)) : textWriter()
  const all = {
    ...headers,
    'Content-Disposition': attachment(`timeline.${asked.records ? 'ndjson' : 'txt'}`),
    'X-Accel-Buffering': 'no',
  }
  const leave = await sources[0]!.context.scans.enter(request.signal, 'long')
  const merged = new MergedExport(sources.map(inSlot), { ...asked, cost: writer.cost }, request.signal)
  const end = () => {
    merged.release()
    leave()
  }
  request.signal.addEventListener('abort', end, { once: true })
  await merged.open().catch((error) => {
    end()
    throw error
  })
  const missing = [...rest.missing, ...merged.missing]
  const told: Record<string, string> = { ...all, ...sourceHeaders({ ...rest, missing }) }
  if (merged.notes.length > 0) told['X-Nodestate-Note'] = merged.notes.join(', ')
  if (request.method === 'HEAD') {
    end()
    return new Response(null, { headers: told })
  }
  return bytesResponse(mergedStream(merged.pages(), writer, end), told)
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
