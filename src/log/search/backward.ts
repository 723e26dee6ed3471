import type { Series } from '../text/series.ts'
import type { Scanner } from './scanner.ts'

/** What of a chunk may belong to the record before it without a second read. */
export const SLACK = 64 * 1024

/**
 * Reads a log backwards in chunks. While one is looked at, the one before it is already being read: on a disk beside
 * the event loop, on a bucket over the network. Both lie in memory that is used again and again: a scanner's, where
 * there is one.
 */
export class Backward {
  readonly #series: Series
  readonly #lo: number
  /** How large a chunk becomes. */
  readonly most: number
  readonly #fresh: () => Uint8Array<ArrayBuffer>
  #step: number
  #spare: Uint8Array<ArrayBuffer> | null = null
  #used: Uint8Array<ArrayBuffer> | null = null
  #ahead: { from: number; to: number; bytes: Promise<Uint8Array>; into: Uint8Array<ArrayBuffer> } | null =
    null

  /** The first chunk has `step` bytes, each one after it `most`. */
  constructor(series: Series, lo: number, step: number, most: number, scanner: Scanner | null) {
    const chunks = scanner?.chunks.slice()
    this.#fresh = () => chunks?.pop() ?? new Uint8Array(most + SLACK)
    this.#series = series
    this.#lo = lo
    this.#step = step
    this.most = most
  }

  /**
   * The bytes that end at `at`, and where they start. They are valid until the next call. `longer` asks for so many,
   * because a record did not fit. `kept` is what was read of [at, …) minus what is asked for again: its first bytes,
   * up to `at`. With `more`, it goes on to read.
   */
  async chunk(
    at: number,
    longer: number | null,
    kept: { from: number; bytes: Uint8Array } | null,
    more: boolean,
  ): Promise<{ from: number; bytes: Uint8Array }> {
    const ahead = this.#ahead
    this.#ahead = null
    if (ahead && longer === null && kept && kept.from === ahead.to && at - kept.from <= SLACK) {
      const read = await ahead.bytes
      const { into } = ahead
      if (read.byteOffset !== into.byteOffset || read.buffer !== into.buffer) into.set(read)
      into.set(kept.bytes.subarray(0, at - kept.from), read.length)
      this.#spare = this.#used
      this.#used = into
      if (more) await this.#readAhead(ahead.from)
      return { from: ahead.from, bytes: into.subarray(0, at - ahead.from) }
    }
    // Not to be given up while it is being read: its memory is in use until then.
    if (ahead) await ahead.bytes.catch(() => {})
    this.#spare ??= ahead?.into ?? null
    const length = longer ?? this.#step
    const from = await this.#series.floor(Math.max(this.#lo, at - length))
    if (longer !== null || at - from < length) return { from, bytes: await this.#series.read(from, at) }
    this.#step = this.most
    const into = this.#spare ?? this.#fresh()
    this.#spare = this.#used
    this.#used = into
    const bytes = await this.#series.readInto(from, at, into)
    if (more) await this.#readAhead(from)
    return { from, bytes }
  }

  /** Waits for what is under way, so that nothing reads on after the scan. */
  async end(): Promise<void> {
    await this.#ahead?.bytes.catch(() => {})
  }

  async #readAhead(to: number): Promise<void> {
    if (to <= this.#lo || this.#series.isStart(to)) return
    // A compressed file would be decompressed for it, and perhaps for nothing.
    const from = this.#series.floorNow(Math.max(this.#lo, to - this.most))
    if (from === null || from >= to) return
    const into = this.#spare ?? this.#fresh()
    this.#spare = null
    const bytes = this.#series.readInto(from, to, into)
    bytes.catch(() => {})
    this.#ahead = { from, to, bytes, into }
  }
}
