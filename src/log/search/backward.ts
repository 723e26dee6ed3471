import type { Series } from '../text/series.ts'
import type { Scanner } from './scanner.ts'

/** How much of a chunk may belong to the record before it without a second read. */
export const SLACK = 64 * 1024

export interface BackwardOptions {
  series: Series
  /** Nothing before it is read. */
  lo: number
  /** The length of the first chunk, and of each one after it. */
  step: number
  largest: number
  /** Where there is one, chunks lie in its memory. */
  scanner: Scanner | null
}

/** A chunk that is being read. */
interface Ahead {
  from: number
  to: number
  bytes: Promise<Uint8Array>
  buffer: Uint8Array<ArrayBuffer>
}

/**
 * Reads a log backwards in chunks. While one is examined, the one before it is already being read: on a disk off the
 * event loop, on a bucket over the network. The memory of both is reused again and again.
 */
export class Backward {
  readonly largest: number
  readonly #series: Series
  readonly #lo: number
  readonly #fresh: () => Uint8Array<ArrayBuffer>
  #step: number
  #spare: Uint8Array<ArrayBuffer> | null = null
  #used: Uint8Array<ArrayBuffer> | null = null
  #ahead: Ahead | null = null

  constructor({ series, lo, step, largest, scanner }: BackwardOptions) {
    const chunks = scanner?.chunks.slice()
    this.#fresh = () => chunks?.pop() ?? new Uint8Array(largest + SLACK)
    this.#series = series
    this.#lo = lo
    this.#step = step
    this.largest = largest
  }

  /**
   * The bytes that end at `at`, and where they start; valid until the next call. `longer` asks for a longer chunk,
   * because a record did not fit. `kept` is the chunk read before: its first bytes, up to `at`, are used again. With
   * `readAhead`, the next chunk is read meanwhile.
   */
  async chunk(
    at: number,
    {
      longer,
      kept,
      readAhead,
    }: { longer: number | null; kept: { from: number; bytes: Uint8Array } | null; readAhead: boolean },
  ): Promise<{ from: number; bytes: Uint8Array }> {
    const ahead = this.#ahead
    this.#ahead = null
    if (ahead && longer === null && kept && kept.from === ahead.to && at - kept.from <= SLACK) {
      const read = await ahead.bytes
      const { buffer } = ahead
      if (read.byteOffset !== buffer.byteOffset || read.buffer !== buffer.buffer) buffer.set(read)
      buffer.set(kept.bytes.subarray(0, at - kept.from), read.length)
      this.#spare = this.#used
      this.#used = buffer
      if (readAhead) await this.#readAhead(ahead.from)
      return { from: ahead.from, bytes: buffer.subarray(0, at - ahead.from) }
    }
    // Its memory is in use until the read is done, so it cannot just be dropped.
    if (ahead) await ahead.bytes.catch(() => {})
    this.#spare ??= ahead?.buffer ?? null
    const length = longer ?? this.#step
    // An archive is not decompressed before everything newer was examined.
    const { knownStart } = this.#series
    const isBefore = longer === null && at > knownStart
    const lowest = isBefore ? Math.max(this.#lo, knownStart) : this.#lo
    const from = await this.#series.floor(Math.max(lowest, at - length))
    if (longer !== null || at - from < length) return { from, bytes: await this.#series.read(from, at) }
    this.#step = this.largest
    const buffer = this.#spare ?? this.#fresh()
    this.#spare = this.#used
    this.#used = buffer
    const bytes = await this.#series.readInto(from, at, buffer)
    if (readAhead) await this.#readAhead(from)
    return { from, bytes }
  }

  /** Waits for the read that is under way, so that nothing is read after the scan. */
  async end(): Promise<void> {
    await this.#ahead?.bytes.catch(() => {})
  }

  async #readAhead(to: number): Promise<void> {
    if (to <= this.#lo || this.#series.isStart(to)) return
    // A compressed file would have to be decompressed, perhaps for nothing.
    const from = this.#series.floorNow(Math.max(this.#lo, to - this.largest))
    if (from === null || from >= to) return
    const buffer = this.#spare ?? this.#fresh()
    this.#spare = null
    const bytes = this.#series.readInto(from, to, buffer)
    bytes.catch(() => {})
    this.#ahead = { from, to, bytes, buffer }
  }
}
