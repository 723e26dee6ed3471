import { asOne, concat } from '../../kit/bytes.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import type { Lease, MemoryBudget } from '../../kit/limits/memory-budget.ts'
import { isCrowded, SliceMemory } from '../../kit/limits/slice-memory.ts'
import { SlicedStream, type Slices } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import { giveBack } from '../search/blocks.ts'
import { noMemory } from '../search/sink.ts'
import type { Series } from '../text/series.ts'

/** Up to this size, a part of a log is one buffer. */
export const BYTES_AT_ONCE = 256 * 1024
/** A larger part is sent in slices that are read only as fast as the client takes them. */
const SLICE = 512 * 1024

/**
 * The bytes [from, to) of a log, as a buffer or as a stream. A stream that cannot continue errors, even where a broken
 * archive ends; it never ends early.
 */
export async function bytesOf(
  series: Series,
  from: number,
  to: number,
  lease: Lease | null = null,
): Promise<Bytes> {
  const memory = new SliceMemory()
  const end = () => {
    memory.release()
    series.sent()
    lease?.release()
  }
  const fail = (error: unknown): never => {
    end()
    throw error
  }
  // Sending has no deadline, though choosing may have taken all the time there is: this must come before any read.
  await series.onward(from).catch(fail)
  if (to - from <= BYTES_AT_ONCE && !isCrowded(to - from) && !series.brokenIn(from, to))
    return series.read(from, to).finally(end) as Promise<Uint8Array<ArrayBuffer>>
  let at = from
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await series.read(at, Math.min(at + memory.take(SLICE), to)).catch(fail)
        at += bytes.length
        if (bytes.length > 0) controller.enqueue(bytes)
        if (at < to) return
        end()
        const broken = series.brokenIn(from, to)
        if (broken) controller.error(broken)
        else controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  lease?.tieTo(body)
  return body
}

/** Records that were found, as a body, which owns them: each is forgotten, and its memory released, when it was sent. */
export function piecesBody(pieces: Uint8Array[], memory: Lease | null, clock: Clock): Bytes {
  const length = lengthOf(pieces)
  if (length <= BYTES_AT_ONCE) {
    memory?.release()
    return concat(pieces)
  }
  const slices = new PieceSlices(pieces, memory, clock)
  memory?.tieTo(slices)
  return new SlicedStream(slices)
}

/** A text that was made, as a body. A long one holds memory for answers until its client has taken it. */
export function textBody(text: string, memory: MemoryBudget | undefined, clock: Clock): Bytes {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= BYTES_AT_ONCE || !memory) return bytes
  const lease = memory.lease(bytes.length)
  if (lease === null) throw noMemory()
  return piecesBody([bytes], lease, clock)
}

/** Pieces in slices: short ones joined, long ones as views. Each block is released when it has been sent. */
class PieceSlices implements Slices {
  readonly #pieces: (Uint8Array | undefined)[]
  #next = 0
  /** How much of the next piece has been returned. */
  #given = 0
  /** Bytes of the pieces that end with the slice that is being sent: until then, a whole block is in memory. */
  #ending = 0

  readonly #memory: Lease | null
  readonly #clock: Clock

  constructor(pieces: Uint8Array[], memory: Lease | null, clock: Clock) {
    this.#clock = clock
    this.#memory = memory
    this.#pieces = pieces
  }

  next(): Uint8Array | null {
    const piece = this.#pieces[this.#next]
    if (piece === undefined) {
      this.#memory?.release()
      return null
    }
    if (piece.length < SLICE) return this.#together()
    const slice = piece.subarray(this.#given, this.#given + SLICE)
    this.#given += slice.length
    this.#ending = 0
    if (this.#given === piece.length) {
      this.#ending = piece.length
      this.#pieces[this.#next++] = undefined
      this.#given = 0
    }
    return slice
  }

  release(slice: Uint8Array): void {
    this.#memory?.shrink(this.#ending)
    // Slices are sent in order: with the last one of a block, all of it has been sent.
    if (slice.byteOffset + slice.length === slice.buffer.byteLength) giveBack(slice, this.#clock)
  }

  cancel(): void {
    this.#memory?.release()
    this.#pieces.length = 0
  }

  #together(): Uint8Array {
    const group: Uint8Array[] = []
    let size = 0
    for (let piece = this.#pieces[this.#next]; piece; piece = this.#pieces[this.#next]) {
      if (size + piece.length > SLICE) break
      group.push(piece)
      size += piece.length
      this.#pieces[this.#next++] = undefined
    }
    this.#ending = size
    return asOne(group)
  }
}

const lengthOf = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, piece) => sum + piece.length, 0)
