import { BufferPool } from '../../kit/bytes.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { type Lease, retryForMemory } from '../../kit/limits/memory-budget.ts'
import { SliceMemory } from '../../kit/limits/slice-memory.ts'
import { TURN_MILLIS, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { SlicedStream, type Slices } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import type { LineFormat } from '../format/detect.ts'
import { lastStart } from '../format/lines.ts'
import { noMemory } from '../search/sink.ts'
import type { Series } from '../text/series.ts'
import type { NdjsonWriter } from './ndjson.ts'

/** Writes records in another form, into the given memory. */
export type Renderer = Pick<NdjsonWriter, 'into' | 'take' | 'written' | 'read' | 'left' | 'write'>

/** Bytes per read. */
const READ = 512 * 1024
/** Bytes per slice that is sent. */
const SLICE = 256 * 1024
/** With space for one more record, so that most logs never need more. */
const BUFFER = SLICE + 64 * 1024
/** Bytes rendered between two checks of the clock: up to 8,000 records. */
const RENDERED = 16 * 1024
/** Memory for slices; each is given back when it is sent. */
export const buffers = new BufferPool(BUFFER, 4)

/** Records that were found, each rendered, as a body, which owns them. It yields between slices. */
export function renderedBody(
  pieces: Uint8Array[],
  renderer: Renderer,
  memory: Lease | null,
  clock: Clock,
): Bytes {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length <= RENDERED) {
    renderer.into(new Uint8Array(2 * length))
    for (const piece of pieces) {
      renderer.read(piece, 0, piece.length)
      renderer.write(piece.length, Number.POSITIVE_INFINITY)
    }
    memory?.release()
    return renderer.take()
  }
  // Each is forgotten when it was read: the rest of an answer may wait for its client.
  const rest = pieces.reverse()
  let read = 0
  const source = () => {
    memory?.shrink(read)
    const piece = rest.pop()
    read = piece?.length ?? 0
    if (piece) return piece
    memory?.release()
    return null
  }
  return renderedStream(source, renderer, () => memory?.release(), clock)
}

/** A part of a log that begins and ends between two records. */
export interface RecordRange {
  series: Series
  from: number
  to: number
  format: LineFormat
  /** What sending it takes besides a slice. */
  memory: Lease | null
}

/**
 * The records of [from, to), which begins and ends between two, each rendered: read only as fast as they are taken,
 * so that many of them cost no more memory than a few. A record longer than `longest` is split. It ends as `bytesOf`
 * does where an archive ends early.
 */
export function recordsBody(range: RecordRange, renderer: Renderer, longest: number, clock: Clock): Bytes {
  const { series, to, format, memory: lease } = range
  const memory = new SliceMemory()
  let buffer: Uint8Array<ArrayBuffer> | null = null
  let at = range.from
  let length = 0
  let isOver = false
  const end = () => {
    isOver = true
    memory.release()
    series.sent()
    lease?.release()
  }
  /** What a long record takes: its bytes, and about as much for what is made of them. */
  let extra = 0
  const leased = async (bytes: number) => {
    lease?.shrink(extra)
    extra = 0
    if (!lease || bytes === 0) return
    if (!(await retryForMemory(clock, () => lease.grow(2 * bytes)))) throw noMemory()
    extra = 2 * bytes
  }
  const source = async () => {
    if (extra > 0) await leased(0)
    if (buffer === null) {
      // Only now, because nobody may ever read a body.
      buffer = new Uint8Array(memory.take(READ))
      length = buffer.length
      await series.onward(at)
      // Its client may have left meanwhile.
      if (isOver) series.sent()
    }
    while (at < to) {
      const until = Math.min(at + length, to)
      const bytes =
        length === buffer.length
          ? await series.read(at, until, { into: buffer })
          : await series.read(at, until)
      const last = until === to ? bytes.length : lastStart(format, bytes, 0, bytes.length)
      if (last <= 0 && length < longest) {
        length = Math.min(4 * length, longest)
        await leased(length)
        continue
      }
      const whole = last > 0 ? bytes.subarray(0, last) : bytes
      at += whole.length
      length = buffer.length
      return whole
    }
    end()
    const broken = series.brokenIn(range.from, to)
    if (broken) throw broken
    return null
  }
  const body = renderedStream(source, renderer, end, clock)
  // Not to the body: a server that sends the slices lets go of it.
  lease?.tieTo(source)
  return body
}

/** Records from a source, each rendered, as a body. `left` is called if its client disconnects before the end. */
export function renderedStream(source: NextBytes, renderer: Renderer, left: () => void, clock: Clock): Bytes {
  return new SlicedStream(new RenderedSlices(source, renderer, left, clock))
}

/** Returns whole records in order, then null. They may be in memory that the next call reuses. */
export type NextBytes = () => Uint8Array | null | Promise<Uint8Array | null>

class RenderedSlices implements Slices {
  readonly #source: NextBytes
  readonly #renderer: Renderer
  readonly #left: () => void
  readonly #clock: Clock
  #open = true
  /** The error that ended the source, reported after everything that was written. */
  #failure: unknown = null
  // Most records render so fast that more of them fit into the same turn.
  #unit = RENDERED
  /** When a slice is full, and what it takes of the memory for slices. */
  #full = SLICE
  readonly #slice = new SliceMemory()

  constructor(source: NextBytes, renderer: Renderer, left: () => void, clock: Clock) {
    this.#source = source
    this.#renderer = renderer
    this.#left = left
    this.#clock = clock
  }

  async next(): Promise<Uint8Array | null> {
    await yieldToEventLoop()
    // Whoever reads the stream asks for the next slice without releasing the one before.
    this.#slice.release()
    if (this.#failure !== null) this.#fail(this.#failure)
    if (!this.#open) return null
    const size = this.#slice.take(BUFFER)
    this.#full = Math.min(size, SLICE)
    this.#renderer.into(buffers.take())
    if (!(await this.#fill().catch((error) => this.#fail(error)))) this.#open = false
    const slice = this.#renderer.take()
    if (slice.length === 0) {
      this.release(slice)
      return null
    }
    if (size === BUFFER) return slice
    // In a crowd, only the bytes themselves are held until the client takes them.
    const copy = slice.slice()
    buffers.give(slice)
    return copy
  }

  /** Renders until a slice is full or it is time to yield. False when nothing is left. */
  async #fill(): Promise<boolean> {
    const renderer = this.#renderer
    const start = this.#clock.elapsed()
    let looked = start
    for (let count = this.#unit; ; ) {
      if (renderer.left === 0) {
        const bytes = await this.#more()
        if (bytes === null) return this.#failure !== null
        renderer.read(bytes, 0, bytes.length)
        continue
      }
      const before = renderer.left
      renderer.write(count, this.#full)
      count -= before - renderer.left
      if (renderer.written >= this.#full) return true
      if (count > 0) continue
      const now = this.#clock.elapsed()
      this.#unit = now - looked <= TURN_MILLIS / 4 ? Math.min(this.#unit * 2, SLICE / 2) : RENDERED
      if (now - start >= TURN_MILLIS) return true
      looked = now
      count = this.#unit
    }
  }

  /** What is to be rendered next. If that fails, what is already rendered is sent first. */
  async #more(): Promise<Uint8Array | null> {
    try {
      return await this.#source()
    } catch (error) {
      if (this.#renderer.written === 0) throw error
      this.#failure = error
      return null
    }
  }

  #fail(error: unknown): never {
    this.cancel()
    throw error
  }

  release(slice: Uint8Array): void {
    this.#slice.release()
    buffers.give(slice)
  }

  cancel(): void {
    this.#slice.release()
    this.#open = false
    this.#left()
  }
}
