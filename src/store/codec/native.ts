import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { broken, chunksOf, type Decoder, type Decoders, SourceError } from './decoder.ts'
import { decoders as portable } from './portable.ts'

/** Text per piece: half of it takes a fifth longer, a quarter three quarters longer; twice as much is no faster. */
const PIECE = 512 * 1024
/** How many pieces may wait for the consumer: its work and the decompression run at the same time. */
const AHEAD = 2

/** Not in the types of Node 20; added in 22.15. */
const { createZstdDecompress } = zlib as {
  createZstdDecompress?: (options: zlib.ZlibOptions) => Transform
}

/**
 * The runtime's zlib, off the event loop: five times as fast as any JavaScript, and 60,000 members of one line each
 * take 20 ms. It treats garbage after the last member as an error, and drops the text of the call in which it finds
 * it; gzip(1) does neither. So when it fails, the portable decoder reads the archive again and decides.
 */
const gunzip: Decoder = async function* (open) {
  let given = 0
  try {
    for await (const piece of through(zlib.createGunzip(OPTIONS), open)) {
      given += piece.length
      yield piece
    }
    return
  } catch (error) {
    if (error instanceof SourceError) throw error
  }
  for await (const piece of portable.gzip!(open)) {
    const known = Math.min(given, piece.length)
    given -= known
    if (known < piece.length) yield piece.subarray(known)
  }
}

const OPTIONS = { chunkSize: PIECE, readableHighWaterMark: 0 }

/** Decoders that run in the threads of Node, Bun and Deno. */
export const decoders: Decoders = {
  gzip: gunzip,
  zstd: createZstdDecompress ? plainly(() => createZstdDecompress(OPTIONS)) : null,
  deflate: plainly(() => zlib.createInflateRaw(OPTIONS)),
}

/** The text of a gzip member that has this many bytes; null if it is damaged or longer. In one call and one buffer. */
export function inflateMember(packed: Uint8Array, length: number): Promise<Uint8Array | null> {
  const options = { chunkSize: Math.max(64, length), maxOutputLength: Math.max(1, length) }
  return new Promise((resolve) => {
    zlib.gunzip(packed, options, (error, text) =>
      resolve(error ? null : new Uint8Array(text.buffer, text.byteOffset, text.length)),
    )
  })
}

function plainly(create: () => Transform): Decoder {
  return async function* (open) {
    try {
      yield* through(create(), open)
    } catch (error) {
      if (error instanceof SourceError) throw error
      throw broken('its data is damaged or ends early', error)
    }
  }
}

/**
 * The output of a transform, piece by piece and only a few pieces ahead of its consumer. The transform's own buffer holds
 * nothing (high-water mark 0), because its contents are lost when the transform fails.
 */
async function* through(transform: Transform, open: () => AsyncIterable<Uint8Array>) {
  const pieces: Uint8Array[] = []
  let failure: unknown = null
  let ended = false
  let wake = () => {}
  let written = (_more: boolean) => {}
  const fail = (error: unknown) => {
    failure ??= error
    // A transform that fails never calls back for the chunk it failed on.
    written(false)
    wake()
  }
  transform.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    if (pieces.length >= AHEAD) transform.pause()
    wake()
  })
  transform.on('error', fail)
  transform.on('end', () => {
    ended = true
    wake()
  })
  transform.pause()
  const write = (chunk: Uint8Array) =>
    new Promise<boolean>((resolve) => {
      written = resolve
      transform.write(chunk, (error) => resolve(!error))
    })
  const feed = async () => {
    for await (const chunk of chunksOf(open)) if (failure || !(await write(chunk))) return
    transform.end()
  }
  const fed = feed().catch(fail)
  try {
    for (;;) {
      const piece = pieces.shift()
      if (piece) {
        transform.resume()
        yield piece
      } else if (failure) throw failure
      else if (ended) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
          transform.resume()
        })
    }
  } finally {
    transform.destroy()
    written(false)
    await fed
  }
}
