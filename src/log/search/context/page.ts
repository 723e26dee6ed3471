import type { Lease } from '../../../kit/limits/memory-budget.ts'
import { type ArchivePass, type Consumer, type Ending, type PassConsumer, walkThrough } from '../consumer.ts'
import type { ChunkObserver, Found, PageOptions } from '../page.ts'
import { AHEAD, type WalkRange } from '../range.ts'
import { noMemory, RECORD_COST, Sink } from '../sink.ts'
import type { WalkPart } from '../walk.ts'
import { Around, type AroundOptions } from './around.ts'

/** What a page of matches and the records around them has. */
export interface FoundAround extends Found {
  /** Of each piece: how many records after a match it is, in the direction of the page. */
  distances: number[]
  /** Whether neighbours were beyond what is open of the log. */
  isLacking: boolean
}

type AroundPart = Pick<AroundOptions, 'count' | 'bottom' | 'top' | 'beyond'> & {
  /** How many bytes stand between two groups. */
  separator: number
}

/** Searches for the records that fit, with those around them. `lines` counts matches. */
export async function findAround(
  range: WalkRange,
  options: PageOptions,
  part: AroundPart,
): Promise<FoundAround> {
  const around = new Around({ ...range, ...part })
  const page = new ContextPage(range, options, around, part.separator)
  const { forward, lo, hi, splitsRecord = false } = range
  if (page.isFull || (forward && lo >= hi))
    return page.found({ at: forward ? lo : hi, splitsRecord, complete: !page.isFull })
  return page.found(await walkThrough({ ...range, around, needsRejected: true }, page))
}

/** A record of a part, or one that was kept of an archive. */
interface Taken {
  bytes: Uint8Array
  start: number
  end: number
  base: number
  /** Whether the bytes are those of the record alone, which need not be copied. */
  isOwned: boolean
  distance: number
  /** Whether nothing comes after it in the direction of the page. */
  isFinal: boolean
}

/** The matches of a walk that fit into an answer, with the records around them. */
class ContextPage implements Consumer {
  readonly #range: WalkRange
  readonly #options: PageOptions
  readonly #around: Around
  readonly #separator: number
  readonly #sink: Sink
  readonly #distances: number[] = []
  /** How many more matches are wanted. */
  #left: number
  /** The far end of what was taken last. */
  #edge = Number.NaN

  constructor(range: WalkRange, options: PageOptions, around: Around, separator: number) {
    this.#range = range
    this.#options = options
    this.#around = around
    this.#separator = separator
    const { size, lines } = options.fit
    this.#left = lines ?? Number.POSITIVE_INFINITY
    const { budget, forward } = range
    this.#sink = new Sink({ ...options, fit: { size, lines: null }, countBy: 'records', budget }, true)
    this.#edge = forward ? range.lo : range.hi
  }

  get isFull(): boolean {
    return this.#sink.isFull() || this.#left <= 0
  }

  async take(part: WalkPart): Promise<Ending | null> {
    const { forward, lo } = this.#range
    const ranges = await part.wanted()
    const { distances } = this.#around
    const count = distances.length
    const { bytes, base } = part
    const far = forward ? part.to : part.from
    let taken = 0
    let ending: Ending | null = null
    for (; taken < count && !ending; taken++) {
      const i = forward ? taken : count - 1 - taken
      const [start, end] = [ranges[2 * i]!, ranges[2 * i + 1]!]
      const isFinal = part.isLast && (forward ? end >= far : start <= far)
      ending = this.#take({ bytes, start, end, base, distance: distances[i]!, isOwned: false, isFinal })
      if (ending && this.#edge !== ending.at) break
    }
    // A page that has its matches ends with what follows the last one.
    if (!ending && this.#left <= 0 && this.#edge !== base + far) ending = { at: this.#edge }
    const decided = ending ? (ending.splitsRecord ? this.#edge : ending.at) - base : far
    const { observer } = this.#options
    if (forward)
      observer?.saw({ ...part, from: Math.max(part.from, lo - base), to: decided }, ranges, 0, 2 * taken)
    else observer?.saw({ ...part, from: decided }, ranges, 2 * (count - taken), 2 * count)
    return ending
  }

  fromStart(): PassConsumer {
    const { observer, fit } = this.#options
    const { budget } = this.#range
    const { size } = this.#sink.room()
    const recent = new RecentAround(this.#around, {
      size: Math.min(size, fit.size),
      matches: this.#left + 1,
      memory: budget.memory?.lease(0) ?? null,
      observer: observer?.fromStart(),
    })
    return {
      take: (part) => recent.take(part),
      release: () => recent.memory?.release(),
      finish: (pass) => this.#adopt(recent, pass),
    }
  }

  release(): void {
    this.#sink.memory?.release()
  }

  found({ at, end, splitsRecord = false, complete = false, cut = false }: Ending): FoundAround {
    const { forward, lo, hi } = this.#range
    const { pieces, ends, isRefused: isShort, isOverSize, memory } = this.#sink
    const distances = this.#distances
    if (!forward) for (const list of [pieces, ends, distances]) list.reverse()
    const [from, to] = forward ? [lo, Math.max(lo, at)] : [at, end ?? hi]
    const { isLacking, isShort: isCut } = this.#around
    return {
      pieces,
      ends,
      from,
      to,
      splitsRecord,
      complete,
      cut: cut || isCut,
      isShort,
      isOverSize,
      memory,
      distances,
      isLacking,
    }
  }

  /** Takes the next record in the direction of the page; where it does not belong to the page any more, that ends. */
  #take({ bytes, start, end, base, isOwned, distance, isFinal }: Taken): Ending | null {
    const { forward } = this.#range
    const sink = this.#sink
    const near = base + (forward ? start : end)
    const far = base + (forward ? end : start)
    if (this.#left <= 0 && (distance === 0 || distance === AHEAD)) return { at: near }
    const isFirst = sink.pieces.length === 0
    sink.extra = isFirst || near === this.#edge ? 0 : this.#separator
    if (!(isOwned ? sink.adopt(bytes, base) : sink.take(bytes, start, end, base))) {
      if (!isFirst) return { at: near }
      this.#distances.push(distance)
      const cut = forward ? sink.cutForth(bytes, start, end, base) : sink.cutBack(bytes, start, end, base)
      this.#edge = near
      const isWhole = cut === (forward ? end : start)
      return { at: base + cut, splitsRecord: !isWhole, complete: isWhole && isFinal }
    }
    this.#distances.push(distance)
    this.#edge = far
    if (distance === 0) this.#left--
    const isDone = this.#left <= 0 && distance >= this.#around.count
    return sink.isFull() || isDone ? { at: far, complete: isFinal } : null
  }

  /** Takes what was kept of an archive. */
  #adopt(recent: RecentAround, { from, isLast, stopped }: ArchivePass): Ending | null {
    const first = recent.hasDropped ? recent.kept[0]!.start : from
    if (recent.observer) this.#options.observer!.adopt(recent.observer, first)
    const budget = stopped === null ? {} : { end: stopped, cut: true }
    for (const { bytes, start, distance } of recent.kept.toReversed()) {
      const isFinal = isLast && start <= from
      const record = { bytes, start: 0, end: bytes.length, base: start, distance, isOwned: true, isFinal }
      const ending = this.#take(record)
      if (ending) return { ...ending, ...budget }
    }
    if (stopped !== null) return { at: first, ...budget, complete: isLast && !recent.hasDropped }
    if (this.#left <= 0 && this.#edge !== first) return { at: this.#edge }
    return recent.hasDropped ? { at: first } : null
  }
}

interface RecentLimits {
  size: number
  /** How many matches are kept: one more than the page may have, because it ends there. */
  matches: number
  memory: Lease | null
  observer: ChunkObserver | undefined
}

/** The most recent records that may fit, of an archive that cannot be read backwards. */
class RecentAround {
  kept: { bytes: Uint8Array; start: number; distance: number }[] = []
  /** Whether older records were found and dropped. */
  hasDropped = false
  readonly memory: Lease | null
  readonly observer: ChunkObserver | undefined
  readonly #around: Around
  readonly #limits: RecentLimits
  #size = 0
  #matches = 0

  constructor(around: Around, limits: RecentLimits) {
    this.#around = around
    this.#limits = limits
    this.memory = limits.memory
    this.observer = limits.observer
  }

  async take(part: WalkPart): Promise<null> {
    const ranges = await part.wanted()
    const { distances } = this.#around
    const { bytes, base, to } = part
    this.observer?.saw(part, ranges, 0, ranges.length)
    const { size, matches } = this.#limits
    let first = 0
    const drop = () => {
      const { bytes, distance } = this.kept[first++]!
      this.#size -= bytes.length
      if (distance === 0) this.#matches--
      this.memory?.shrink(bytes.length + RECORD_COST)
      this.hasDropped = true
    }
    for (const [i, distance] of distances.entries()) {
      const [start, end] = [ranges[2 * i]!, ranges[2 * i + 1]!]
      // Other responses may hold the memory: then fewer records are kept, as if less had been requested.
      while (this.memory && !this.memory.grow(end - start + RECORD_COST)) {
        if (first >= this.kept.length) throw noMemory()
        drop()
      }
      this.kept.push({ bytes: bytes.slice(start, end), start: base + start, distance })
      this.#size += end - start
      if (distance === 0) this.#matches++
      const isOver = ({ bytes, distance }: { bytes: Uint8Array; distance: number }) =>
        this.#size - bytes.length > size || this.#matches - (distance === 0 ? 1 : 0) >= matches
      while (first < this.kept.length - 1 && isOver(this.kept[first]!)) drop()
    }
    if (first > 0) this.kept = this.kept.slice(first)
    this.observer?.forget(this.kept[0]?.start ?? base + to)
    return null
  }
}
