import type { Bytes } from '../store/store.ts'
import type { LogError } from './error.ts'
import type { Series } from './series.ts'

/** Up to here a part of a log is given as one buffer. */
export const AT_ONCE = 256 * 1024
/** More goes out in slices, read only as fast as they are taken. */
const SLICE = 512 * 1024

/**
 * The bytes [from, to) of a log, as a buffer or as a stream. A stream that can't go on errors; it never just ends,
 * and so does one that ends where a broken archive does.
 */
export async function bytesOf(series: Series, from: number, to: number): Promise<Bytes> {
  if (to - from <= AT_ONCE && !series.broken())
    return (await series.read(from, to)) as Uint8Array<ArrayBuffer>
  await series.onward(from)
  let at = from
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await series.read(at, Math.min(at + SLICE, to))
        at += bytes.length
        if (bytes.length > 0) controller.enqueue(bytes)
        if (at < to) return
        const broken = series.broken()
        if (broken) controller.error(broken)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Records that were found, as a body that ends as `bytesOf` does. */
export function piecesBody(pieces: readonly Uint8Array[], broken: LogError | null): Bytes {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= AT_ONCE && !broken) return joined(pieces, length)
  let next = 0
  // What of pieces[next] is sent: a search with many hits gives pieces of many megabytes.
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const group: Uint8Array[] = []
        let room = SLICE
        while (next < pieces.length && room > 0) {
          const part = pieces[next]!.subarray(sent, sent + room)
          group.push(part)
          room -= part.length
          sent += part.length
          if (sent < pieces[next]!.length) break
          next++
          sent = 0
        }
        if (group.length > 0) controller.enqueue(group.length === 1 ? group[0]! : joined(group, SLICE - room))
        if (next < pieces.length) return
        if (broken) controller.error(broken)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Some pieces as one. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
