import { CodecError } from './error.ts'

/** What a decoder understands. `deflate` is the raw stream inside a zip member. */
export type Encoding = 'gzip' | 'zstd' | 'deflate'

/** Opens the compressed bytes from their start. A decoder may open them twice. */
export type Source = () => AsyncIterable<Uint8Array>

/** Compressed bytes to text, in pieces. Throws a CodecError after the last readable piece when they are broken. */
export type Decoder = (open: Source) => AsyncGenerator<Uint8Array, void, undefined>

/** The decoders of a runtime; null where one is not available. */
export type Decoders = Record<Encoding, Decoder | null>

/** The error for bytes that are damaged, cut short or not what they claim to be. */
export function broken(reason: string, cause?: unknown): CodecError {
  const message = `Cannot read the archive: ${reason}. Download it to repair it.`
  return new CodecError('bad-archive', message, { cause })
}

/** Tells an error of the source apart from an error of the decoder. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super('The source failed', { cause })
  }
}

/** The chunks of a source; its errors arrive as SourceError. */
export async function* chunksOf(open: Source): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of open()) if (chunk.length > 0) yield chunk
  } catch (cause) {
    throw new SourceError(cause)
  }
}
