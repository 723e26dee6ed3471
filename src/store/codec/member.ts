import { inflateMember } from '#decoders'
import { broken } from './decoder.ts'

/** The shortest member: a header of ten bytes, an empty block, and the trailer. */
const SHORTEST = 20
const TRAILER = 8

/**
 * The text of a single gzip member of which length and checksum are known. Throws a CodecError if it has another. The
 * decoder compares the text with the member's own checksum and length, so only these are compared here: computing a
 * checksum of the text once more takes longer than decompressing it.
 */
export async function inflate(
  packed: Uint8Array,
  { length, crc }: { length: number; crc: number },
): Promise<Uint8Array> {
  if (packed.length < SHORTEST) throw broken('it ends early')
  const trailer = new DataView(packed.buffer, packed.byteOffset + packed.length - TRAILER, TRAILER)
  // If the last member is as long as the whole text, it is the only one.
  if (trailer.getUint32(0, true) !== crc || trailer.getUint32(4, true) !== length)
    throw broken('it holds another text')
  const text = await inflateMember(packed, length)
  if (text?.length !== length) throw broken('it holds another text')
  return text
}
