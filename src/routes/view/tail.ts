import { noneMatchNames, notModified, singleTag } from '../../http/conditional.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { fingerprint, NO_PRINT } from '../../log/text/cursor.ts'
import { kindOfBytes, looksLikeText } from '../../log/text/kind.ts'
import { readTail, type Tail } from '../../log/text/tail.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import type { Query } from '../parameters/read.ts'
import { defaultSize } from '../parameters/tail-table.ts'
import { TEXT_HEADERS, VARY } from './headers.ts'
import { linkHeader } from './link.ts'
import type { ViewRoute } from './route.ts'

/** The plain tail: one read, and cursors made from its bytes. */
export async function viewTail(request: Request, query: Query, route: ViewRoute): Promise<Response> {
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
    // Created only when needed: a signal costs as much as the whole read of a short tail.
    const options = {
      ifNoneMatch: known,
      get signal() {
        return request.signal
      },
    }
    const tail = await readTail(read, query.size ?? defaultSize(maxSize), options)
    // The signal is created only for the rare tail that is not text.
    const isOdd = tail.seen !== null && !looksLikeText(tail.seen.bytes)
    if (isOdd && (await kindOfBytes(files, tail.entry, tail.seen!.bytes, request.signal)) !== 'plain') {
      if (tail.body instanceof ReadableStream) await tail.body.cancel()
      return route.queryView(request, query)
    }
    return bytesResponse(tail.body, headersOfTail(query, tail))
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known, VARY)
    throw error
  }
}

/** The headers of the last tail of each state of a file: a store gives the same entry while the file is unchanged. */
const written = new WeakMap<Entry, { query: string; headers: Record<string, string> }>()

/** Writes two cursors once per state of a file: about a fifth of a short tail (row `view-4k`). */
function headersOfTail(query: Query, tail: Tail): Record<string, string> {
  const { entry, offset } = tail
  const asked = `${query.size ?? ''} ${offset}`
  const last = written.get(entry)
  if (last?.query === asked) return last.headers
  const headers = {
    ...TEXT_HEADERS,
    ETag: entry.etag,
    Link: linkOfTail(query, tail),
    'Content-Length': String(tail.length),
    ...noteOfTail(tail),
  }
  written.set(entry, { query: asked, headers })
  return headers
}

/** Notes that bytes are missing before the tail, or were lost after it. */
function noteOfTail({ entry, missing }: Tail): Record<string, string> {
  const notes = [missing?.head && 'begins-late', (entry.gap || missing?.head === false) && 'gap']
  const given = notes.filter(Boolean).join(', ')
  return given ? { 'X-Nodestate-Note': given } : {}
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
