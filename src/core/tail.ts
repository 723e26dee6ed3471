import type { LogFiles } from '../log/files/files.ts'
import { fingerprint, NO_PRINT } from '../log/text/cursor.ts'
import { kindOfBytes, looksLikeText } from '../log/text/kind.ts'
import { readTail, type Tail } from '../log/text/tail.ts'
import { soundsCompressed } from '../store/codec/kind.ts'
import { StoreError } from '../store/store.ts'
import { noneMatchNames, notModified, singleTag } from './http/conditional.ts'
import { noteHeader, respond } from './http/sliced.ts'
import { defaultSize } from './parameters.ts'
import type { Query } from './query.ts'
import { acceptedFormat, linkHeader, TEXT_HEADERS, VARY } from './view-headers.ts'

export interface ViewRoute {
  files: LogFiles
  /** The largest tail that may be requested. @default none: a tail streams in constant memory */
  maxSize?: number | undefined
  /** Answers everything but the plain tail; loaded on first use. */
  queryView(request: Request, query: Query): Promise<Response>
}

/** `GET /api/v1/log/view`: the last part of a file, or the part of a log that the parameters select. */
export function viewLog(request: Request, query: Query, route: ViewRoute): Response | Promise<Response> {
  if (query.files) return route.queryView(request, query)
  const plain = query.given.every((name) => name === 'file' || name === 'size')
  if (plain && !route.files.joined && !soundsCompressed(query.file!) && acceptedFormat(request) === null)
    return viewTail(request, query, route)
  return route.queryView(request, query)
}

/** The plain tail: one read, and cursors made from its bytes. */
async function viewTail(request: Request, query: Query, route: ViewRoute): Promise<Response> {
  const { files, maxSize } = route
  const file = query.file!
  const noneMatch = request.headers.get('If-None-Match')
  const known = singleTag(noneMatch)
  if (request.method === 'HEAD' || (noneMatch && known === undefined)) {
    const { etag } = await files.stat(file, request.signal)
    if (noneMatchNames(noneMatch, etag)) return notModified(etag, VARY)
    if (request.method === 'HEAD') return new Response(null, { headers: { ...TEXT_HEADERS, ETag: etag } })
  }
  try {
    const read: Parameters<typeof readTail>[0] = (range, options) => files.read(file, range, options)
    // A signal costs as much as the read of a short tail.
    const options = { ifNoneMatch: known, signal: files.isNear ? undefined : request.signal }
    const tail = await readTail(read, query.size ?? defaultSize(maxSize), options)
    const isText = tail.seen === null || looksLikeText(tail.seen.bytes)
    const archive = isText ? null : await answerArchive(request, query, route, tail)
    return archive ?? respond(tail.body, headersOfTail(query, tail))
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known, VARY)
    throw error
  }
}

/** An archive is viewed as its text; null if the tail is not text but the file is not an archive either. */
async function answerArchive(
  request: Request,
  query: Query,
  { files, queryView }: ViewRoute,
  { entry, seen, body }: Tail,
): Promise<Response | null> {
  if ((await kindOfBytes(files, entry, seen!.bytes, request.signal)) === 'plain') return null
  if (body instanceof ReadableStream) await body.cancel()
  return queryView(request, query)
}

/** Written out: with a spread in front, V8 defines what follows property by property, which takes as long as the read. */
function headersOfTail(query: Query, tail: Tail): Record<string, string> {
  const { entry, missing } = tail
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
    ETag: entry.etag,
    Link: linkOfTail(query, tail),
    'Content-Length': String(tail.length),
  }
  if (!missing && !entry.gap) return headers
  // Bytes are missing before the tail, or were lost after it.
  const notes = [missing?.head && 'begins-late', (entry.gap || missing?.head === false) && 'gap']
  return { ...headers, ...noteHeader(notes) }
}

/** One hash of 64 bytes serves both cursors: any bytes that identify the file will do. */
function linkOfTail(query: Query, { entry, offset, length, seen, missing }: Tail): string {
  const { key: name, id = null } = entry
  const print = seen ? fingerprint(seen.bytes, seen.offset) : NO_PRINT
  // After a hole, the previous page continues before it.
  const before = missing ? missing.from : offset
  const prev = before > 0 ? { name, id, offset: before, print } : null
  const named = `file=${encodeURIComponent(query.file!)}`
  const kept = query.size === undefined ? named : `${named}&size=${query.size}`
  return linkHeader(kept, prev, { name, id, offset: offset + length, print })
}
