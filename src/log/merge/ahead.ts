import type { Clock } from '../../kit/limits/clock.ts'
import { each } from '../../kit/limits/each.ts'
import type { MemoryBudget } from '../../kit/limits/memory-budget.ts'
import type { ViewContext } from '../view/context.ts'
import { ONE_MORE } from '../view/request.ts'
import type { LaneRead, MergeLane } from './lane.ts'
import { LONGEST } from './records/long.ts'
import { NEIGHBOUR_RECORDS } from './records/order.ts'
import { ELSEWHERE_AT_ONCE, IN_SLOT } from './source.ts'

/** What of a page is still to be filled. */
export interface PageRoom {
  size: number
  lines: number
}

/** What is read for a page. */
export interface AheadOptions {
  lanes: readonly MergeLane[]
  forward: boolean
  /** Whether records are looked for, so that much may be read for few of them. */
  isSearch: boolean
  fit: PageRoom
  /** Whether all of the timeline is read, one page after the other. @default false */
  all?: boolean | undefined
  /** Whether there is one log, which is searched as if by itself. @default false */
  alone?: boolean | undefined
  clock: Clock
}

const KIB = 1024
const MIB = 1024 * KIB
/** Every log may read this much, however many share a budget. */
const LEAST_SCAN = 4 * MIB
/** How many logs are read at once: on a disk, and in a bucket, where a short page of each costs only the way there. */
const NEAR_AT_ONCE = 2
const FAR_AT_ONCE = 32
const SEARCHED_AT_ONCE = 16
/** Bytes that are searched together in as many logs as can be read at once. */
const SHORT_SEARCH = 8 * MIB
/** How much of the memory for answers one page takes: what the page before it took may not be collected yet. */
const SHARE_OF_MEMORY = 0.5
/** More than its share of a page is read of each log, because shares are not even. */
const SHARE = 1.25
const SMALLEST_READ = 4 * KIB
/** What an archive keeps of its text, however many logs share the memory of two. */
const SMALLEST_WINDOW = 512 * KIB
/** How much of each log is searched at first: it shows how far the page reaches. */
const FIRST_STRETCH = 128 * KIB
const SMALLEST_STRETCH = 32 * KIB
/** How much further a search goes at most, as a part of what was searched: a few matches say little about the next. */
const FURTHER = 0.5
const FURTHER_AFTER_SOME = 2
const SOME_FOUND = 16
/** On a disk, each step costs more than a few bytes too many: 384 MB without a match take half the time. */
const FIRST_NEAR = 512 * KIB
const FURTHER_NEAR = 7

/** Decides which logs are read on for a page, and how far. */
export class Ahead {
  readonly #options: AheadOptions
  readonly #started: number
  /** What the logs may hold together. */
  readonly memory: MemoryBudget | undefined
  #reads = 0

  constructor(options: AheadOptions) {
    this.#options = options
    this.#started = options.clock.elapsed()
    this.memory = options.lanes[0]?.source.context.memory?.part(SHARE_OF_MEMORY)
  }

  begin(): void {
    this.#reads = 0
  }

  /** Reads some of the logs on, one of which the page is waiting for. */
  async readOn(
    active: readonly MergeLane[],
    rest: PageRoom,
    read: (lane: MergeLane, wanted: LaneRead, context: ViewContext) => Promise<void>,
  ): Promise<void> {
    const target = this.#target()
    const open = active.filter((lane) => lane.isOpen)
    const waiting = open.filter((lane) => !lane.hasHead || this.#distance(lane, target) > 0)
    const wanted = new Map(waiting.map((lane) => [lane, this.#wanted(lane, rest, target, open.length)]))
    const readAll = (lanes: readonly MergeLane[], atOnce: number) =>
      each(lanes, atOnce, (lane) => {
        const part = wanted.get(lane)!
        return read(lane, part, this.#context(lane, part))
      })
    const here = waiting.filter(({ isElsewhere }) => !isElsewhere)
    const isNear = here.every(({ source }) => source.context.files.isNear)
    const searched = here.reduce((sum, lane) => sum + wanted.get(lane)!.stretch, 0)
    const far = this.#options.isSearch && searched > SHORT_SEARCH ? SEARCHED_AT_ONCE : FAR_AT_ONCE
    const there = waiting.filter(({ isElsewhere }) => isElsewhere)
    await Promise.all([readAll(here, isNear ? NEAR_AT_ONCE : far), readAll(there, ELSEWHERE_AT_ONCE)])
    this.#reads++
  }

  /** What a log is read with: all of them share one slot and one budget. */
  #context({ source, distance }: MergeLane, { size }: LaneRead): ViewContext {
    const { limits, parallel = 1 } = source.context
    const count = this.#options.lanes.length
    const share = Math.max(LEAST_SCAN, Math.floor(limits.scanBytes / count))
    return {
      ...source.context,
      scans: IN_SLOT,
      archives: IN_SLOT,
      memory: this.memory,
      parallel: Math.max(1, Math.floor(parallel / count)),
      limits: {
        ...limits,
        archiveWindow: Math.max(SMALLEST_WINDOW, Math.floor((2 * limits.archiveWindow) / count)),
        scanBytes: Math.max(1, share - distance),
        scanMillis: Math.max(1, limits.scanMillis - (this.#options.clock.elapsed() - this.#started)),
        scanChunk: this.#options.isSearch
          ? this.#options.alone
            ? limits.scanChunk
            : Math.max(MIB / 4, Math.floor((8 * MIB) / count))
          : Math.min(MIB, Math.max(16 * KIB, size + ONE_MORE)),
      },
    }
  }

  /** How much of a log is read next: its share of what is left, and more each time. */
  #wanted(lane: MergeLane, { size, lines }: PageRoom, target: number, open: number): LaneRead {
    const count = this.#options.lanes.length
    // Of a long record, nothing is held.
    const average = Math.min(lane.average, Math.floor(LONGEST / count))
    const rest = Math.min(size, lines * average)
    const edge = NEIGHBOUR_RECORDS * average
    const { lead } = lane
    const part = (of: number) => Math.ceil((SHARE * of) / open) * 2 ** Math.min(8, this.#reads)
    const bytes = Math.max(SMALLEST_READ, Math.min(part(rest), rest + edge) + edge + lead)
    if (!this.#options.isSearch) return { size: bytes, lines: null, stretch: Number.POSITIVE_INFINITY, count }
    const records = Math.ceil(rest / average)
    const most = Math.min(part(records), records + NEIGHBOUR_RECORDS) + NEIGHBOUR_RECORDS
    return { size: bytes, lines: Math.max(1, most), stretch: lead + this.#stretch(lane, target), count }
  }

  /** How far a log is searched next: to the time of the target, if it goes on as it did so far. */
  #stretch(lane: MergeLane, target: number): number {
    const { isNear = false } = lane.source.context.files
    if (this.#options.all) return SHORT_SEARCH
    // Nothing else could end the page sooner.
    if (this.#options.alone) return Number.POSITIVE_INFINITY
    if (lane.distance === 0) return isNear ? FIRST_NEAR : FIRST_STRETCH
    const least = Math.max(SMALLEST_STRETCH, lane.distance / 8)
    const found = this.#options.lanes.reduce((sum, each) => sum + each.found, 0)
    const further = isNear ? FURTHER_NEAR : found >= SOME_FOUND ? FURTHER_AFTER_SOME : FURTHER
    const most = Math.max(SMALLEST_STRETCH, further * lane.distance)
    const passed = Math.abs(lane.bound - lane.start)
    const needed = (this.#distance(lane, target) / passed) * lane.distance
    return Number.isNaN(needed) ? most : Math.ceil(Math.min(most, Math.max(least, needed)))
  }

  /** How far a log is from a time: zero or less if it has been read up to there. */
  #distance({ bound }: MergeLane, target: number): number {
    return this.#options.forward ? target - bound : bound - target
  }

  /** When the page is going to be full, if matches go on to be as frequent as they were so far. */
  #target(): number {
    const { lanes, forward, fit, isSearch, all } = this.#options
    const sign = forward ? 1 : -1
    // Only what the page is waiting for is read.
    if (!isSearch || all) return sign * Number.NEGATIVE_INFINITY
    const read = lanes.filter((lane) => Number.isFinite(lane.bound))
    let perMs = 0
    for (const { found, bound, start } of read) if (bound !== start) perMs += found / Math.abs(bound - start)
    const average = read.reduce((sum, lane) => sum + lane.average, 0) / read.length
    const starts = read.map(({ start }) => start)
    const start = forward ? Math.min(...starts) : Math.max(...starts)
    return start + (sign * Math.min(fit.lines, fit.size / average)) / perMs
  }
}
