import type { Clock } from '../../../kit/limits/clock.ts'
import type { Lease, MemoryBudget } from '../../../kit/limits/memory-budget.ts'
import { lineEnd } from '../../format/lines.ts'
import { BLOCK, giveBack, takeBlock } from '../../search/blocks.ts'
import type { WalkRange } from '../../search/range.ts'
import { type Keeps, noMemory } from '../../search/sink.ts'
import type { Series } from '../../text/series.ts'
import type { Collector } from '../../view/request.ts'
import { Neighbours, type Searched } from './neighbours.ts'

/** Longest record kept while reading ahead, shared by all logs: each of them has about 17. */
export const LONGEST = 1024 * 1024

/** What the logs that are read together may hold, and how far each is searched. */
interface CollectedLimits {
  stretch: number
  count: number
  memory: MemoryBudget | undefined
}

/** What is collected of the records that a search goes through, besides those that it returns. */
export class Collected implements Collector {
  readonly stretch: number
  readonly #limits: CollectedLimits
  #neighbours: Neighbours | null = null
  /** Long records, whose bytes are read again in their turn: 32 logs would each hold several of up to 8 MiB. */
  #long: Searched[] = []

  constructor(limits: CollectedLimits) {
    this.#limits = limits
    this.stretch = limits.stretch
  }

  begin(range: WalkRange): { observer: Neighbours; keeps: Keeps } {
    this.#neighbours = new Neighbours(range.filter, range.forward)
    this.#long = []
    return { observer: this.#neighbours, keeps: (bytes, start) => this.#keeps(bytes, start, range) }
  }

  /** What was collected of [from, to). */
  within(from: number, to: number): Searched[] {
    const long = this.#long.filter(({ start, end }) => start >= from && end <= to)
    return [...long, ...(this.#neighbours?.within(from, to) ?? [])]
  }

  #keeps(bytes: Uint8Array, start: number, { series, filter, forward }: WalkRange): boolean {
    const { count, memory } = this.#limits
    const { format, zone } = filter
    if (bytes.length <= LONGEST / count) return true
    const end = start + bytes.length
    // Forward, to go back in a compressed file is to read it from its start: that is only done when memory is scarce.
    const isArchived = [...series.addresses.within(start, end)].some(({ part }) => part.compressed)
    if (isArchived && forward && (!memory || memory.used + bytes.length <= memory.total / 2)) return true
    const time = format.time(bytes, 0, lineEnd(bytes, 0, bytes.length), zone)
    this.#long.push({ bytes: null, start, end, time, in: series })
    return false
  }
}

/** Long records whose turn has come. Their memory is used again: a collector would notice it too late. */
export class LoadedRecords {
  readonly #clock: Clock
  #lease: Lease | null = null
  #blocks: Uint8Array[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Reads a record; throws `too-busy` if there is no memory for it. */
  async load(
    series: Series,
    { start, end }: Pick<Searched, 'start' | 'end'>,
    memory: MemoryBudget | undefined,
  ): Promise<Uint8Array> {
    const length = end - start
    this.#lease ??= memory?.lease(0) ?? null
    if (this.#lease?.grow(length) === false) throw noMemory()
    const block = length > BLOCK / 2 ? takeBlock() : new Uint8Array(length)
    // Only then: it may be released before, and a read into it cannot be interrupted.
    const bytes = await series.read(start, end, { into: block }).finally(() => this.#blocks.push(block))
    series.trim()
    return bytes
  }

  release(): void {
    this.#lease?.release()
    this.#lease = null
    for (const block of this.#blocks) giveBack(block, this.#clock)
    this.#blocks = []
  }
}
