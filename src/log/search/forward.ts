import type { Clock } from '../../limits/clock.ts'
import type { Lease } from '../../limits/memory-budget.ts'
import type { Series } from '../text/series.ts'
import { BLOCK, giveBack, takeBlock } from './blocks.ts'
import { FIRST_WINDOW, FREE_READS, type Reading, remoteChunk } from './reading.ts'

/** Part of a log that is being read, or has been. */
interface ReadAhead {
  from: number
  to: number
  bytes: Promise<Uint8Array>
  isDone: boolean
  /** How much of the memory budget it holds. */
  leased: number
}

/**
 * Reads a log forward, in order. While one part is examined, those after it are already being read: on a disk one, on
 * a bucket as many as it takes to keep the consumer busy. A consumer may go back to any place of its last read.
 */
export class Forward {
  readonly #series: Series
  readonly #hi: number
  readonly #length: number
  readonly #parallel: number
  readonly #clock: Clock
  readonly #lease: Lease | null
  readonly #ended = new AbortController()
  #window: number
  #blocks: ReadAhead[] = []
  #long: Uint8Array<ArrayBuffer> | null = null
  /** When the last read has ended. */
  #reading: Promise<void> = Promise.resolve()
  /** Where a read begins that continues the last one; null before the first. */
  #expected: { from: number; to: number } | null = null

  /** Nothing from `hi` on is read. */
  constructor(series: Series, hi: number, reading: Reading, lease: Lease | null) {
    const { chunk, clock, parallel = 1 } = reading
    this.#series = series
    this.#hi = hi
    this.#parallel = parallel
    this.#clock = clock
    this.#length = parallel > 1 ? remoteChunk(reading) : chunk
    this.#window = Math.min(parallel, FIRST_WINDOW)
    this.#lease = lease
  }

  /** The bytes [from, to), valid until the next call. */
  read(from: number, to: number): Promise<Uint8Array> {
    const bytes = this.#read(from, to)
    const ended = () => {}
    this.#reading = bytes.then(ended, ended)
    return bytes
  }

  async #read(from: number, to: number): Promise<Uint8Array> {
    const isNext = this.#expected !== null && from >= this.#expected.from && from <= this.#expected.to
    this.#expected = { from, to }
    if (!isNext) this.#forget(Number.POSITIVE_INFINITY)
    this.#forget(from)
    // The first part often has the answer; only a scan that continues reads ahead.
    if (isNext) this.#readOn(Math.max(from, this.#blocks.at(-1)?.to ?? from))
    const first = this.#blocks[0]
    if (!first || first.from > from || this.#blocks.at(-1)!.to < to)
      return this.#series.read(from, to, { into: this.#memory(to - from) })
    if (!first.isDone) this.#window = Math.min(this.#parallel, 4 * this.#window)
    return this.#join(from, to)
  }

  /** Ends pending reads, so that nothing is read after the scan. */
  end(): void {
    this.#ended.abort()
    this.#forget(Number.POSITIVE_INFINITY)
    this.#lease?.release()
    const long = this.#long
    this.#long = null
    // A read into it cannot be interrupted, and a client may disconnect meanwhile.
    if (long) void this.#reading.then(() => giveBack(long, this.#clock))
  }

  /** Memory for a read. That of long records is used again: the collector hardly notices it. */
  #memory(length: number): Uint8Array<ArrayBuffer> {
    if (length <= this.#length || length > BLOCK) return new Uint8Array(length)
    this.#long ??= takeBlock()
    return this.#long
  }

  async #join(from: number, to: number): Promise<Uint8Array> {
    const needed = this.#blocks.filter((block) => block.from < to)
    if (needed.length === 1) {
      const { from: base, bytes } = needed[0]!
      return (await bytes).subarray(from - base, to - base)
    }
    const all = this.#memory(to - from).subarray(0, to - from)
    for (const block of needed) {
      const part = (await block.bytes).subarray(Math.max(0, from - block.from), to - block.from)
      all.set(part, Math.max(0, block.from - from))
    }
    return all
  }

  /** Fills the window with reads from an address on. */
  #readOn(at: number): void {
    // The block that is being examined counts, too.
    for (let from = at; this.#blocks.length <= this.#window; ) {
      const end = this.#series.addresses.plainEnd(from)
      if (end === null || from >= this.#hi) return
      const to = Math.min(from + this.#length, end, this.#hi)
      const isFree = this.#blocks.filter((block) => block.leased === 0).length < FREE_READS
      const leased = this.#lease && !isFree ? to - from : 0
      if (leased > 0 && !this.#lease!.grow(leased)) return
      const buffer = new Uint8Array(to - from)
      const ended = this.#parallel > 1 ? this.#ended.signal : undefined
      const bytes = this.#series.read(from, to, { into: buffer, ended })
      const block: ReadAhead = { from, to, bytes, isDone: false, leased }
      const done = () => {
        block.isDone = true
      }
      bytes.then(done, done)
      this.#blocks.push(block)
      from = to
    }
  }

  /** Drops the blocks before an address. */
  #forget(before: number): void {
    while (this.#blocks[0] && this.#blocks[0].to <= before) {
      const { leased } = this.#blocks.shift()!
      this.#lease?.shrink(leased)
    }
  }
}
