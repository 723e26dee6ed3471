import { type Kind, kindOf } from '../codec/kind.ts'
import { COMMON_HEADERS, matchHolds, noneMatchNames, notModified, singleTag } from '../http/conditional.ts'
import { bad, readParams } from '../http/params.ts'
import { Problem } from '../http/problem.ts'
import { attachment, ifRangeHolds, isSatisfiable, parseRange } from '../http/range.ts'
import { bytesResponse } from '../http/sliced.ts'
import type { LogFiles } from '../log/files/files.ts'
import { type ByteRange, type Entry, type ReadOptions, StoreError, type StoreRead } from '../store/store.ts'

/** What the download needs. */
export interface DownloadRoute {
  files: LogFiles
}

const TYPES: Record<Kind, string> = {
  plain: 'application/octet-stream',
  gzip: 'application/gzip',
  zstd: 'application/zstd',
}

/** `GET /api/v1/log/download?file=`: a file's bytes as they are stored, whole or a range of them. */
export async function downloadLog(request: Request, { files }: DownloadRoute): Promise<Response> {
  const file = readParams(request.url).text('file')
  if (!file) throw bad('file', 'is missing; give it the name of a log file from the list of logs')
  const noneMatch = request.headers.get('If-None-Match')
  const known = singleTag(noneMatch)
  const match = request.headers.get('If-Match')

  if (request.method === 'HEAD' || match !== null || (noneMatch && known === undefined)) {
    const entry = await files.stat(file, request.signal)
    if (!matchHolds(match, entry.etag))
      throw new Problem(
        'precondition-failed',
        'The file changed since; ask again without If-Match, or with its ETag of now.',
      )
    if (noneMatchNames(noneMatch, entry.etag)) return notModified(entry.etag)
    // Ranges are for GET alone (RFC 9110, 14.2): HEAD tells of the whole.
    if (request.method === 'HEAD')
      return new Response(null, { headers: { ...headersOf(entry), 'Content-Length': String(entry.size) } })
  }
  const range = parseRange(request.headers.get('Range'))
  const ifRange = request.headers.get('If-Range')
  try {
    const options = { signal: request.signal, ifNoneMatch: known, sent: true }
    const part = range && (await readRange(files, file, range, ifRange, options))
    return part ? rangeResponse(part, range) : wholeResponse(await files.read(file, undefined, options))
  } catch (error) {
    if (known !== undefined && error instanceof StoreError && error.code === 'unchanged')
      return notModified(known)
    throw error
  }
}

/** The range in one round trip, from the version that `If-Range` names; null when that is not the present one. */
async function readRange(
  files: LogFiles,
  file: string,
  range: ByteRange,
  ifRange: string | null,
  options: ReadOptions,
): Promise<StoreRead | null> {
  // Weak tags and dates never hold; a store would be asked for nothing.
  if (ifRange !== null && !/^"[^"]*"$/.test(ifRange.trim())) return null
  try {
    const read = await files.read(file, range, { ...options, ifMatch: ifRange?.trim() })
    return ifRangeHolds(ifRange, read.entry.etag) ? read : null
  } catch (error) {
    if (ifRange !== null && error instanceof StoreError && error.code === 'changed') return null
    throw error
  }
}

function rangeResponse({ entry, offset, length, body }: StoreRead, range: ByteRange): Response {
  if (!isSatisfiable(range, entry.size))
    throw new Problem(
      'range-not-satisfiable',
      `The range lies beyond the file, which has ${entry.size} bytes; ask for a range inside it.`,
      { headers: { 'Content-Range': `bytes */${entry.size}` } },
    )
  // The last n bytes of an empty file: satisfiable by the letter, but no Content-Range can tell of no bytes.
  if (length === 0) return wholeResponse({ entry, offset, length, body })
  const headers = {
    ...headersOf(entry),
    'Content-Length': String(length),
    'Content-Range': `bytes ${offset}-${offset + length - 1}/${entry.size}`,
  }
  return bytesResponse(body, headers, 206)
}

function wholeResponse({ entry, length, body }: StoreRead): Response {
  return bytesResponse(body, { ...headersOf(entry), 'Content-Length': String(length) })
}

function headersOf({ key, etag }: Entry): Record<string, string> {
  return {
    'Content-Type': TYPES[kindOf(key)],
    'Content-Disposition': attachment(key),
    'Accept-Ranges': 'bytes',
    ...COMMON_HEADERS,
    ETag: etag,
  }
}
