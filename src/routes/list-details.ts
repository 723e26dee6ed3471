import { COMMON_HEADERS, jsonResponse, textTag } from '../http/conditional.ts'
import { noteHeader, respond } from '../http/sliced.ts'
import type { LogFiles } from '../log/files/files.ts'
import type { Detailer } from '../log/view/detail.ts'
import { SlicedStream } from '../store/fast.ts'
import { byCodePoint, type Entry } from '../store/store.ts'
import type { Query } from './parameters/read.ts'

const MOST_DETAILED = 10_000
/** Characters of a list that are sent at a time. */
const PIECE = 32 * 1024

/** `GET /api/v1/log/list?detail=true`: the log files, with what is known about each; `Link` leads to the next ones. */
export async function listDetails(
  request: Request,
  { after = '' }: Query,
  files: LogFiles,
  details: Detailer,
): Promise<Response> {
  const { signal } = request
  const { note } = await files.list(signal)
  if (request.method === 'HEAD') return jsonResponse(request, '', null)
  const { entries, isCut } = await partOf(files, after, signal)
  const found = await details(entries, signal)
  const body = JSON.stringify(found.files)
  const headers = noteHeader([note, isCut && 'list-cut', !found.complete && 'detail-incomplete'])
  if (isCut) headers.Link = `<?detail=true&after=${encodeURIComponent(entries.at(-1)!.key)}>; rel="next"`
  return jsonResponse(request, body, found.complete ? textTag(body) : null, headers)
}

/** The next files, and whether there are more after them. */
async function partOf(files: LogFiles, after: string, signal: AbortSignal) {
  const listing = await files.list(signal)
  if (!listing.isCut && listing.entries.length <= MOST_DETAILED) {
    const isAfter = ({ key }: Entry) => after === '' || byCodePoint(key, after) > 0
    return { entries: listing.entries.filter(isAfter), isCut: false }
  }
  const entries: Entry[] = []
  for await (const entry of files.each(after, signal)) {
    if (entries.length === MOST_DETAILED) return { entries, isCut: true }
    entries.push(entry)
  }
  return { entries, isCut: false }
}

/** The plain list, read as fast as the client takes it: it is never cut, and takes the memory of its names. */
export function streamList(request: Request, after: string, files: LogFiles): Response {
  if (request.method === 'HEAD') return jsonResponse(request, '', null)
  const pieces = written(files.each(after, request.signal))
  const body = new SlicedStream({
    next: async () => (await pieces.next()).value ?? null,
    release() {},
    cancel: () => void pieces.return(undefined),
  })
  return respond(body, { 'Content-Type': 'application/json', ...COMMON_HEADERS })
}

async function* written(entries: AsyncIterable<Entry>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder()
  let text = '['
  let comma = ''
  for await (const { key, size } of entries) {
    text += `${comma}${JSON.stringify({ name: key, size })}`
    comma = ','
    if (text.length < PIECE) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}]`)
}
