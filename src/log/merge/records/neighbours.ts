import { endOf, lineEnd, startOf } from '../../format/lines.ts'
import type { Chunk, Filter } from '../../search/filter.ts'
import type { ChunkObserver } from '../../search/page.ts'
import type { Series } from '../../text/series.ts'
import type { Zone } from '../../time.ts'
import type { View } from '../../view/answer.ts'
import { NEIGHBOUR_RECORDS } from './order.ts'

/** A record that was searched. */
export interface Searched {
  /** Null if it is not wanted, or long. */
  bytes: Uint8Array | null
  /** Where its bytes are if it is long. @default not there */
  in?: Series | undefined
  start: number
  end: number
  /** Its own, in ms; NaN if it has none. */
  time: number
  /** With context: how many records after a match it is. */
  distance?: number | undefined
}

/** How many records are collected at either end of a search: the one in their middle can be placed. */
const EDGE_RECORDS = 2 * NEIGHBOUR_RECORDS + 1
/** How many collected records may be superfluous before they are dropped. */
const SPARE_RECORDS = 4096

/** The records of a page and others, oldest first. */
export function searchedIn(
  { pieces, ends, distances, format }: View,
  others: readonly Searched[],
  zone: Zone,
): Searched[] {
  const records: Searched[] = []
  for (const [i, bytes] of (pieces ?? []).entries()) {
    // A long record is among the others.
    if (bytes.length === 0) continue
    const end = ends[i]!
    const time = format.time(bytes, 0, lineEnd(bytes, 0, bytes.length), zone)
    records.push({ bytes, start: end - bytes.length, end, time, distance: distances?.[i] })
  }
  if (distances) for (const other of others) if (other.in) other.distance = distances[ends.indexOf(other.end)]
  return others.length > 0 ? [...records, ...others].sort((a, b) => a.start - b.start) : records
}

/**
 * Collects the records around those that a search finds, because only they tell whether a time can be trusted, and the
 * records at both ends of what it searched, where another search continues. The rest is skipped unread.
 */
export class Neighbours implements ChunkObserver {
  readonly #filter: Filter
  readonly #forward: boolean
  /** In the order of the search. */
  #found: Searched[] = []
  /** The records that were searched last, unless they are among those. */
  #last: Searched[] = []
  /** How many of the next records are collected in any case. */
  #owed = EDGE_RECORDS
  /** Where the searched part ends. */
  #at = Number.NaN

  constructor(filter: Filter, forward: boolean) {
    this.#filter = filter
    this.#forward = forward
  }

  /** What was collected of [from, to), oldest first. */
  within(from: number, to: number): Searched[] {
    const all = [...this.#found, ...this.#last].filter(({ start, end }) => start >= from && end <= to)
    return this.#forward ? all : all.reverse()
  }

  saw(chunk: Chunk, ranges: ArrayLike<number>, first: number, last: number): void {
    const { from, to, base } = chunk
    if (from >= to) return
    if (base + (this.#forward ? from : to) !== this.#at) this.#breakOff()
    this.#at = base + (this.#forward ? to : from)
    if (this.#forward) {
      let at = from
      for (let i = first; i < last; i += 2) {
        this.#skip(chunk, at, ranges[i]!)
        this.#match()
        at = ranges[i + 1]!
      }
      this.#skip(chunk, at, to)
      return
    }
    let at = to
    for (let i = last - 2; i >= first; i -= 2) {
      this.#skip(chunk, ranges[i + 1]!, at)
      this.#match()
      at = ranges[i]!
    }
    this.#skip(chunk, from, at)
  }

  forget(before: number): void {
    if (this.#found.length < SPARE_RECORDS) return
    const first = this.#found.findIndex(({ end }) => end > before)
    this.#found = this.#found.slice(Math.max(0, first - EDGE_RECORDS))
  }

  fromStart(): Neighbours {
    return new Neighbours(this.#filter, true)
  }

  adopt(inside: Neighbours, from: number): void {
    this.#breakOff()
    this.#found.push(...inside.within(from, Number.POSITIVE_INFINITY).reverse())
  }

  /** What comes next does not continue what was searched. */
  #breakOff(): void {
    this.#found.push(...this.#last)
    this.#last = []
    this.#owed = EDGE_RECORDS
  }

  #match(): void {
    this.#found.push(...this.#last.slice(-NEIGHBOUR_RECORDS))
    this.#last = []
    this.#owed = Math.max(this.#owed, NEIGHBOUR_RECORDS)
  }

  /** Passes bytes[from, to), of which nothing was found. */
  #skip({ bytes, base }: Chunk, from: number, to: number): void {
    if (from >= to) return
    const rest = { bytes, from, to, base }
    const near = this.#forward ? this.#first(rest, this.#owed) : this.#final(rest, this.#owed)
    this.#found.push(...near)
    this.#owed -= near.length
    const passed = near.at(-1)
    if (passed && this.#forward) rest.from = passed.end - base
    else if (passed) rest.to = passed.start - base
    const far = this.#forward ? this.#final(rest, EDGE_RECORDS) : this.#first(rest, EDGE_RECORDS)
    this.#last = [...this.#last, ...far.reverse()].slice(-EDGE_RECORDS)
  }

  /** The first records of a chunk. */
  #first({ bytes, from, to, base }: Chunk, count: number): Searched[] {
    const found: Searched[] = []
    for (let at = from; at < to && found.length < count; ) {
      const end = endOf(this.#filter.format, bytes, at, to)
      found.push(this.#neighbour(bytes, at, end, base))
      at = end
    }
    return found
  }

  /** The last records of a chunk, the last one first. */
  #final({ bytes, from, to, base }: Chunk, count: number): Searched[] {
    const found: Searched[] = []
    for (let end = to; end > from && found.length < count; ) {
      const start = startOf(this.#filter.format, { bytes, from, to: end }, end - 1)
      found.push(this.#neighbour(bytes, start, end, base))
      end = start
    }
    return found
  }

  #neighbour(bytes: Uint8Array, start: number, end: number, base: number): Searched {
    const { format, zone } = this.#filter
    const time = format.time(bytes, start, lineEnd(bytes, start, end), zone)
    return { bytes: null, start: base + start, end: base + end, time }
  }
}
