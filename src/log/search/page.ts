import type { Lease } from '../../kit/limits/memory-budget.ts'
import { countLines } from '../format/lines.ts'
import { type ArchivePass, type Consumer, type Ending, type PassConsumer, walkThrough } from './consumer.ts'
import type { Chunk } from './filter.ts'
import type { WalkRange } from './range.ts'
import { noMemory, RECORD_COST, Sink, type SinkOptions } from './sink.ts'
import type { Fit } from './span.ts'
import type { WalkPart } from './walk.ts'

/** Receives every searched part: merging needs the records around each match. */
export interface ChunkObserver {
  /** The next part, in whole records; those found in it are ranges[first, last). */
  saw(chunk: Chunk, ranges: ArrayLike<number>, first: number, last: number): void
  /** Nothing was kept of what lies before an address. */
  forget(before: number): void
  /** One for the next part, which is read from its start although the search goes backwards. */
  fromStart(): ChunkObserver
  /** What that one saw, from an address on, is the next part. */
  adopt(observer: ChunkObserver, from: number): void
}

/** What a page has, and what else is told of it. */
export interface PageOptions extends Omit<SinkOptions, 'budget'> {
  /** Whether each record is a separate piece, with its end. Forward, it always is. @default false */
  each?: boolean | undefined
  observer?: ChunkObserver | undefined
}

/** What a search found: records in log order, and where to continue. */
export interface Found {
  pieces: Uint8Array[]
  /** Where each piece ends. */
  ends: number[]
  /** Every record that starts in [from, to) is decided. */
  from: number
  to: number
  /** Whether the record at the open end was cut, so that its rest belongs to the next answer. */
  splitsRecord: boolean
  /** Whether the far end was reached. */
  complete: boolean
  /** Whether the budget ran out. */
  cut: boolean
  /** Whether the memory for answers ran out before the answer was full. */
  isShort: boolean
  /** Whether a record more would have been too large for the size that is wanted. */
  isOverSize: boolean
  /** The memory that the pieces hold, to be released when they are sent. */
  memory: Lease | null
}

/**
 * An answer up to this size has few records: they are found without a scanner unless they are searched for. Records that
 * are kept each by itself are not packed by one either.
 */
const SHORT_ANSWER = 64 * 1024

/** Searches for the records that fit: the first ones of a range, or the most recent. */
export async function findPage(range: WalkRange, options: PageOptions): Promise<Found> {
  const page = new PageRecords(range, options)
  const { forward, lo, hi, filter, splitsRecord = false } = range
  if (page.isFull || (forward && lo >= hi))
    return page.found({ at: forward ? lo : hi, splitsRecord, complete: !page.isFull })
  // 16 short pages at once would each take a scanner with 37 MB of addresses, which the collector has to account for.
  const { fit, each = false } = options
  const isShort = !forward && (each || fit.size <= SHORT_ANSWER) && !filter.selection.isSearch
  const needsRejected = options.observer !== undefined
  return page.found(await walkThrough({ ...range, isShort, needsRejected }, page))
}

/** Fewer lines than this do not show how many there are. */
const FEW = 3

/** The records of a walk that fit into an answer. */
class PageRecords implements Consumer {
  readonly #range: WalkRange
  readonly #options: PageOptions
  readonly #sink: Sink
  #isOverSize = false

  constructor(range: WalkRange, options: PageOptions) {
    this.#range = range
    this.#options = options
    this.#sink = new Sink({ ...options, budget: range.budget }, range.forward || (options.each ?? false))
  }

  get isFull(): boolean {
    return this.#sink.isFull()
  }

  /** As many per line as so far. A few lines say little. */
  reach(distance: number): number {
    const { forward, stretch = Number.POSITIVE_INFINITY } = this.#range
    const { fit } = this.#options
    const { lines } = this.#sink.room()
    const rest = stretch - distance
    if (forward || fit.lines === null || lines === null) return rest
    return Math.min(rest, (distance * lines) / Math.max(FEW, fit.lines - lines))
  }

  async take(part: WalkPart): Promise<Ending | null> {
    const ranges = await part.wanted()
    return this.#range.forward ? this.#takeFirst(part, ranges) : this.#takeLast(part, ranges)
  }

  fromStart(): PassConsumer {
    const { countBy, observer } = this.#options
    const recent = new RecentRecords(this.#range, { fit: this.#sink.room(), countBy, observer })
    return {
      take: (part) => recent.take(part),
      release: () => recent.release(),
      finish: (pass) => this.#adopt(recent, pass),
    }
  }

  release(): void {
    this.#sink.memory?.release()
  }

  found({ at, end, splitsRecord = false, complete = false, cut = false }: Ending): Found {
    const { forward, lo, hi } = this.#range
    const { pieces, ends, isRefused: isShort, memory } = this.#sink
    const isOverSize = this.#sink.isOverSize || this.#isOverSize
    if (!forward) {
      pieces.reverse()
      ends.reverse()
    }
    const [from, to] = forward ? [lo, Math.max(lo, at)] : [at, end ?? hi]
    return { pieces, ends, from, to, splitsRecord, complete, cut, isShort, isOverSize, memory }
  }

  /** Takes records from the oldest on. */
  #takeFirst(part: WalkPart, ranges: ArrayLike<number>): Ending | null {
    const sink = this.#sink
    const { bytes, base } = part
    const { lo } = this.#range
    const saw = (to: number, taken: number) =>
      this.#options.observer?.saw({ ...part, from: Math.max(part.from, lo - base), to }, ranges, 0, taken)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      if (sink.take(bytes, start, end, base)) {
        if (!sink.isFull()) continue
        saw(end, i + 2)
        return { at: base + end, complete: part.isLast && end >= part.to }
      }
      saw(start, i)
      if (sink.pieces.length > 0) return { at: base + start }
      const cut = sink.cutForth(bytes, start, end, base)
      return { at: base + cut, splitsRecord: cut < end }
    }
    saw(part.to, ranges.length)
    return null
  }

  /** Takes records from the newest on. */
  #takeLast(part: WalkPart, ranges: ArrayLike<number>): Ending | null {
    const sink = this.#sink
    const { bytes, base } = part
    let i = ranges.length - 2
    while (i >= 0 && !sink.isFull() && sink.fits(bytes, ranges[i]!, ranges[i + 1]!, base)) i -= 2
    sink.keep(part, ranges, i + 2, part.scanner)
    const saw = (decided: number) =>
      this.#options.observer?.saw({ ...part, from: decided }, ranges, i + 2, ranges.length)
    if (sink.isFull() && i + 2 < ranges.length) {
      const start = ranges[i + 2]!
      saw(start)
      return { at: base + start, complete: part.isLast && start <= part.from }
    }
    if (i < 0) {
      saw(part.from)
      return null
    }
    const end = ranges[i + 1]!
    saw(end)
    if (sink.pieces.length > 0) return { at: base + end }
    return this.#cut(bytes, [ranges[i]!, end], base, part.isLast && ranges[i]! <= part.from)
  }

  /** Takes what was kept of an archive. */
  #adopt(recent: RecentRecords, { from, isLast, stopped }: ArchivePass): Ending | null {
    const sink = this.#sink
    const first = recent.hasDropped ? recent.oldest! : from
    recent.tell(first)
    this.#isOverSize = recent.isOverSize
    const budget = stopped === null ? {} : { end: stopped, cut: true }
    for (const { bytes, start } of recent.newestFirst()) {
      const isFirst = isLast && start <= from
      if (sink.adopt(bytes, start)) {
        if (stopped === null && sink.isFull()) return { at: start, complete: isFirst }
        continue
      }
      if (sink.pieces.length > 0 || stopped !== null) return { at: start + bytes.length, ...budget }
      return this.#cut(bytes, [0, bytes.length], start, isFirst)
    }
    if (stopped !== null) return { at: first, ...budget, complete: isLast && !recent.hasDropped }
    return recent.hasDropped ? { at: first } : null
  }

  /** The end of a record that does not fit; `isFirst` if nothing comes before it. */
  #cut(bytes: Uint8Array, [from, to]: [number, number], base: number, isFirst: boolean): Ending {
    const cut = this.#sink.cutBack(bytes, from, to, base)
    return { at: base + cut, splitsRecord: cut > from, complete: cut === from && isFirst }
  }
}

/** A record that was found, and where. */
interface Kept {
  bytes: Uint8Array
  start: number
  lines: number
}

type RecentOptions = Pick<PageOptions, 'countBy' | 'observer'> & { fit: Fit }

/** The most recent records that fit, of an archive that cannot be read backwards. */
class RecentRecords {
  /** Whether older records were found and dropped. */
  hasDropped = false
  /** Whether that was because of the size that is wanted. */
  isOverSize = false
  readonly #options: RecentOptions
  readonly #inside: ChunkObserver | undefined
  readonly #memory: Lease | null
  readonly #kept = new Queue<Kept>()
  #size = 0
  #lines = 0

  constructor({ budget }: WalkRange, options: RecentOptions) {
    this.#options = options
    this.#inside = options.observer?.fromStart()
    this.#memory = budget.memory?.lease(0) ?? null
  }

  get oldest(): number | undefined {
    return this.#kept.first?.start
  }

  newestFirst(): Kept[] {
    return this.#kept.all().reverse()
  }

  /** Tells what was seen from an address on. */
  tell(from: number): void {
    if (this.#inside) this.#options.observer!.adopt(this.#inside, from)
  }

  /** Who takes the records leases their memory. */
  release(): void {
    this.#memory?.release()
  }

  async take(part: WalkPart): Promise<null> {
    const { fit, countBy } = this.#options
    const ranges = await part.wanted()
    const { bytes, base, to } = part
    this.#inside?.saw(part, ranges, 0, ranges.length)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      const lines = countBy === 'records' ? 1 : fit.lines === null ? 0 : countLines(bytes, start, end)
      // Other responses may hold the memory: then fewer records are kept, as if less had been requested.
      while (this.#memory && !this.#memory.grow(end - start + RECORD_COST)) {
        if (this.#kept.length === 0) throw noMemory()
        this.#drop()
      }
      this.#kept.push({ bytes: bytes.slice(start, end), start: base + start, lines })
      this.#size += end - start
      this.#lines += lines
      // The newest stays, even if it alone is too long: then it is cut.
      const isOver = () => this.#lines > (fit.lines ?? Number.POSITIVE_INFINITY)
      while (this.#kept.length > 1 && isOver()) this.#drop()
      while (this.#kept.length > 1 && this.#size > fit.size) {
        this.isOverSize = true
        this.#drop()
      }
    }
    this.#inside?.forget(this.oldest ?? base + to)
    return null
  }

  #drop(): void {
    const { bytes, lines } = this.#kept.shift()!
    this.#size -= bytes.length
    this.#lines -= lines
    this.#memory?.shrink(bytes.length + RECORD_COST)
    this.hasDropped = true
  }
}

/** First in, first out. To shift an array of a hundred thousand records would move all of them, for each. */
class Queue<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  get first(): T | undefined {
    return this.#items[this.#first]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.first
    this.#items[this.#first++] = undefined
    if (this.#first > 1024 && 2 * this.#first > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }

  all(): T[] {
    return this.#items.slice(this.#first) as T[]
  }
}
