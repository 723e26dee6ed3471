import { bad } from '../../http/params.ts'
import { attachment } from '../../http/range.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { type Export, openExport } from '../../log/export/export.ts'
import { NdjsonWriter } from '../../log/render/ndjson.ts'
import { renderedStream } from '../../log/render/rendered.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { SlicedStream } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import type { Query } from '../parameters/read.ts'
import { type QueryRoute, recordOptions } from '../parameters/view-request.ts'

/** Parameters that make no sense with an export, which is the whole filtered log. */
const EXCLUDED = ['size', 'lines', 'first', 'before', 'follow'] as const

/** `download=true`: the filtered view as a file, oldest record first, streamed to the end of the log. */
export async function exportLog(
  request: Request,
  query: Query,
  route: QueryRoute,
  { asked, headers }: { asked: ViewRequest; headers: Record<string, string> },
): Promise<Response> {
  refuseExcluded(query)
  const ending = asked.records ? 'ndjson' : 'txt'
  const base = asked.file.split('/').at(-1)!
  const all: Record<string, string> = {
    ...headers,
    'Content-Disposition': attachment(`${base}.${ending}`),
    // A proxy that buffers a response before passing it on would hold the whole log.
    'X-Accel-Buffering': 'no',
  }
  if (request.method === 'HEAD') {
    await route.files.stat(asked.file, request.signal)
    return new Response(null, { headers: all })
  }
  const opened = await openExport(route, asked, request.signal)
  if (opened.notes.length > 0) all['X-Nodestate-Note'] = opened.notes.join(', ')
  request.signal.addEventListener('abort', opened.close, { once: true })
  const body = asked.records
    ? renderedStream(
        opened.next,
        new NdjsonWriter(opened.format, route.zone, recordOptions(query)),
        opened.close,
      )
    : textOf(opened)
  return bytesResponse(body, all)
}

function textOf({ next, close }: Export): Bytes {
  return new SlicedStream({ next, release() {}, cancel: close })
}

export function refuseExcluded({ given }: Query): void {
  for (const name of EXCLUDED)
    if (given.includes(name))
      throw bad(
        name,
        'was given together with download; an export is the whole filtered log, so leave it out',
      )
}
