import type { Bytes } from '../store/store.ts'
import type { LogError } from './error.ts'
import { lastStart, nextStart } from './lines.ts'
import type { LineFormat } from './record.ts'
import type { Series } from './series.ts'
import { nextTurn } from './turn.ts'

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
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const group: Uint8Array[] = []
        let size = 0
        while (next < pieces.length && (size === 0 || size + pieces[next]!.length <= SLICE)) {
          group.push(pieces[next]!)
          size += pieces[next++]!.length
        }
        if (size > 0) controller.enqueue(group.length === 1 ? group[0]! : joined(group, size))
        if (next < pieces.length) return
        if (broken) controller.error(broken)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** So much is rendered between two looks at the clock: 8,000 records if they are as short as can be. */
const RENDERED = 16 * 1024
/** Rendering lets others go first after so many milliseconds. */
const TURN = 8

/** Records that were found, each rendered, as a body that ends as `bytesOf` does. Others have their turn meanwhile. */
export function renderedBody(
  pieces: readonly Uint8Array[],
  broken: LogError | null,
  format: LineFormat,
  render: (bytes: Uint8Array) => Uint8Array<ArrayBuffer>,
): Bytes {
  const slices = recordSlices(pieces, format)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= RENDERED && !broken) {
    const all = [...slices].map(render)
    return joined(all, totalOf(all))
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await nextTurn()
        const start = Date.now()
        const group: Uint8Array[] = []
        let slice = slices.next()
        for (; !slice.done; slice = slices.next()) {
          group.push(render(slice.value))
          if (Date.now() - start >= TURN || group.length >= SLICE / RENDERED) break
        }
        if (group.length > 0) controller.enqueue(joined(group, totalOf(group)))
        if (!slice.done) return
        if (broken) controller.error(broken)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * The records of [from, to), which begins and ends between two, each rendered: read only as fast as they are taken,
 * so that many of them cost no more memory than a few. A record longer than `longest` is taken apart.
 */
export function recordsBody(
  series: Series,
  from: number,
  to: number,
  format: LineFormat,
  render: (bytes: Uint8Array) => Uint8Array<ArrayBuffer>,
  longest: number,
): Bytes {
  const into = new Uint8Array(SLICE)
  let at = from
  let length = SLICE
  // Most records are rendered so fast that larger parts cost no turn, and need not be joined.
  let unit = RENDERED
  let slices: Iterator<Uint8Array, void> = [][Symbol.iterator]()
  /** The next whole records. They lie in memory that the next call uses again. */
  const fill = async () => {
    for (;;) {
      const end = Math.min(at + length, to)
      const bytes = length === SLICE ? await series.readInto(at, end, into) : await series.read(at, end)
      const last = end === to ? bytes.length : lastStart(format, bytes, 0, bytes.length)
      if (last <= 0 && length < longest) {
        length *= 4
        continue
      }
      const whole = last > 0 ? bytes.subarray(0, last) : bytes
      at += whole.length
      length = SLICE
      slices = recordSlices([whole], format, () => unit)
      return
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await nextTurn()
        const start = Date.now()
        const group: Uint8Array[] = []
        let rendered = 0
        do {
          const slice = slices.next()
          if (!slice.done) {
            const before = Date.now()
            group.push(render(slice.value))
            rendered += slice.value.length
            unit = Date.now() - before <= TURN / 4 ? Math.min(unit * 2, SLICE / 4) : RENDERED
          } else if (at < to) await fill()
          else break
        } while (group.length === 0 || (rendered < SLICE / 4 && Date.now() - start < TURN))
        if (group.length > 0)
          controller.enqueue(group.length === 1 ? group[0]! : joined(group, totalOf(group)))
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Pieces cut where records start, into parts of about `unit` bytes; a longer record stays whole. */
function* recordSlices(
  pieces: readonly Uint8Array[],
  format: LineFormat,
  unit = () => RENDERED,
): Generator<Uint8Array, void> {
  for (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      const cut = at + unit()
      const next = cut < piece.length ? nextStart(format, piece, cut, piece.length) : -1
      const end = next < 0 ? piece.length : next
      yield piece.subarray(at, end)
      at = end
    }
}

function totalOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

/** Some pieces as one. */
export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
