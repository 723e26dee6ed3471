import { gunzipSync } from 'node:zlib'

/** `DecompressionStream` in one piece: that of the runtime works in another thread, whose time no seed decides. */
export class SynchronousDecompression extends TransformStream<Uint8Array, Uint8Array> {
  constructor(format: string) {
    if (format !== 'gzip') throw new TypeError(`Unsupported compression format: ${format}`)
    const pieces: Uint8Array[] = []
    super({
      transform: (piece) => void pieces.push(piece),
      flush(controller) {
        try {
          controller.enqueue(new Uint8Array(gunzipSync(Buffer.concat(pieces))))
        } catch (cause) {
          controller.error(new TypeError('The compressed data was not valid', { cause }))
        }
      },
    })
  }
}
