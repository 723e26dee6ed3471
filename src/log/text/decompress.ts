import { CodecError } from '../../codec/error.ts'
import { type DecompressOptions, decompress } from '../../codec/gzip.ts'
import type { Kind } from '../../codec/kind.ts'
import { LogError } from '../error.ts'

/** The text of a compressed file, in pieces. What the codec cannot read is a LogError of the same code. */
export async function* decompressLog(
  source: ReadableStream<Uint8Array>,
  kind: Exclude<Kind, 'plain'>,
  options: DecompressOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* decompress(source, kind, options)
  } catch (error) {
    if (error instanceof CodecError) throw new LogError(error.code, error.message, { cause: error.cause })
    throw error
  }
}
