import type { Clock } from '../../kit/limits/clock.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import type { Series } from '../text/series.ts'
import type { TextRead } from '../text/text.ts'
import { BLOCK, giveBack, takeBlock } from './blocks.ts'
import type { WalkRange } from './range.ts'
import { FIRST_WINDOW, FREE_READS, leaseForReads, SLACK } from './reading.ts'

/** A block that is being read, or has been. */
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

/** The sizes and the memory of reads. */
interface ReadAheadOptions {
  /** Bytes of the first read, and of those after it. */
  step: number
  largest: number
  /** The buffers that are used first, each with `largest + SLACK` bytes or more. */
  buffers: readonly Uint8Array<ArrayBuffer>[]
  /** Whether an archive is read once, from its start: it keeps little of its text then. @default false */
  isPass?: boolean | undefined
}

/**
 * Reads a log in chunks, in one direction. While one is examined, the next ones are already being read: on a disk one,
 * off the event loop; on a bucket as many as it takes to keep the consumer busy, up to `parallel`. The memory of a chunk
 * is reused for a later one. Each buffer has room for the rest of the chunk before it, which belongs to the next record:
 * backward after the block, forward before it.
 */
export class ReadAhead {
  readonly largest: number
  readonly #series: Series
  readonly #lo: number
  readonly #hi: number
  readonly #forward: boolean
  readonly #isPass: boolean
  readonly #parallel: number
  readonly #clock: Clock
  readonly #ended = new AbortController()
  readonly #lease: Lease | null
  readonly #free: Uint8Array<ArrayBuffer>[]
  #buffers: number
  #window: number
  readonly #first: number
  #step: number
  #last: Loaded | null = null
  #used: Uint8Array<ArrayBuffer> | null = null
  #queue: PendingRead[] = []
  /** For long records: memory for each would be left to a collector that hardly notices it. */
  #long: Uint8Array<ArrayBuffer> | null = null

  constructor(
    {
      series,
      lo,
      hi,
      forward,
      reading,
      budget,
    }: Pick<WalkRange, 'series' | 'lo' | 'hi' | 'forward' | 'reading' | 'budget'>,
    { step, largest, buffers, isPass = false }: ReadAheadOptions,
  ) {
    const { parallel = 1 } = reading
    this.#series = series
    this.#lo = lo
    this.#hi = hi
    this.#forward = forward
    this.#isPass = isPass
    this.#first = step
    this.#step = step
    this.#parallel = parallel
    this.#clock = budget.clock
    this.#window = Math.min(parallel, FIRST_WINDOW)
    this.#free = [...buffers]
    this.#buffers = buffers.length
    this.#lease = leaseForReads(budget.memory)
    this.largest = largest
  }

  /**
   * The bytes that end at `at`, or forward begin there; valid until the next call. `longer` is their number if a record
   * did not fit into the last chunk. While they are examined, `reach` bytes are read ahead; the last read may go beyond.
   */
  async chunk(at: number, longer: number | null, reach: number): Promise<Loaded> {
    this.#last = await this.#chunk(at, longer, reach)
    return this.#last
  }

  async #chunk(at: number, longer: number | null, reach: number): Promise<Loaded> {
    const rest = longer === null ? this.#restOf(at) : null
    const previous = this.#used
    this.#used = null
    if (rest === null) {
      if (previous) this.#free.push(previous)
      await this.#drain()
      const direct = await this.#read(at, longer)
      if (direct) return { from: this.#forward ? at : at - direct.length, bytes: direct }
    }
    const next = this.#queue.shift()!
    this.#readOn(next, reach)
    if (!next.isDone && this.#parallel > 1) this.#window = Math.min(this.#parallel, 4 * this.#window)
    const read = await next.bytes
    const { buffer } = next
    this.#used = buffer
    const start = this.#forward ? SLACK : 0
    if (read.byteOffset !== buffer.byteOffset + start || read.buffer !== buffer.buffer)
      buffer.set(read, start)
    const kept = rest?.length ?? 0
    if (rest) {
      buffer.set(rest, this.#forward ? SLACK - kept : read.length)
      // Only now: the next read may use its memory.
      if (previous) this.#free.push(previous)
    }
    this.#readOn(next, reach)
    return this.#forward
      ? { from: next.from - kept, bytes: buffer.subarray(SLACK - kept, SLACK + read.length) }
      : { from: next.from, bytes: buffer.subarray(0, read.length + kept) }
  }

  /** The bytes of the last chunk that the next block continues; null if it does not, or if they are too many. */
  #restOf(at: number): Uint8Array | null {
    const next = this.#queue[0]
    const last = this.#last
    if (!next || !last) return null
    const end = last.from + last.bytes.length
    const isNext = this.#forward ? end === next.from : last.from === next.to
    const length = this.#forward ? end - at : at - last.from
    if (!isNext || length < 0 || length > Math.min(SLACK, last.bytes.length)) return null
    return this.#forward ? last.bytes.subarray(at - last.from) : last.bytes.subarray(0, length)
  }

  /** Ends pending reads, so that nothing is read after the walk. */
  async end(): Promise<void> {
    // Reads into borrowed memory cannot be interrupted; others end at once.
    this.#ended.abort()
    await this.#drain()
    this.#lease?.release()
    if (this.#long) giveBack(this.#long, this.#clock)
    this.#long = null
  }

  /** Reads the chunk at `at`: as the next of the queue, or directly if it does not fill a buffer or fit into one. */
  async #read(at: number, longer: number | null): Promise<Uint8Array | null> {
    const isArchived = this.#forward && this.#series.addresses.plainEnd(at) === null
    const length = longer ?? (isArchived ? this.#first : this.#step)
    const [from, to] = this.#forward
      ? [at, Math.min(at + length, this.#hi)]
      : [await this.#lowest(at, length, longer !== null), at]
    if (longer !== null && to - from <= BLOCK) {
      this.#long ??= takeBlock()
      return this.#series.read(from, to, this.#into(this.#long))
    }
    if (longer !== null || to - from < length) return this.#series.read(from, to, this.#into(undefined))
    this.#step = this.largest
    this.#start(from, to)
    return null
  }

  /** Where a chunk begins that ends at `at`. An archive is not decompressed before everything newer was examined. */
  #lowest(at: number, length: number, isLonger: boolean): Promise<number> {
    const { addresses } = this.#series
    const { knownStart } = addresses
    const lowest = !isLonger && at > knownStart ? Math.max(this.#lo, knownStart) : this.#lo
    return addresses.floor(Math.max(lowest, at - length))
  }

  #into(into: Uint8Array<ArrayBuffer> | undefined): TextRead {
    return { into, onward: this.#isPass }
  }

  /** Fills the window with reads beyond a block, as far as `reach`. */
  #readOn(block: PendingRead, reach: number): void {
    for (
      let last = this.#queue.at(-1) ?? block;
      this.#queue.length < this.#window;
      last = this.#queue.at(-1)!
    ) {
      const distance = this.#forward ? last.to - block.to : block.from - last.from
      const next = distance < reach ? this.#beyond(last) : null
      if (next === null || !this.#start(...next)) return
    }
  }

  /** The block beyond another one; null at the end, and where a compressed file would have to be decompressed. */
  #beyond({ from, to }: PendingRead): [from: number, to: number] | null {
    const { addresses } = this.#series
    if (this.#forward) {
      const end = addresses.plainEnd(to)
      return end === null || to >= this.#hi ? null : [to, Math.min(to + this.largest, end, this.#hi)]
    }
    if (from <= this.#lo || addresses.isStart(from)) return null
    const start = addresses.floorNow(Math.max(this.#lo, from - this.largest))
    return start === null || start >= from ? null : [start, from]
  }

  /** Starts a read; false if there is no memory for it. */
  #start(from: number, to: number): boolean {
    const buffer = this.#free.pop() ?? this.#fresh()
    if (buffer === null) return false
    const ended = this.#parallel > 1 ? this.#ended.signal : undefined
    const into = this.#forward ? buffer.subarray(SLACK) : buffer
    const bytes = this.#series.read(from, to, { ...this.#into(into), ended })
    const block: PendingRead = { from, to, bytes, buffer, isDone: false }
    const done = () => {
      block.isDone = true
    }
    bytes.then(done, done)
    this.#queue.push(block)
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
