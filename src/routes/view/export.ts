import { bad } from '../../http/params.ts'
import { attachment } from '../../http/range.ts'
import { noteHeader, respond } from '../../http/sliced.ts'
import { openExport } from '../../log/export/export.ts'
import { NdjsonWriter } from '../../log/render/ndjson.ts'
import { renderedStream } from '../../log/render/rendered.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { SlicedStream } from '../../store/fast.ts'
import type { Query } from '../parameters/read.ts'
import { type QueryRoute, recordOptions } from '../parameters/view-request.ts'

/** Parameters that make no sense with an export, which is the whole filtered log. */
const EXCLUDED = ['size', 'lines', 'first', 'before', 'follow'] as const

/** `download=true`: the filtered view as a file, oldest record first, streamed to the end of the log. */
export async function exportLog(
  request: Request,
  query: Query,
  route: QueryRoute,
  { asked, common }: { asked: ViewRequest; common: Record<string, string> },
): Promise<Response> {
  const headers = exportHeaders(query, asked.file.split('/').at(-1)!, asked, common)
  if (request.method === 'HEAD') {
    await route.files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  const { format, notes, next, close } = await openExport(route, asked, request.signal)
  request.signal.addEventListener('abort', close, { once: true })
  const body = asked.records
    ? renderedStream(next, new NdjsonWriter(format, route.zone, recordOptions(query)), close, route.clock)
    : new SlicedStream({ next, release() {}, cancel: close })
  return respond(body, { ...headers, ...noteHeader(notes) })
}

/** The headers of an export. Throws if the request is for a part of one. */
export function exportHeaders(
  { given }: Query,
  name: string,
  { records }: ViewRequest,
  common: Record<string, string>,
): Record<string, string> {
  const excluded = EXCLUDED.find((name) => given.includes(name))
  if (excluded !== undefined)
    throw bad(
      excluded,
      'was given together with download; an export is the whole filtered log, so leave it out',
    )
  return {
    ...common,
    'Content-Disposition': attachment(`${name}.${records ? 'ndjson' : 'txt'}`),
    // A proxy that buffers a response before passing it on would hold the whole log.
    'X-Accel-Buffering': 'no',
  }
}
