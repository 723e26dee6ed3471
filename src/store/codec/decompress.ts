import { decoders } from '#decoders'
import { type Encoding, type Source, SourceError } from './decoder.ts'
import { CodecError } from './error.ts'

export type { Encoding, Source } from './decoder.ts'

/**
 * The text of compressed bytes, in pieces of a few hundred KiB at most and only as fast as they are taken. Members
 * and frames in a row are one text, checksums are checked, and garbage after the last gzip member is ignored, as
 * gzip(1) does. A damaged or truncated archive yields what is readable, then throws a CodecError `bad-archive`; errors of
 * the source pass through. `open` may be called twice.
 */
export async function* decompress(open: Source, encoding: Encoding, signal?: AbortSignal) {
  const decoder = decoders[encoding]
  if (decoder === null)
    throw new CodecError(
      'unsupported',
      `This runtime cannot decompress ${encoding}. Download the file and decompress it yourself.`,
    )
  signal?.throwIfAborted()
  try {
    for await (const piece of decoder(open)) {
      signal?.throwIfAborted()
      yield piece
    }
  } catch (error) {
    throw error instanceof SourceError ? error.cause : error
  }
}
