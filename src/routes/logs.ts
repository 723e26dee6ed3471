import { COMMON_HEADERS, noneMatchNames, notModified, singleTag, textTag } from '../http/conditional.ts'
import { bad, readParams } from '../http/params.ts'
import type { Listing, LogFiles } from '../log/files.ts'
import { readTail } from '../log/tail.ts'
import { StoreError } from '../store/store.ts'

/** The tail when no size is asked for. */
export const DEFAULT_SIZE = 1024 * 1024

/** What the log routes need. */
export interface LogRoutes {
  files: LogFiles
  /** The largest tail that may be asked for. @default none: a tail streams in constant memory */
  maxSize?: number | undefined
}

/** `GET /api/v1/log/list`: the log files, by name. */
export async function listLogs(request: Request, { files }: LogRoutes): Promise<Response> {
  const { body, etag } = render(await files.list(request.signal))
  if (noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  return new Response(body, {
    headers: { 'Content-Type': 'application/json', ...COMMON_HEADERS, ETag: etag },
  })
}

/** A remembered listing is written as JSON once: 10,000 files take 3 ms. */
const rendered = new WeakMap<Listing, { body: string; etag: string }>()

function render(listing: Listing): { body: string; etag: string } {
  const known = rendered.get(listing)
  if (known) return known
  const body = JSON.stringify(listing.entries.map(({ key, size }) => ({ name: key, size })))
  const answer = { body, etag: textTag(body) }
  rendered.set(listing, answer)
  return answer
}

/** `GET /api/v1/log/view?file=&size=`: the last part of a file. */
export async function viewLog(request: Request, { files, maxSize }: LogRoutes): Promise<Response> {
  const params = readParams(request.url)
  const file = params.text('file')
  if (!file) throw bad('file', 'is missing; give it the name of a log file from the list of logs')
  const size = params.integer('size', maxSize === undefined ? {} : { max: maxSize })
  const bytes = size ?? Math.min(DEFAULT_SIZE, maxSize ?? DEFAULT_SIZE)
  const noneMatch = request.headers.get('If-None-Match')
  const known = singleTag(noneMatch)

  if (request.method === 'HEAD' || (noneMatch && known === undefined)) {
    const { etag } = await files.stat(file, request.signal)
    if (noneMatchNames(noneMatch, etag)) return notModified(etag)
    if (request.method === 'HEAD') return new Response(null, { headers: viewHeaders(etag) })
  }
  try {
    const read: Parameters<typeof readTail>[0] = (range, options) => files.read(file, range, options)
    const tail = await readTail(read, bytes, { signal: request.signal, ifNoneMatch: known })
    const headers = { ...viewHeaders(tail.entry.etag), 'Content-Length': String(tail.length) }
    return new Response(tail.body, { headers })
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known)
    throw error
  }
}

function viewHeaders(etag: string): Record<string, string> {
  return { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS, ETag: etag }
}
