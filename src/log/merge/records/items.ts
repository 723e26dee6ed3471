import type { LineFormat } from '../../format/format.ts'
import type { Searched } from './neighbours.ts'
import type { PlacedColumns } from './order.ts'

/** A record of one of the logs. */
export interface LaneRecord {
  /** Null of a long one that was not loaded. */
  bytes: Uint8Array | null
  isLoaded: boolean
  length: number
  format: LineFormat
  /** Its own time in ms, or that of the record before it; only known of records that are decided. */
  time: number
  /** By which it is placed, likewise. */
  placed: number
  /** With context: how many records after a match it is, in the direction of reading; 0 for a match. */
  distance?: number | undefined
  /** How far its ends are from where reading began; only known where context is. */
  near?: number
  far?: number
}

/**
 * The records of a log as they were read, in columns: a page of 32 logs has a hundred thousand of them, and with an object
 * for each, half of its time went into collecting garbage. One that is not wanted tells how others are placed.
 */
export class Items implements PlacedColumns {
  time: number[] = []
  placed: number[] = []
  near: number[] = []
  far: number[] = []
  wanted: boolean[] = []
  /** The memory that each record shares with others, and where it begins there; null of one that is not wanted or not loaded. */
  #blocks: (Uint8Array | null)[] = []
  #from: number[] = []
  formats: LineFormat[] = []
  distances: (number | undefined)[] = []
  /** Where the bytes of long records are. */
  #long: (Searched | null)[] = []
  #block: Uint8Array | null = null

  get length(): number {
    return this.near.length
  }

  /** Adds a record, of which `near` and `far` are the ends. */
  add(record: Searched, near: number, far: number, format: LineFormat): void {
    const { bytes, time, distance, in: series } = record
    this.time.push(time)
    this.placed.push(Number.NaN)
    this.near.push(near)
    this.far.push(far)
    this.wanted.push(bytes !== null || series !== undefined)
    this.#blocks.push(bytes && this.#blockOf(bytes))
    this.#from.push(bytes ? bytes.byteOffset : 0)
    this.formats.push(format)
    this.distances.push(distance)
    this.#long.push(series ? record : null)
  }

  #blockOf({ buffer }: Uint8Array): Uint8Array {
    if (this.#block?.buffer !== buffer) this.#block = new Uint8Array(buffer)
    return this.#block
  }

  at(i: number): LaneRecord {
    return new ItemRecord(this, i)
  }

  isLoaded(i: number): boolean {
    return this.#blocks[i] !== null
  }

  bytes(i: number): Uint8Array | null {
    const from = this.#from[i]!
    return this.#blocks[i]?.subarray(from, from + this.far[i]! - this.near[i]!) ?? null
  }

  /** Leaves out the near end of the last record, which was given before. */
  cutLast(lead: number, forward: boolean): void {
    const last = this.length - 1
    const cut = lead - this.near[last]!
    this.near[last] = lead
    if (forward) this.#from[last]! += cut
    const long = this.#long[last]
    if (long && forward) long.start += cut
    else if (long) long.end -= cut
  }

  /** Where the bytes of a long record are. */
  longAt(i: number): Searched {
    return this.#long[i]!
  }

  /** Sets the bytes of a long record. */
  load(i: number, bytes: Uint8Array): void {
    this.#blocks[i] = new Uint8Array(bytes.buffer)
    this.#from[i] = bytes.byteOffset
  }

  /** Forgets the first records, and the bytes of those up to `next`. */
  drop(count: number, next: number): void {
    for (const column of [this.time, this.placed, this.near, this.far, this.wanted, this.#from])
      column.splice(0, count)
    for (const column of [this.#blocks, this.formats, this.distances, this.#long]) column.splice(0, count)
    this.#blocks.fill(null, 0, next - count)
    this.#block = null
  }
}

/** One of the items, until they are dropped. What is not looked at is not made. */
class ItemRecord implements LaneRecord {
  readonly #items: Items
  readonly #i: number

  constructor(items: Items, i: number) {
    this.#items = items
    this.#i = i
  }

  get bytes(): Uint8Array | null {
    return this.#items.bytes(this.#i)
  }

  get isLoaded(): boolean {
    return this.#items.isLoaded(this.#i)
  }

  get length(): number {
    return this.far - this.near
  }

  get format(): LineFormat {
    return this.#items.formats[this.#i]!
  }

  get time(): number {
    return this.#items.time[this.#i]!
  }

  get placed(): number {
    return this.#items.placed[this.#i]!
  }

  get distance(): number | undefined {
    return this.#items.distances[this.#i]
  }

  get near(): number {
    return this.#items.near[this.#i]!
  }

  get far(): number {
    return this.#items.far[this.#i]!
  }
}
