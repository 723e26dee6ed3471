import { kindOf } from '../codec/kind.ts'
import { acceptedTypes } from '../http/accept.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, singleTag } from '../http/conditional.ts'
import { bad, type Params, readParams } from '../http/params.ts'
import { bytesResponse } from '../http/sliced.ts'
import type { LogFiles } from '../log/files/files.ts'
import { readTail, type Tail } from '../log/files/tail.ts'
import { fingerprint } from '../log/text/cursor.ts'
import { type Entry, StoreError } from '../store/store.ts'
import { linkHeader, queryOf } from './link.ts'

/** The tail when no size is asked for. */
export const DEFAULT_SIZE = 1024 * 1024

/** What the log view needs. */
export interface ViewRoute {
  files: LogFiles
  /** The largest tail that may be asked for. @default none: a tail streams in constant memory */
  maxSize?: number | undefined
  /** Answers what asks for more than a plain tail; loaded when that first happens. */
  beyond(request: Request, params: Params, file: string, size: number | undefined): Promise<Response>
}

/** Parameters that ask for more than a plain tail. */
const BEYOND = new Set([
  'lines',
  'since',
  'until',
  'level',
  'q',
  'regex',
  'before',
  'after',
  'rotated',
  'format',
  'follow',
])

/** `GET /api/v1/log/view`: the last part of a file, or the part of a log that was asked for. */
export function viewLog(request: Request, route: ViewRoute): Promise<Response> {
  const params = readParams(request.url)
  const file = params.text('file')
  if (!file) throw bad('file', 'is missing; give it the name of a log file from the list of logs')
  const size = params.integer('size', route.maxSize === undefined ? {} : { max: route.maxSize })
  if (params.hasAny(BEYOND) || kindOf(file) !== 'plain' || wantsNdjson(request))
    return route.beyond(request, params, file, size)
  return viewTail(request, route, file, size)
}

/** The plain tail: one read, and cursors made from the bytes that it gave. */
async function viewTail(
  request: Request,
  { files, maxSize }: ViewRoute,
  file: string,
  size: number | undefined,
): Promise<Response> {
  const bytes = size ?? defaultSize(maxSize)
  const noneMatch = request.headers.get('If-None-Match')
  const known = singleTag(noneMatch)

  if (request.method === 'HEAD' || (noneMatch && known === undefined)) {
    const { etag } = await files.stat(file, request.signal)
    if (noneMatchNames(noneMatch, etag)) return notModified(etag, VARY)
    if (request.method === 'HEAD') return new Response(null, { headers: { ...TEXT_HEADERS, ETag: etag } })
  }
  if (known !== undefined && files.unchanged(file, known)) return notModified(known, VARY)
  try {
    const read: Parameters<typeof readTail>[0] = (range, options) => files.read(file, range, options)
    // Looked at only where it is needed: a signal costs as much as the whole read of a short tail.
    const options = {
      ifNoneMatch: known,
      sent: true,
      get signal() {
        return request.signal
      },
    }
    const tail = await readTail(read, bytes, options)
    return bytesResponse(tail.body, headersOfTail(file, size, tail))
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known, VARY)
    throw error
  }
}

/** A store that remembers a file gives the same entry while it is unchanged: its last headers are still right then. */
const lastHeaders = new WeakMap<
  Entry,
  { size: number | undefined; offset: number; headers: Record<string, string> }
>()

/** Two cursors take as long to write as all the rest of a short answer: they are made once per state of a file. */
function headersOfTail(file: string, size: number | undefined, tail: Tail): Record<string, string> {
  const { entry, offset } = tail
  const last = lastHeaders.get(entry)
  if (last && last.size === size && last.offset === offset) return last.headers
  const headers = {
    ...TEXT_HEADERS,
    ETag: entry.etag,
    Link: linkOfTail(file, size, tail),
    'Content-Length': String(tail.length),
  }
  lastHeaders.set(entry, { size, offset, headers })
  return headers
}

/** One hash of 64 bytes serves both cursors: any bytes that the file is known by will do. */
function linkOfTail(file: string, size: number | undefined, { entry, offset, length, seen }: Tail): string {
  const print = seen ? fingerprint(seen.bytes, seen.offset) : { offset: 0, length: 0, hash: 0 }
  const cursor = { name: entry.key, id: entry.id ?? null, print, inside: false }
  const query = size === undefined ? `file=${encodeURIComponent(file)}` : queryOf({ file, size })
  const prev = offset > 0 ? { ...cursor, offset } : null
  return linkHeader(query, prev, { ...cursor, offset: offset + length })
}

/** Whether a client asks for records as JSON lines by its Accept header. */
export function wantsNdjson(request: Request): boolean {
  const accept = request.headers.get('Accept')
  return accept?.includes('ndjson') === true && acceptedTypes(accept).has('application/x-ndjson')
}

/** The tail when no size is asked for, within the operator's maximum. */
export function defaultSize(maxSize: number | undefined): number {
  return maxSize === undefined ? DEFAULT_SIZE : Math.min(DEFAULT_SIZE, maxSize)
}

/** The answer is another one for those who accept JSON lines or events. */
export const VARY = { Vary: 'Accept' } as const
/** Log text is never sniffed as anything else. */
export const TEXT_TYPE = 'text/plain; charset=utf-8'
/** What every tail says of itself. */
export const TEXT_HEADERS = { 'Content-Type': TEXT_TYPE, ...COMMON_HEADERS, ...VARY } as const
