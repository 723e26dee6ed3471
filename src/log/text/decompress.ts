import { decompress, type Source } from '../../store/codec/decompress.ts'
import { CodecError } from '../../store/codec/error.ts'
import type { Compression } from '../../store/codec/kind.ts'
import { type Charset, toUtf8 } from '../../store/codec/transcode.ts'
import { findZipMember, unzip } from '../../store/codec/zip.ts'
import { LogError } from '../error.ts'

export interface ArchiveFile {
  name: string
  size: number
  read(from: number, to: number): Promise<Uint8Array>
}

/** How much is read at a time, at first and later, so that a head costs little and a pass takes few round trips. */
const FIRST_READ = 256 * 1024
const READ = 2 * 1024 * 1024
/** How much of the first read is decompressed at first: mostly only the head is wanted. */
const FIRST_PIECE = 16 * 1024

/** The text of a file that is compressed, or not UTF-8, in pieces. What the codec cannot read is a LogError of the same code. */
export async function* decompressLog(file: ArchiveFile, kind: Compression | Charset, signal?: AbortSignal) {
  try {
    if (kind === 'latin1' || kind === 'utf-16le' || kind === 'utf-16be')
      yield* toUtf8(bytesOf(file, 0, file.size)(), kind)
    else if (kind === 'gzip' || kind === 'zstd') yield* decompress(bytesOf(file, 0, file.size), kind, signal)
    else if (kind === 'zip') {
      const member = await findZipMember((from, to) => file.read(from, to), file.size)
      yield* unzip(bytesOf(file, member.offset, member.offset + member.length), member, signal)
    } else
      throw new CodecError(
        'not-viewable',
        `This file is compressed with ${kind}. Download it and unpack it yourself.`,
      )
  } catch (error) {
    if (error instanceof CodecError)
      throw new LogError(error.code, `${error.message} ${downloadOf(file.name)}`, { cause: error.cause })
    throw error
  }
}

/** In pieces, each read to its end: one stream would hold a connection open until the next read, which may never come. */
function bytesOf(file: ArchiveFile, start: number, end: number): Source {
  return async function* () {
    let length = FIRST_READ
    for (let at = start; at < end; ) {
      const bytes = await file.read(at, Math.min(end, at + length))
      if (bytes.length === 0) return
      if (at === start) yield bytes.subarray(0, FIRST_PIECE)
      yield at === start ? bytes.subarray(FIRST_PIECE) : bytes
      at += bytes.length
      length = READ
    }
  }
}

/** Where the stored bytes are. */
export function downloadOf(name: string): string {
  return `The stored file is at /api/v1/log/download?file=${encodeURIComponent(name)}.`
}
