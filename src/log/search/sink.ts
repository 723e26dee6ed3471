import type { Budget } from '../../kit/limits/budget.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import { LogError } from '../error.ts'
import { countLines, lineEnd } from '../format/lines.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { characterStart } from '../text/bytes.ts'
import { BLOCK, takeBlock } from './blocks.ts'
import type { Chunk } from './filter.ts'
import type { Fit } from './span.ts'

/** What `lines` counts: lines of text, or records, which become one line of JSON each. */
type CountBy = 'lines' | 'records'

/** Whether the bytes of a large record are kept; if not, its piece is empty. */
export type Keeps = (record: Uint8Array, start: number) => boolean

/** What a record takes besides its bytes if it is a piece by itself: arrays and objects, as measured of merged logs. */
export const RECORD_COST = 512

/** Smaller records are always kept. */
export const LARGE = 32 * 1024
const NOTHING = new Uint8Array(0)

export interface SinkOptions {
  fit: Fit
  countBy: CountBy
  budget: Budget
  /** Says of a record above `LARGE` that was found whether its bytes are kept. @default all are */
  keeps?: Keeps | undefined
}

/** What has been taken so far, and whether more fits. */
export class Sink {
  readonly pieces: Uint8Array[] = []
  readonly ends: number[] = []
  /** What stands before the next record and takes room, too. */
  extra = 0
  readonly #countBy: CountBy
  readonly #each: boolean
  #size: number
  #lines: number
  /** Filled from its end; `#free` is where the filled part begins. */
  #block: Uint8Array<ArrayBuffer> | null = null
  #free = 0
  /** Bytes that were leased, those that records need of them, and those of full blocks that nobody can use. */
  #leased = 0
  #needed = 0
  #wasted = 0

  /** Memory shared with other requests; null if it is not limited. */
  readonly memory: Lease | null
  readonly #keeps: Keeps | undefined
  /** Where the records begin that are not kept. */
  readonly #dropped = new Set<number>()
  #isRefused = false
  /** Whether a record did not fit into the size that is wanted. */
  isOverSize = false

  constructor({ fit, countBy, budget, keeps }: SinkOptions, each: boolean) {
    this.memory = budget.memory?.lease(0) ?? null
    this.memory?.tieTo(this.pieces)
    this.#each = each
    this.#size = fit.size
    this.#lines = fit.lines ?? Number.POSITIVE_INFINITY
    this.#countBy = countBy
    this.#keeps = keeps
  }

  /** What still fits. */
  room(): Fit {
    return { size: this.#size, lines: this.#lines === Number.POSITIVE_INFINITY ? null : this.#lines }
  }

  isFull(): boolean {
    return this.#size <= 0 || this.#lines <= 0 || this.#isRefused
  }

  /** Whether it is full because the service has no memory left, not because the answer is complete. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Takes a whole record, if it fits. */
  take(bytes: Uint8Array, start: number, end: number, base: number): boolean {
    if (!this.fits(bytes, start, end, base)) return false
    this.#keep(bytes, start, end, base)
    return true
  }

  /** As `take`, for bytes owned by the record: they are not copied. */
  adopt(bytes: Uint8Array, base: number): boolean {
    if (!this.fits(bytes, 0, bytes.length, base) || !(this.#each || this.#lease(RECORD_COST))) return false
    this.#block = null
    this.pieces.push(this.#dropped.has(base) ? NOTHING : bytes)
    this.ends.push(base + bytes.length)
    return true
  }

  /** Whether a whole record fits; if so, reserves its space. One that is not kept takes little. */
  fits(bytes: Uint8Array, start: number, end: number, base: number): boolean {
    const counts = this.#lines !== Number.POSITIVE_INFINITY
    const lines = !counts ? 0 : this.#countBy === 'records' ? 1 : countLines(bytes, start, end)
    if (lines > this.#lines || this.#isRefused) return false
    const isDropped = this.#mayDrop(bytes, start, end, base)
    const size = isDropped ? Math.min(LARGE, this.#size) : end - start
    if (size + this.extra > this.#size) {
      this.isOverSize = true
      return false
    }
    if (!this.#lease((isDropped ? 0 : size) + (this.#each ? RECORD_COST : 0))) return false
    if (counts) this.#lines -= lines
    this.#size -= size + this.extra
    return true
  }

  /** Leases memory for a record, unless a block that was leased has room for it. */
  #lease(bytes: number): boolean {
    this.#needed += bytes
    this.#isRefused = !this.#leaseUpTo(this.#needed + this.#wasted)
    return !this.#isRefused
  }

  #leaseUpTo(bytes: number): boolean {
    if (!this.memory || bytes <= this.#leased) return true
    if (!this.memory.grow(bytes - this.#leased)) return false
    this.#leased = bytes
    return true
  }

  #mayDrop(bytes: Uint8Array, start: number, end: number, base: number): boolean {
    if (!this.#keeps || end - start <= LARGE || this.#keeps(bytes.subarray(start, end), base + start))
      return false
    this.#dropped.add(base + start)
    return true
  }

  /**
   * Keeps the records of a chunk from ranges[first] on, going backwards: each alone, or all in one piece. A scanner
   * that holds the chunk packs them.
   */
  keep(chunk: Chunk, ranges: ArrayLike<number>, first: number, scanner: Scanner | null): void {
    if (first >= ranges.length) return
    if (this.#each) {
      this.#keepEach(chunk, ranges, first)
      return
    }
    const { bytes, base } = chunk
    let length = 0
    for (let i = first; i < ranges.length; i += 2) length += ranges[i + 1]! - ranges[i]!
    const block = this.#blockFor(length, base + ranges[ranges.length - 1]!)
    const packed = scanner?.gather(bytes, ranges, first)
    if (packed) block.set(packed, this.#free)
    else {
      let at = this.#free
      for (let i = first; i < ranges.length; i += 2) {
        block.set(bytes.subarray(ranges[i], ranges[i + 1]), at)
        at += ranges[i + 1]! - ranges[i]!
      }
    }
    this.pieces[this.pieces.length - 1] = block.subarray(this.#free)
  }

  /** Each alone, in memory that they share: to allocate it for each takes longer than to find them. */
  #keepEach({ bytes, base }: Chunk, ranges: ArrayLike<number>, first: number): void {
    this.#block = null
    const isKept = (i: number) => this.#dropped.size === 0 || !this.#dropped.has(base + ranges[i]!)
    let to = 0
    for (let i = first; i < ranges.length; i += 2) if (isKept(i)) to += ranges[i + 1]! - ranges[i]!
    const isOne = to === ranges[ranges.length - 1]! - ranges[first]!
    const shared = isOne ? bytes.slice(ranges[first], ranges[ranges.length - 1]) : new Uint8Array(to)
    for (let i = ranges.length - 2; i >= first; i -= 2) {
      const length = isKept(i) ? ranges[i + 1]! - ranges[i]! : 0
      const from = to - length
      if (!isOne && length > 0) shared.set(bytes.subarray(ranges[i], ranges[i + 1]), from)
      this.pieces.push(shared.subarray(from, to))
      this.ends.push(base + ranges[i + 1]!)
      to = from
    }
  }

  /** A block with room for `length` more bytes before those that are kept; the last piece is its end. */
  #blockFor(length: number, end: number): Uint8Array<ArrayBuffer> {
    if (this.#block === null || this.#free < length) {
      // Records of several chunks share memory: fewer, larger pieces cost less.
      const wanted = Math.max(length, Math.min(BLOCK, 2 * (this.#block?.length ?? 0), length + this.#size))
      this.#wasted += this.#free
      // What a block has besides the records is memory, too: without enough of it, the block is as long as they are.
      const has = this.#leaseUpTo(this.#needed + this.#wasted + wanted - length) ? wanted : length
      this.#block = has === BLOCK ? takeBlock() : new Uint8Array(has)
      this.#free = this.#block.length
      this.pieces.push(this.#block)
      this.ends.push(end)
    }
    this.#free -= length
    return this.#block
  }

  /** Takes the end of a record that does not fit; returns where the cut is. */
  cutBack(bytes: Uint8Array, start: number, end: number, base: number): number {
    this.#leaseCut(end - start)
    let cut = start
    if (end - start > this.#size) {
      cut = end - this.#size
      const character = characterStart(bytes.subarray(0, end), cut)
      if (character < end) cut = character
    }
    if (this.#countBy === 'lines') {
      let left = this.#lines
      let at = end - 1
      while (at > cut && left > 0) {
        const lf = bytes.lastIndexOf(10, at - 1)
        if (lf < cut) break
        left--
        if (left === 0) cut = lf + 1
        at = lf
      }
    }
    this.#keep(bytes, cut, end, base)
    return cut
  }

  /** Takes the beginning of a record that does not fit; returns where the cut is. */
  cutForth(bytes: Uint8Array, start: number, end: number, base: number): number {
    this.#leaseCut(end - start)
    let cut = end
    if (end - start > this.#size) {
      cut = start + this.#size
      let character = cut
      while (character > start && cut - character < 4 && (bytes[character]! & 0xc0) === 0x80) character--
      if (character > start && cut - character < 4) cut = character
    }
    if (this.#countBy === 'lines') {
      let at = start
      for (let left = this.#lines; left > 0 && at < cut; left--) at = lineEnd(bytes, at, cut) + 1
      cut = Math.min(cut, at)
    }
    this.#keep(bytes, start, cut, base)
    return cut
  }

  /** The answer is only part of a record: without memory for it, there is no answer. */
  #leaseCut(length: number): void {
    if (this.#isRefused || (this.memory && !this.memory.grow(Math.min(length, this.#size)))) throw noMemory()
  }

  #keep(bytes: Uint8Array, start: number, end: number, base: number): void {
    this.#block = null
    this.pieces.push(this.#dropped.has(base + start) ? NOTHING : bytes.slice(start, end))
    this.ends.push(base + end)
  }
}

/** The error when other responses hold all the memory reserved for them. */
export function noMemory(): LogError {
  return new LogError(
    'too-busy',
    'The answers that are being sent take up all the memory that is set aside for them; try again in a few seconds.',
  )
}
