import { crc32 } from './crc32.ts'
import { broken, type Source } from './decoder.ts'
import { decompress } from './decompress.ts'
import { CodecError } from './error.ts'

type ReadAt = (from: number, to: number) => Promise<Uint8Array>
type ZipMember = Awaited<ReturnType<typeof findZipMember>>

/** The end record and the longest comment after it: APPNOTE 4.3.16. */
const END = 22
const MAX_END = END + 0xffff

/**
 * Finds the one member of a zip file, as Cassandra and others write them: where its bytes are, how they are compressed,
 * and the size of its text. Several members, an encrypted one or a
 * method other than deflate are a CodecError `not-viewable`.
 */
export async function findZipMember(read: ReadAt, size: number) {
  const tail = await read(Math.max(0, size - MAX_END), size)
  const end = endRecord(tail)
  if (end === null) throw broken('its directory is missing')
  const view = viewOf(tail, end)
  if (view.getUint16(10, true) !== 1) throw notViewable('holds several files')
  const at = view.getUint32(16, true)
  if (at === 0xffffffff) throw notViewable('is in the zip64 format')
  const directory = viewOf(await read(at, Math.min(size, at + 46)), 0)
  if (directory.byteLength < 46 || directory.getUint32(0, true) !== 0x02014b50)
    throw broken('its directory is damaged')
  const method = directory.getUint16(10, true)
  if (directory.getUint16(8, true) & 1) throw notViewable('is encrypted')
  if (method !== 0 && method !== 8) throw notViewable('uses a compression that is not deflate')
  const length = directory.getUint32(20, true)
  const text = directory.getUint32(24, true)
  const start = directory.getUint32(42, true)
  if (length === 0xffffffff || text === 0xffffffff) throw notViewable('is in the zip64 format')
  const local = viewOf(await read(start, Math.min(size, start + 30)), 0)
  if (local.byteLength < 30 || local.getUint32(0, true) !== 0x04034b50) throw broken('its header is damaged')
  // The lengths of name and extra field may differ from the directory's.
  const offset = start + 30 + local.getUint16(26, true) + local.getUint16(28, true)
  if (offset + length > size) throw broken('it ends early')
  return { offset, length, size: text, crc32: directory.getUint32(16, true), stored: method === 0 }
}

/** The text of a zip's member; `open` returns exactly its bytes. */
export async function* unzip(open: Source, member: ZipMember, signal?: AbortSignal) {
  let sum = 0
  let length = 0
  for await (const piece of member.stored ? open() : decompress(open, 'deflate', signal)) {
    signal?.throwIfAborted()
    sum = crc32(piece, sum)
    length += piece.length
    yield piece
  }
  if (sum !== member.crc32 || length !== member.size) throw broken('a checksum does not match')
}

/** Where the end record begins: the last one whose comment reaches to the end of the file. */
function endRecord(tail: Uint8Array): number | null {
  for (let at = tail.length - END; at >= 0; at--) {
    const view = viewOf(tail, at)
    if (view.getUint32(0, true) === 0x06054b50 && at + END + view.getUint16(20, true) === tail.length)
      return at
  }
  return null
}

function viewOf(bytes: Uint8Array, at: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at)
}

function notViewable(what: string): CodecError {
  return new CodecError('not-viewable', `This zip ${what}. Download it and unpack it yourself.`)
}
