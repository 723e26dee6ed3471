import { bad } from '../../core/http/params.ts'
import { attachment } from '../../core/http/range.ts'
import { noteHeader, respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { ENDINGS, type Format } from '../../core/view-headers.ts'
import { type Clock, inTime } from '../../kit/limits/clock.ts'
import { openExport } from '../../log/export/export.ts'
import { NdjsonWriter } from '../../log/render/ndjson.ts'
import { type NextBytes, renderedStream } from '../../log/render/rendered.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { SlicedStream } from '../../store/fast.ts'
import { type QueryRoute, recordOptions } from '../parameters/view-request.ts'
import type { Table } from './table.ts'

/** Parameters that make no sense with an export, which is the whole filtered log. */
const EXCLUDED = ['size', 'lines', 'first', 'before', 'follow'] as const

/** A request for one log, as it was read. */
interface ExportRequest {
  asked: ViewRequest
  common: Record<string, string>
  format: Format
  table: Table | null
}

/** `download=true`: the filtered view as a file, oldest record first, streamed to the end of the log. */
export async function exportLog(
  request: Request,
  query: Query,
  route: QueryRoute,
  { asked, common, format: sent, table }: ExportRequest,
): Promise<Response> {
  const headers = exportHeaders(query, `${asked.file.split('/').at(-1)!}.${ENDINGS[sent]}`, common)
  if (request.method === 'HEAD') {
    await route.files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  const { format, notes, next, close } = await openExport(route, asked, request.signal)
  request.signal.addEventListener('abort', close, { once: true })
  const told = { ...headers, ...noteHeader(notes) }
  if (!asked.records) return respond(new SlicedStream({ next, release() {}, cancel: close }), told)
  const { zone, clock } = route
  if (table === null) {
    const writer = new NdjsonWriter(format, zone, recordOptions(query))
    return respond(renderedStream(next, writer, close, clock), told)
  }
  const { first, source } = await ahead(next, clock)
  const lacks = first && (await table.lacks([{ bytes: first, reader: { format, zone } }]))
  const body = renderedStream(source, table.writer(format, zone), close, clock)
  return respond(body, { ...headers, ...noteHeader([...notes, lacks && 'unknown-field']) })
}

/** How long the headers of a table wait for its first records, which show the fields that there are. */
const HEADERS_MS = 500

/** The first records of a source, null if they take long, and a source that begins with them all the same. */
async function ahead(
  next: NextBytes,
  clock: Clock,
): Promise<{ first: Uint8Array | null; source: NextBytes }> {
  let reading: Promise<Uint8Array | null> | null = (async () => next())()
  // A client may leave before anybody waits for it.
  reading.catch(() => {})
  const first = (await inTime(clock, HEADERS_MS, reading)) ? await reading : null
  const source = () => {
    const begun = reading
    reading = null
    return begun ?? next()
  }
  return { first, source }
}

/** The headers of an export. Throws if the request is for a part of one. */
export function exportHeaders(
  { given }: Query,
  name: string,
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
    'Content-Disposition': attachment(name),
    // A proxy that buffers a response before passing it on would hold the whole log.
    'X-Accel-Buffering': 'no',
  }
}
