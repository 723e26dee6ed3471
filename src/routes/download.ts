import { isPeerRequest } from '../core/http/caller.ts'
import { COMMON_HEADERS, noneMatchNames, notModified, singleTag } from '../core/http/conditional.ts'
import { Problem } from '../core/http/problem.ts'
import { attachment, ifRangeHolds, isSatisfiable, matchHolds, parseRange } from '../core/http/range.ts'
import { noteHeader, respond } from '../core/http/sliced.ts'
import type { Query } from '../core/query.ts'
import type { ViewRoute } from '../core/tail.ts'
import { inParts } from '../log/text/parts-ahead.ts'
import type { RangeReader } from '../log/text/tail.ts'
import type { ViewContext } from '../log/view/context.ts'
import { type Compression, compressionByName } from '../store/codec/kind.ts'
import {
  type ByteRange,
  type Entry,
  MissingBytes,
  type ReadOptions,
  StoreError,
  type StoreRead,
} from '../store/store.ts'

const TYPES: Record<Compression, string> = {
  gzip: 'application/gzip',
  zstd: 'application/zstd',
  zip: 'application/zip',
  bzip2: 'application/x-bzip2',
  xz: 'application/x-xz',
}

interface DownloadRoute extends Pick<ViewRoute, 'queryView'> {
  context: Pick<ViewContext, 'files' | 'parallel' | 'downloads'>
}

/** `GET /api/v1/log/download?file=`: a file's bytes as they are stored, whole or a range of them. */
export async function downloadLog(request: Request, query: Query, { context, queryView }: DownloadRoute) {
  const { files, parallel = 1, downloads: memory } = context
  const file = query.file!
  // A joined log has no stored bytes of its own, only the text of its objects.
  if (files.joined && (await files.stat(file, request.signal)).joined)
    return queryView(request, { ...query, format: 'text', download: true })
  const isPeer = isPeerRequest(request)
  const noneMatch = request.headers.get('If-None-Match')
  const known = singleTag(noneMatch)
  const match = request.headers.get('If-Match')
  const ifRange = request.headers.get('If-Range')
  // One strong tag is compared by the store, in the same round trip as the bytes.
  const pinned =
    ifRange === null && match !== null && STRONG_TAG.test(match.trim()) ? match.trim() : undefined
  const isPinned = match === null || pinned !== undefined

  if (request.method === 'HEAD' || !isPinned || (noneMatch && known === undefined)) {
    const entry = await files.stat(file, request.signal)
    if (!matchHolds(match, entry.etag)) throw hasChanged()
    if (noneMatchNames(noneMatch, entry.etag)) return notModified(entry.etag)
    // Ranges apply to GET only (RFC 9110, 14.2): HEAD describes the whole file.
    if (request.method === 'HEAD')
      return new Response(null, {
        headers: { ...headersOf(entry, isPeer), 'Content-Length': String(entry.size) },
      })
  }
  const range = parseRange(request.headers.get('Range'))
  try {
    const options = { signal: request.signal, ifNoneMatch: known, ifMatch: pinned }
    const read: RangeReader = (...args) => files.read(file, ...args)
    const parts = (got: StoreRead) =>
      memory ? inParts(got, { read, parallel, memory, signal: request.signal }) : got
    const part = range && (await readRange(read, range, ifRange, options))
    return part
      ? rangeResponse(parts(part), range, isPeer)
      : wholeResponse(parts(await files.read(file, undefined, options)), isPeer)
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known)
    if (pinned !== undefined && error instanceof StoreError && error.code === 'changed') throw hasChanged()
    throw error
  }
}

const STRONG_TAG = /^"[^"]*"$/

function hasChanged(): Problem {
  return new Problem(
    'precondition-failed',
    'The file has changed; leave If-Match out, or send the current ETag.',
  )
}

/** The range in one round trip, from the version that `If-Range` names; null when that is no longer the current one. */
async function readRange(
  read: RangeReader,
  range: ByteRange,
  ifRange: string | null,
  options: ReadOptions,
): Promise<StoreRead | null> {
  // Weak tags and dates never match, so no store call is needed.
  if (ifRange !== null && !STRONG_TAG.test(ifRange.trim())) return null
  try {
    const part = await read(range, { ...options, ifMatch: ifRange?.trim() ?? options.ifMatch })
    return ifRangeHolds(ifRange, part.entry.etag) ? part : null
  } catch (error) {
    if (ifRange !== null && error instanceof StoreError && error.code === 'changed') return null
    throw error
  }
}

function rangeResponse(
  { entry, offset, length, body, missing }: StoreRead,
  range: ByteRange,
  isPeer: boolean,
): Response {
  if (missing && !missing.head) throw new MissingBytes(entry.key, missing)
  if (!isSatisfiable(range, entry.size))
    throw new Problem(
      'range-not-satisfiable',
      `The range is past the end of the file, which has ${entry.size} bytes; request a range inside it.`,
      { headers: { 'Content-Range': `bytes */${entry.size}` } },
    )
  // The last n bytes of an empty file: satisfiable to the letter, but Content-Range cannot express zero bytes.
  if (length === 0) return wholeResponse({ entry, offset, length, body }, isPeer)
  const headers = {
    ...headersOf(entry, isPeer),
    'Content-Length': String(length),
    'Content-Range': `bytes ${offset}-${offset + length - 1}/${entry.size}`,
  }
  return respond(body, headers, 206)
}

function wholeResponse({ entry, length, body, missing }: StoreRead, isPeer: boolean): Response {
  const note = noteHeader([missing && 'begins-late'])
  return respond(body, { ...headersOf(entry, isPeer), 'Content-Length': String(length), ...note })
}

function headersOf({ key, etag, modified, id, appendOnly }: Entry, isPeer: boolean): Record<string, string> {
  const compression = compressionByName(key)
  return {
    'Content-Type': compression ? TYPES[compression] : 'application/octet-stream',
    'Content-Disposition': attachment(key),
    'Accept-Ranges': 'bytes',
    ...COMMON_HEADERS,
    'Last-Modified': new Date(modified).toUTCString(),
    // A coordinator puts the files of a log in the same order as its peer, which knows more than whole seconds.
    ...(isPeer && { 'X-Nodestate-Modified': new Date(modified).toISOString() }),
    // A shipped log has an id of another kind, which does not tell files of one name apart.
    ...(id !== undefined && !appendOnly && { 'X-Nodestate-File': id }),
    ETag: etag,
  }
}
