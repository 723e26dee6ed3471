import { pipeline, Readable, type Transform } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import * as zlib from 'node:zlib'
import type { Codec } from './gzip.ts'

/** Not in the types of Node 20: it came with 22.15. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform }

/** Zstd by the runtime's zlib; undefined where that does not know it. Frames in a row are one text. */
export const zstd: Codec | undefined =
  createZstdDecompress && ((source) => decompressed(source, createZstdDecompress()))

function decompressed(source: ReadableStream<Uint8Array>, transform: Transform): ReadableStream<Uint8Array> {
  // The iterator tells how it ended; the callback is only there because a pipeline wants one.
  pipeline(Readable.fromWeb(source as NodeStream<Uint8Array>), transform, () => {})
  const chunks = transform[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  // Not Readable.toWeb: that takes in thousands of chunks ahead of its reader.
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
