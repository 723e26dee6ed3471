import type { Clock } from '../../limits/clock.ts'
import type { Lease } from '../../limits/memory-budget.ts'
import type { Scanner } from '../scanner/scanner.ts'
import type { Series } from '../text/series.ts'
import { BLOCK, giveBack, takeBlock } from './blocks.ts'
import { FIRST_WINDOW, FREE_READS, leaseForReads, SLACK } from './reading.ts'
import type { Scan } from './scan.ts'

/** A chunk that is being read. */
interface PendingRead {
  from: number
  to: number
  bytes: Promise<Uint8Array>
  buffer: Uint8Array<ArrayBuffer>
  isDone: boolean
}

/** A part of a log in memory, and where it begins. */
interface Loaded {
  from: number
  bytes: Uint8Array
}

/**
 * Reads a log backwards in chunks, in order. While one is examined, those before it are already being read: on a disk
 * one, off the event loop; on a bucket as many as it takes to keep the consumer busy, up to `parallel`. The memory of a
 * chunk is reused for a later one.
 */
export class Backward {
  readonly largest: number
  readonly #series: Series
  readonly #lo: number
  readonly #parallel: number
  readonly #clock: Clock
  readonly #ended = new AbortController()
  readonly #lease: Lease | null
  readonly #free: Uint8Array<ArrayBuffer>[]
  #buffers = 0
  #window: number
  #step: number
  #last: Loaded | null = null
  #used: Uint8Array<ArrayBuffer> | null = null
  #queue: PendingRead[] = []
  /** For long records: memory for each would be left to a collector that hardly notices it. */
  #long: Uint8Array<ArrayBuffer> | null = null

  /** The first chunk has `step` bytes, those after it `largest`. The first ones are read into a scanner's memory. */
  constructor(
    { series, lo, reading, budget }: Pick<Scan, 'series' | 'lo' | 'reading' | 'budget'>,
    { step, largest }: { step: number; largest: number },
    scanner: Scanner | null,
  ) {
    const { parallel = 1 } = reading
    this.#series = series
    this.#lo = lo
    this.#step = step
    this.#parallel = parallel
    this.#clock = budget.clock
    this.#window = Math.min(parallel, FIRST_WINDOW)
    this.#free = scanner ? [...scanner.chunks] : []
    this.#buffers = this.#free.length
    this.#lease = leaseForReads(budget.memory)
    this.largest = largest
  }

  /**
   * The bytes that end at `at`, and where they start; valid until the next call. `longer` is their number if a record
   * did not fit into the last chunk. While they are examined, `reach` bytes are read ahead; the last read may go beyond.
   */
  async chunk(at: number, longer: number | null, reach: number): Promise<Loaded> {
    this.#last = await this.#chunk(at, longer, reach)
    return this.#last
  }

  async #chunk(at: number, longer: number | null, reach: number): Promise<Loaded> {
    const next = this.#queue[0]
    // The first bytes of the last chunk, up to the new one's end, are used again.
    const last = this.#last
    const fits = next && longer === null && last && last.from === next.to && at - last.from <= SLACK
    const previous = this.#used
    this.#used = null
    if (!fits) {
      if (previous) this.#free.push(previous)
      await this.#drain()
      const direct = await this.#read(at, longer)
      if (direct instanceof Uint8Array) return { from: at - direct.length, bytes: direct }
    }
    const ahead = this.#queue.shift()!
    this.#readOn(ahead.from, reach)
    if (!ahead.isDone && this.#parallel > 1) this.#window = Math.min(this.#parallel, 4 * this.#window)
    const read = await ahead.bytes
    const { buffer } = ahead
    this.#used = buffer
    if (read.byteOffset !== buffer.byteOffset || read.buffer !== buffer.buffer) buffer.set(read)
    if (fits) {
      buffer.set(last.bytes.subarray(0, at - last.from), read.length)
      // Only now: the next read may use its memory.
      if (previous) this.#free.push(previous)
    }
    this.#readOn(ahead.from, reach)
    return { from: ahead.from, bytes: buffer.subarray(0, at - ahead.from) }
  }

  /** Ends pending reads, so that nothing is read after the scan. */
  async end(): Promise<void> {
    // Reads into borrowed memory cannot be interrupted; others end at once.
    this.#ended.abort()
    await this.#drain()
    this.#lease?.release()
    if (this.#long) giveBack(this.#long, this.#clock)
    this.#long = null
  }

  /** Reads the chunk that ends at `at`: as the next of the queue, or directly if it does not fit into a buffer. */
  async #read(at: number, longer: number | null): Promise<Uint8Array | null> {
    const length = longer ?? this.#step
    // An archive is not decompressed before everything newer was examined.
    const { knownStart } = this.#series.addresses
    const lowest = longer === null && at > knownStart ? Math.max(this.#lo, knownStart) : this.#lo
    const from = await this.#series.addresses.floor(Math.max(lowest, at - length))
    if (longer !== null && at - from <= BLOCK) {
      this.#long ??= takeBlock()
      return this.#series.read(from, at, { into: this.#long })
    }
    if (longer !== null || at - from < length) return this.#series.read(from, at)
    this.#step = this.largest
    this.#start(from, at)
    return null
  }

  /** Fills the window with reads before `from`, as far as `reach`. */
  #readOn(from: number, reach: number): void {
    let to = this.#queue.at(-1)?.from ?? from
    while (this.#queue.length < this.#window && from - to < reach) {
      if (to <= this.#lo || this.#series.addresses.isStart(to)) return
      // A compressed file would have to be decompressed, perhaps for nothing.
      const start = this.#series.addresses.floorNow(Math.max(this.#lo, to - this.largest))
      if (start === null || start >= to || !this.#start(start, to)) return
      to = start
    }
  }

  /** Starts a read; false if there is no memory for it. */
  #start(from: number, to: number): boolean {
    const buffer = this.#free.pop() ?? this.#fresh()
    if (buffer === null) return false
    const ended = this.#parallel > 1 ? this.#ended.signal : undefined
    const bytes = this.#series.read(from, to, { into: buffer, ended })
    const ahead: PendingRead = { from, to, bytes, buffer, isDone: false }
    const done = () => {
      ahead.isDone = true
    }
    bytes.then(done, done)
    this.#queue.push(ahead)
    return true
  }

  #fresh(): Uint8Array<ArrayBuffer> | null {
    const size = this.largest + SLACK
    if (this.#buffers >= FREE_READS && this.#lease?.grow(size) === false) return null
    this.#buffers++
    return new Uint8Array(size)
  }

  /** Waits for all pending reads: their memory is in use until then. */
  async #drain(): Promise<void> {
    for (const { bytes, buffer } of this.#queue.splice(0)) {
      await bytes.catch(() => {})
      this.#free.push(buffer)
    }
  }
}
