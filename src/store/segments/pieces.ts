import { each } from '../../kit/limits/each.ts'
import type { Piece } from '../segment/cover.ts'
import { type ByteRange, clampRange, MissingBytes, type StoreRead } from '../store.ts'
import { entryOf } from './listing.ts'
import type { Life, Lives } from './lives.ts'
import type { SegmentTexts } from './texts.ts'

/** Ranges up to this size are one array, with their segments fetched in parallel. */
const WHOLE = 1024 * 1024
/** How far ahead of a stream its segments are located. */
const WINDOW = 256 * 1024 * 1024
const LISTS_AT_ONCE = 6

export interface Shipped {
  lives: Lives
  textOf: SegmentTexts
}

/** Bytes of a life. A suffix that reaches into a hole is cut there; any other range that needs it is an error. */
export async function readLife(
  shipped: Shipped,
  { key, log, life }: { key: string; log: string; life: Life },
  range: ByteRange | undefined,
  signal: AbortSignal | undefined,
): Promise<StoreRead> {
  const entry = entryOf(key, life)
  const wanted = clampRange(range, life.size)
  const to = wanted.offset + wanted.length
  const place = { key, log, life: life.life, size: life.size }
  const fromEnd = range === undefined || 'suffix' in range
  if (wanted.length === 0) return { entry, ...wanted, body: new Uint8Array(0) }
  const window = fromEnd ? to : Math.min(to, wanted.offset + WINDOW)
  const { pieces, missing } = await shipped.lives.locate(place, [wanted.offset, window], {
    last: fromEnd,
    signal,
  })
  if (missing && !(fromEnd && (missing.head || range !== undefined))) throw new MissingBytes(key, missing)
  const offset = missing ? Math.min(missing.to, to) : wanted.offset
  const length = to - offset
  const source = pieceSource(shipped, place, { pieces, from: offset, to }, signal)
  const body = length <= WHOLE ? await source.all() : source.stream()
  return { entry, offset, length, body, ...(missing && { missing }) }
}

/** The bytes of a life from one place to another, segment by segment. */
function pieceSource(
  { lives, textOf }: Shipped,
  place: { key: string; log: string; life: number; size: number },
  { from, to, ...located }: { pieces: Piece[]; from: number; to: number },
  signal: AbortSignal | undefined,
) {
  const { key, log, life } = place
  let { pieces } = located
  let at = from
  let ahead: Promise<Uint8Array> | null = null

  async function read({ segment, from, to }: Piece): Promise<Uint8Array> {
    const text = await textOf(log, life, segment, signal)
    if (text) return text.subarray(from - segment.start, to - segment.start)
    // Gone since it was listed. Another segment may hold the same bytes.
    lives.forget(log, life, segment)
    const { pieces, missing } = await lives.locate(place, [from, to], { signal })
    if (missing) throw new MissingBytes(key, missing)
    const bytes = new Uint8Array(to - from)
    for (const piece of pieces) bytes.set(await read(piece), piece.from - from)
    return bytes
  }
  async function next(): Promise<Uint8Array> {
    if (pieces.length === 0) {
      const found = await lives.locate(place, [at, Math.min(to, at + WINDOW)], { signal })
      if (found.missing && found.pieces.length === 0) throw new MissingBytes(key, found.missing)
      pieces = found.pieces
    }
    return read(pieces.shift()!)
  }
  async function all() {
    const bytes = new Uint8Array(to - from)
    await each(pieces, LISTS_AT_ONCE, async (piece) => {
      bytes.set(await read(piece), piece.from - from)
    })
    return bytes
  }
  /** One segment after the other, the next one fetched ahead. */
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>) {
    const piece = await (ahead ?? next())
    ahead = null
    // Texts that are cached or fetched for several clients outlive this client.
    signal?.throwIfAborted()
    at += piece.length
    controller.enqueue(piece)
    if (at >= to) return controller.close()
    ahead = next()
    ahead.catch(() => {})
  }
  return { all, stream: () => new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }) }
}
