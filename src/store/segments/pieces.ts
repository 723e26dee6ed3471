import { each } from '../../limits/each.ts'
import type { Piece } from '../../segment/cover.ts'
import { type ByteRange, clampRange, MissingBytes, type StoreRead } from '../store.ts'
import { entryOf } from './listing.ts'
import type { Life, Lives } from './lives.ts'
import type { SegmentTexts } from './texts.ts'

/** Ranges up to this size are one array, with their segments fetched in parallel. */
const WHOLE = 1024 * 1024
/** How far ahead of a stream its segments are located. */
const WINDOW = 256 * 1024 * 1024
const AT_ONCE = 6

/** Where the bytes of shipped logs are found. */
export interface Shipped {
  lives: Lives
  texts: SegmentTexts
}

/** A life of a log, under the name of a file. */
export interface LifeFile {
  key: string
  log: string
  life: Life
}

/** Bytes of a life. A suffix that reaches into a hole is cut there; any other range that needs it is an error. */
export async function readLife(
  shipped: Shipped,
  { key, log, life }: LifeFile,
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
  const source = new PieceSource(shipped, place, { pieces, from: offset, to }, signal)
  const body = length <= WHOLE ? await source.all() : source.stream()
  return { entry, offset, length, body, ...(missing && { missing }) }
}

/** The bytes of a life from one place to another, segment by segment. */
class PieceSource {
  readonly #shipped: Shipped
  readonly #place: { key: string; log: string; life: number; size: number }
  readonly #signal: AbortSignal | undefined
  readonly #to: number
  #pieces: Piece[]
  #at: number
  #ahead: Promise<Uint8Array> | null = null

  constructor(
    shipped: Shipped,
    place: { key: string; log: string; life: number; size: number },
    { pieces, from, to }: { pieces: Piece[]; from: number; to: number },
    signal: AbortSignal | undefined,
  ) {
    this.#shipped = shipped
    this.#place = place
    this.#signal = signal
    this.#pieces = pieces
    this.#at = from
    this.#to = to
  }

  /** All of it, fetched in parallel. */
  async all(): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(this.#to - this.#at)
    await each(this.#pieces, AT_ONCE, async (piece) => {
      bytes.set(await this.#read(piece), piece.from - this.#at)
    })
    return bytes
  }

  /** One segment after the other, the next one fetched ahead. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await (this.#ahead ?? this.#next())
          this.#ahead = null
          // Texts that are cached or fetched for several clients outlive this client.
          this.#signal?.throwIfAborted()
          this.#at += piece.length
          controller.enqueue(piece)
          if (this.#at >= this.#to) return controller.close()
          this.#ahead = this.#next()
          this.#ahead.catch(() => {})
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #next(): Promise<Uint8Array> {
    if (this.#pieces.length === 0) {
      const range = [this.#at, Math.min(this.#to, this.#at + WINDOW)] as const
      const { pieces, missing } = await this.#shipped.lives.locate(this.#place, range, {
        signal: this.#signal,
      })
      if (missing && pieces.length === 0) throw new MissingBytes(this.#place.key, missing)
      this.#pieces = pieces
    }
    return this.#read(this.#pieces.shift()!)
  }

  async #read({ segment, from, to }: Piece): Promise<Uint8Array> {
    const { log, life, key } = this.#place
    const { lives, texts } = this.#shipped
    const text = await texts.read(log, life, segment, this.#signal)
    if (text) return text.subarray(from - segment.start, to - segment.start)
    // Gone since it was listed. Another segment may hold the same bytes.
    lives.forget(log, life, segment)
    const { pieces, missing } = await lives.locate(this.#place, [from, to], { signal: this.#signal })
    if (missing) throw new MissingBytes(key, missing)
    const bytes = new Uint8Array(to - from)
    for (const piece of pieces) bytes.set(await this.#read(piece), piece.from - from)
    return bytes
  }
}
