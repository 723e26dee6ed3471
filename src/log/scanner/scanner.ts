import { LEVEL_BEGINNINGS } from '../format/read/level.ts'
import type { Needle } from '../pattern/literal.ts'
import { type Marks, TABLE_BYTES } from './marks.ts'
import { CODE, MEMORY_BYTE, SHARED } from './scanner-code.ts'

/** The inner loops, see scanner.wat. */
interface Loops {
  lines(from: number, to: number, length: number, head: number, base: number, pairs: number): number
  marks(from: number, to: number, base: number, out: number): number
  shaped(from: number, to: number, shapes: number, shapesEnd: number, least: number, state: number): number
  gather(pairs: number, pairsEnd: number, base: number, into: number): number
}

/** Some bytes: bytes[from, to). */
interface ScannedPart {
  bytes: Uint8Array
  from: number
  to: number
}

const WASM_PAGE_BYTES = 64 * 1024
/** Where the needle's fold is stored; the needle itself is at 0. */
const FOLD = 4096
/** Where the head of a record is stored, in three rows. */
const HEAD = 2 * FOLD
const ROW = 32
/** Where it is stored with which letters levels begin; see silent.wat. */
const BEGINNINGS = 512
/** Where the tables of marks are stored. */
const TABLES = HEAD + 3 * ROW
/** How many shapes are tried on a line: each costs a few nanoseconds where it does not fit. */
export const MOST_SHAPES = 8
export const SHAPE_BYTES = 5136
/** Where the shapes of lines are stored, after the state of the loop that reads them. */
const SHAPES = TABLES + TABLE_BYTES + 16
/** How many numbers that loop writes for each record it finds: start, end of the first line, end, level code. */
export const FOUND_NUMBERS = 4
/** How far the loops may read or write beyond the end. */
const PAD = 64
/**
 * A needle may be compared at every place, 16 bytes at a time. Longer ones are left to JavaScript, which skips by their
 * length and takes linear time.
 */
const MAX_NEEDLE = 64
/** The smallest chunk size of a scanner. Only pages that are used take physical memory. */
const ROOM = 4 * 1024 * 1024 + 64 * 1024
/** How many scanners are kept for reuse, with about 13 MB each. */
const MAX_IDLE = 1

/** Scanners that wait to be used again. */
const idle: Scanner[] = []
/** Compiled at the first search; null where the runtime cannot compile at run time, such as a worker at the edge. */
const modules = new Map<boolean, WebAssembly.Module>()

/**
 * Memory to read a log into, and the loops that search it there, 16 bytes at a time. One scan uses it at a time.
 * A search of 1 GiB takes a third of what the same loops take in JavaScript.
 */
export class Scanner {
  /** Three places for chunks of a log: one is searched, one is being read, and the read of one is being prepared. */
  readonly chunks: readonly [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>]
  readonly room: number
  /** A place for bytes from elsewhere. Bytes that are not here yet are copied to it before they are searched. */
  readonly guest: Uint8Array<ArrayBuffer>
  /** The memory of the shapes of lines. */
  readonly shapes: Uint8Array<ArrayBuffer>
  readonly #state: Int32Array
  readonly #memory: Uint8Array<ArrayBuffer>
  readonly #pairs: number
  readonly #packed: number
  readonly #loops: Loops
  #head: string | null = null

  readonly shared: boolean

  /** The module is an object here: a user's types need not have WebAssembly. */
  constructor(module: object, room: number, shared: boolean) {
    const slot = room + PAD
    const chunksAt = SHAPES + MOST_SHAPES * SHAPE_BYTES + PAD
    const guestAt = chunksAt + 3 * slot
    this.#packed = guestAt + slot
    // A line with a hit has at least two bytes, with its line break. A line with a shape has far more than four, so that
    // FOUND_NUMBERS for each line fit.
    this.#pairs = Math.ceil((this.#packed + slot) / 8) * 8
    const pages = Math.ceil((this.#pairs + 4 * (room + PAD)) / WASM_PAGE_BYTES)
    // It never grows: growing would detach the memory from a read in progress.
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared })
    this.shared = shared
    this.room = room
    this.#memory = new Uint8Array(memory.buffer as unknown as ArrayBuffer)
    this.#loops = new WebAssembly.Instance(module as WebAssembly.Module, { scanner: { memory } })
      .exports as unknown as Loops
    this.#memory.set(LEVEL_BEGINNINGS, BEGINNINGS)
    const chunk = (at: number) => this.#memory.subarray(at, at + room)
    this.chunks = [chunk(chunksAt), chunk(chunksAt + slot), chunk(chunksAt + 2 * slot)]
    this.guest = chunk(guestAt)
    this.shapes = this.#memory.subarray(SHAPES, SHAPES + MOST_SHAPES * SHAPE_BYTES)
    this.#state = new Int32Array(memory.buffer as unknown as ArrayBuffer, SHAPES - 16, 4)
  }

  /**
   * Start and end of each line of bytes[from, to) that holds the needle, counted in `bytes`; `from` counts as the
   * start of a line. The start is inverted (~) unless `head` proves that the line is a whole record. Valid until the
   * next call. Null when the chunk is too large.
   */
  linesWith(needle: Needle, head: string | undefined, { bytes, from, to }: ScannedPart): Int32Array | null {
    const { low, fold } = needle
    if (low.length === 0 || low.length > MAX_NEEDLE || to - from > this.room) return null
    this.#memory.set(low, 0)
    this.#memory.set(fold, FOLD)
    this.#setHead(head)
    const base = this.#baseOf(bytes, from, to)
    const headLength = head?.length ?? ROW + 1
    const end = this.#loops.lines(base + from, base + to, low.length, headLength, base, this.#pairs)
    return new Int32Array(this.#memory.buffer, this.#pairs, (end - this.#pairs) >> 2)
  }

  /** Where in bytes[from, to) one of the marks may be, in order. Valid until the next call. Null when it is too large. */
  marked(marks: Marks, part: ScannedPart): Int32Array | null {
    this.#memory.set(marks.tables, TABLES)
    const { from, to } = part
    const base = this.hold(part)
    if (base === null) return null
    const end = this.#loops.marks(base + from, base + to, base, this.#pairs)
    return new Int32Array(this.#memory.buffer, this.#pairs, (end - this.#pairs) >> 2)
  }

  /** Where the bytes of a part are here; null if they are too many. Valid until the next call of anything else. */
  hold({ bytes, from, to }: ScannedPart): number | null {
    return to - from > this.room ? null : this.#baseOf(bytes, from, to)
  }

  /**
   * The first line of [from, to) that has none of the first `count` shapes or continues the one before, counted from
   * `base`. Records that say `least` or more are in `found` then.
   */
  afterShaped(
    base: number,
    { from, to }: { from: number; to: number },
    count: number,
    least: number,
  ): number {
    const end = SHAPES + count * SHAPE_BYTES
    this.#state[0] = 0
    this.#state[1] = 0
    this.#state[3] = this.#pairs
    return this.#loops.shaped(base + from, base + to, SHAPES, end, least, SHAPES - 16) - base
  }

  /** What `afterShaped` found, each with its FOUND_NUMBERS, counted from the beginning of `found`'s memory. */
  get found(): Int32Array {
    return new Int32Array(this.#memory.buffer, this.#pairs, (this.#state[3]! - this.#pairs) >> 2)
  }

  /** The level of the last record that had a shape (`levelCode`); 0 if there was none. */
  get said(): number {
    return this.#state[1]!
  }

  /** Which shape the last record had that had one; negative if there was none. */
  get lastShape(): number {
    return (this.#state[0]! - SHAPES) / SHAPE_BYTES
  }

  /** The second of that record, in shapes of a minute. */
  get lastSecond(): number {
    return this.#state[2]!
  }

  /** Where bytes[0] would be in the memory here, to which bytes[from, to) are copied if they are elsewhere. */
  #baseOf(bytes: Uint8Array, from: number, to: number): number {
    if (this.#holds(bytes)) return bytes.byteOffset
    this.guest.set(bytes.subarray(from, to))
    return this.guest.byteOffset - from
  }

  /**
   * The bytes of ranges[first, …), pairs of start and end in order, without the gaps between them. Valid until the
   * next call. Null when `bytes` do not lie here.
   */
  gather(bytes: Uint8Array, ranges: ArrayLike<number>, first: number): Uint8Array | null {
    if (!this.#holds(bytes) || bytes.length > this.room) return null
    let from = this.#pairs
    let end = from
    if (ranges instanceof Int32Array && ranges.buffer === this.#memory.buffer) {
      from = ranges.byteOffset + 4 * first
      end = ranges.byteOffset + 4 * ranges.length
    } else end += 4 * this.#write(ranges, first)
    const packed = this.#loops.gather(from, end, bytes.byteOffset, this.#packed)
    return this.#memory.subarray(this.#packed, packed)
  }

  #write(ranges: ArrayLike<number>, first: number): number {
    const pairs = new Int32Array(this.#memory.buffer, this.#pairs)
    let count = 0
    for (let i = first; i < ranges.length; ) {
      pairs[count++] = ranges[i]!
      let end = ranges[i + 1]!
      // Adjacent ranges share one copy, so there are never more pairs than fit: at least one byte separates two.
      for (i += 2; i < ranges.length && ranges[i] === end; i += 2) end = ranges[i + 1]!
      pairs[count++] = end
    }
    return count
  }

  #setHead(head: string | undefined): void {
    if (head === undefined || head === this.#head) return
    this.#head = head
    for (let i = 0; i < ROW; i++) {
      this.#memory[HEAD + i] = i < head.length ? head.charCodeAt(i) : 0
      this.#memory[HEAD + ROW + i] = head[i] === '0' ? 255 : 0
      this.#memory[HEAD + 2 * ROW + i] = i < head.length ? 0 : 255
    }
  }

  /** Returns it for reuse. Nothing may read into it or use its memory after that. */
  release(): void {
    if (idle.length < MAX_IDLE) idle.push(this)
  }

  #holds(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory.buffer
  }
}

function compile(shared: boolean): WebAssembly.Module {
  const bytes = Uint8Array.from(atob(CODE), (char) => char.charCodeAt(0))
  if (shared) bytes[MEMORY_BYTE] = SHARED
  const module = new WebAssembly.Module(bytes)
  modules.set(shared, module)
  return module
}

/**
 * A scanner for chunks of `room` bytes, to be released after use; null where this runtime has none. Bun reads into
 * WebAssembly's memory through a copy, unless that memory is `shared` and so cannot be detached during the read. V8
 * copies out of shared memory at a third of the speed.
 */
export function takeScanner(room: number, shared = false): Scanner | null {
  const at = idle.findIndex((scanner) => scanner.room >= room && scanner.shared === shared)
  if (at >= 0) return idle.splice(at, 1)[0]!
  try {
    return new Scanner(modules.get(shared) ?? compile(shared), Math.max(room, ROOM), shared)
  } catch {
    // Not allowed to compile, or no address space left: the search runs in JavaScript.
    return null
  }
}
