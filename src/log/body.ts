import type { Bytes } from '../store/store.ts'
import type { Series } from './series.ts'

/** Up to here a part of a log is given as one buffer. */
const AT_ONCE = 256 * 1024
/** More goes out in slices, read only as fast as they are taken. */
const SLICE = 512 * 1024

/** The bytes [from, to) of a log, as a buffer or as a stream. A stream that can't go on errors; it never just ends. */
export async function bytesOf(series: Series, from: number, to: number): Promise<Bytes> {
  if (to - from <= AT_ONCE) return (await series.read(from, to)) as Uint8Array<ArrayBuffer>
  let at = from
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await series.read(at, Math.min(at + SLICE, to))
        at += bytes.length
        controller.enqueue(bytes)
        if (at >= to) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
