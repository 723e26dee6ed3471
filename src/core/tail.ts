import { noneMatchNames, notModified, singleTag } from '../http/conditional.ts'
import { noteHeader, respond } from '../http/sliced.ts'
import type { LogFiles } from '../log/files/files.ts'
import { fingerprint, NO_PRINT } from '../log/text/cursor.ts'
import { kindOfBytes, looksLikeText } from '../log/text/kind.ts'
import { readTail, type Tail, tailOfBytes } from '../log/text/tail.ts'
import { acceptedFormat, linkHeader, TEXT_HEADERS, VARY } from '../routes/view/headers.ts'
import { soundsCompressed } from '../store/codec/kind.ts'
import { type Entry, StoreError } from '../store/store.ts'
import { defaultSize } from './parameters.ts'
import type { Query } from './query.ts'

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

/** The plain tail: what memory has of it, or one read, and cursors made from its bytes. */
function viewTail(request: Request, query: Query, route: ViewRoute): Response | Promise<Response> {
  const noneMatch = request.headers.get('If-None-Match')
  const size = query.size ?? defaultSize(route.maxSize)
  const isKnown = noneMatch ? (etag: string) => noneMatchNames(noneMatch, etag) : null
  const kept = request.method === 'GET' ? route.files.keptTail?.(query.file!, size + 1, isKnown) : undefined
  if (kept === undefined) return readAndView(request, query, route, size)
  if (kept.read === null) return notModified(kept.entry.etag, VARY)
  return answerTail(
    request,
    query,
    route,
    tailOfBytes(kept.read, kept.read.body as Uint8Array<ArrayBuffer>, size),
  )
}

async function readAndView(
  request: Request,
  query: Query,
  route: ViewRoute,
  size: number,
): Promise<Response> {
  const { files } = route
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
    // Created only when needed: a signal costs as much as the whole read of a short tail.
    const options = {
      ifNoneMatch: known,
      get signal() {
        return request.signal
      },
    }
    return await answerTail(request, query, route, await readTail(read, size, options))
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known, VARY)
    throw error
  }
}

function answerTail(
  request: Request,
  query: Query,
  route: ViewRoute,
  tail: Tail,
): Response | Promise<Response> {
  const asked = `${query.size ?? ''} ${tail.offset}`
  const last = written.get(tail.entry)
  if (last?.query === asked) return respond(tail.body, last.headers)
  const answer = () => {
    const headers = headersOfTail(query, tail)
    written.set(tail.entry, { query: asked, headers })
    return respond(tail.body, headers)
  }
  if (tail.seen === null || looksLikeText(tail.seen.bytes)) return answer()
  return answerArchive(request, query, route, tail).then((response) => response ?? answer())
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

/**
 * The headers of the last tail of each state of a file: a store gives the same entry while the file is unchanged.
 * Writing two cursors takes about a fifth of a short tail (row `view-4k`).
 */
const written = new WeakMap<Entry, { query: string; headers: Record<string, string> }>()

function headersOfTail(query: Query, tail: Tail): Record<string, string> {
  const { entry, missing } = tail
  return {
    ...TEXT_HEADERS,
    ETag: entry.etag,
    Link: linkOfTail(query, tail),
    'Content-Length': String(tail.length),
    // Bytes are missing before the tail, or were lost after it.
    ...noteHeader([missing?.head && 'begins-late', (entry.gap || missing?.head === false) && 'gap']),
  }
}

/** One hash of 64 bytes serves both cursors: any bytes that identify the file will do. */
function linkOfTail(query: Query, { entry, offset, length, seen, missing }: Tail): string {
  const print = seen ? fingerprint(seen.bytes, seen.offset) : NO_PRINT
  const cursor = { name: entry.key, id: entry.id ?? null, print }
  // After a hole, the previous page continues before it.
  const before = missing ? missing.from : offset
  const prev = before > 0 ? { ...cursor, offset: before } : null
  const named = `file=${encodeURIComponent(query.file!)}`
  const kept = query.size === undefined ? named : `${named}&size=${query.size}`
  return linkHeader(kept, prev, { ...cursor, offset: offset + length })
}
