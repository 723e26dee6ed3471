import { type Budget, BudgetError } from '../../../kit/limits/budget.ts'
import { endOf, nextStart, startOf } from '../../format/lines.ts'
import type { Series } from '../../text/series.ts'
import { type Chunk, type Filter, matches, timeAt } from '../filter.ts'
import { matchesInTurns } from '../in-turns.ts'
import { AHEAD, type Surroundings } from '../range.ts'
import { MAX_RECORD, recordBefore, timeBefore } from '../records.ts'

/** What records around matches are searched in. */
export interface AroundOptions {
  series: Series
  filter: Filter
  budget: Budget
  /** How many records before and after each match are wanted. */
  count: number
  /** Whether the page is read from older to newer records. */
  forward: boolean
  /** Nothing below or above was requested. */
  bottom: number
  top: number
  /** Whether the log goes on beyond what is open of it, on either side. */
  beyond: { older: boolean; newer: boolean }
}

/** A record further from a match than this many bytes is no context: it would have to be looked for in gigabytes. */
const REACH_BYTES = 1024 * 1024
/** How much beyond a part is read at first. */
const FIRST_LOOK = 64 * 1024

/** The nearest match on one side of a place: how many records away, itself included, and the address of its near end. */
interface Nearest {
  records: number
  at: number
}

type RecordSpan = readonly [start: number, end: number]

/**
 * Adds to the matches of a part of a log the records around them. Whether a record is one of those depends on the
 * records next to it alone, so it is the same on every page and in both directions.
 */
export class Around implements Surroundings {
  /** Of each record that was given last: how many records after a match it is, in the direction of the page. */
  distances: number[] = []
  /** Whether the budget ended before all neighbours were known. */
  isShort = false
  /** Whether neighbours are beyond what is open. */
  isLacking = false
  readonly count: number
  readonly #options: AroundOptions
  /** Records that have no wanted time are none of the neighbours: then these are those that have. */
  readonly #period: Filter | null
  #inPeriod: { chunk: Chunk; ranges: ArrayLike<number> } | null = null
  /** What is known at the ends of the last part: the nearest match before its end, and after its beginning. */
  #known = new Map<string, Nearest | null>()

  constructor(options: AroundOptions) {
    const { filter, count } = options
    this.#options = options
    this.count = count
    const selection = filter.selection.with({ matcher: null, levels: null })
    this.#period = filter.since || filter.until ? { ...filter, selection } : null
  }

  async widen(
    chunk: Chunk,
    ranges: ArrayLike<number>,
    splits: 'start' | 'end' | null,
  ): Promise<ArrayLike<number>> {
    const { from, to, base } = chunk
    const split = splits && (await this.#splitRecord(chunk, splits))
    // The part of a record that was given before counts as found until all of it is tested.
    const found = split && !split.isMatch ? Array.from(ranges).slice(2) : ranges
    const out = new Widened(this.#options.forward)
    const before = await this.#nearest('before', splits === 'start' ? split!.address : base + from, chunk)
    const after = await this.#nearest('after', splits === 'end' ? split!.address : base + to, chunk)
    let at = from
    let last = before
    for (let i = 0; i < found.length; i += 2) {
      const [start, end] = [found[i]!, found[i + 1]!]
      this.#between(chunk, [at, start], [last, { records: 1, at: base + start }], out)
      out.add([start, end], 0)
      at = end
      last = { records: 1, at: base + end }
    }
    this.#between(chunk, [at, to], [last, after], out)
    // The other part of a record that was given is given, too.
    if (split && !split.isMatch) out.force(splits === 'start' ? [from, split.end] : [from, to], splits!)
    this.#remember(chunk, found, before, after)
    this.distances = out.distances
    return out.ranges
  }

  /** The records of bytes[from, to), where nothing matches, that are near a match before or after that. */
  #between(chunk: Chunk, [from, to]: RecordSpan, [before, after]: (Nearest | null)[], out: Widened): void {
    if (from >= to) return
    const { base } = chunk
    const { count } = this.#options
    const rows = new Map<number, { range: RecordSpan; after: number; before: number }>()
    const next = before ? this.#records(chunk, [from, to], count - before.records + 1, 'after') : []
    for (const [i, range] of next.entries()) {
      if (base + range[0] - before!.at > REACH_BYTES) break
      rows.set(range[0], { range, after: before!.records + i, before: AHEAD })
    }
    const previous = after ? this.#records(chunk, [from, to], count - after.records + 1, 'before') : []
    const leading: { range: RecordSpan; after: number; before: number }[] = []
    for (const [i, range] of previous.entries()) {
      if (after!.at - base - range[1] > REACH_BYTES) break
      const known = rows.get(range[0])
      if (known) known.before = after!.records + i
      else leading.unshift({ range, after: AHEAD, before: after!.records + i })
    }
    for (const { range, after, before } of [...rows.values(), ...leading]) out.add(range, after, before)
  }

  /** The first records of bytes[from, to), or the last ones, the last first. */
  #records(chunk: Chunk, [from, to]: RecordSpan, count: number, which: 'after' | 'before'): RecordSpan[] {
    if (this.#period) return this.#recordsInPeriod(chunk, [from, to], count, which)
    const { bytes } = chunk
    const { format } = this.#options.filter
    const found: RecordSpan[] = []
    if (which === 'after')
      for (let at = from; at < to && found.length < count; at = found.at(-1)![1])
        found.push([at, endOf(format, bytes, at, to)])
    else
      for (let end = to; end > from && found.length < count; end = found.at(-1)![0])
        found.push([startOf(format, { bytes, from, to: end }, end - 1), end])
    return found
  }

  #recordsInPeriod(
    chunk: Chunk,
    [from, to]: RecordSpan,
    count: number,
    which: 'after' | 'before',
  ): RecordSpan[] {
    if (this.#inPeriod?.chunk !== chunk) this.#inPeriod = { chunk, ranges: matches(chunk, this.#period!) }
    const { ranges } = this.#inPeriod
    const found: RecordSpan[] = []
    const step = which === 'after' ? 2 : -2
    // The first record that starts at the beginning or after it, or the one before the first that starts at the end.
    for (let i = which === 'after' ? firstFrom(ranges, from) : firstFrom(ranges, to) - 2; ; i += step) {
      const [start = -1, end = -1] = [ranges[i], ranges[i + 1]]
      if (found.length >= count || start < from || end > to) return found
      found.push([start, end])
    }
  }

  /** Keeps what the next part, on either side, needs to know. */
  #remember(chunk: Chunk, found: ArrayLike<number>, before: Nearest | null, after: Nearest | null): void {
    const { from, to, base } = chunk
    const { count } = this.#options
    const last = found.length > 0 ? { records: 1, at: base + found[found.length - 1]! } : before
    const first = found.length > 0 ? { records: 1, at: base + found[0]! } : after
    const rest: RecordSpan = [found.length > 0 ? found[found.length - 1]! : from, to]
    const head: RecordSpan = [from, found.length > 0 ? found[0]! : to]
    const passed = (nearest: Nearest | null, range: RecordSpan, which: 'after' | 'before') => {
      const records = nearest && nearest.records + this.#records(chunk, range, count, which).length
      return records !== null && records <= count ? { records, at: nearest!.at } : null
    }
    this.#known = new Map([
      [`before ${base + to}`, passed(last, rest, 'after')],
      [`after ${base + from}`, passed(first, head, 'before')],
    ])
  }

  /** The nearest match before a record border, or after it; null if none is near. */
  async #nearest(side: 'before' | 'after', address: number, chunk: Chunk): Promise<Nearest | null> {
    const { count } = this.#options
    const known = this.#known.get(`${side} ${address}`)
    if (known !== undefined || count === 0) return known ?? null
    try {
      const inMemory = await this.#inMemory(side, address, chunk)
      return inMemory === undefined ? await this.#look(side, address) : inMemory
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error
      this.isShort = true
      return null
    }
  }

  /** The same, if what the chunk has besides the part tells it. */
  async #inMemory(
    side: 'before' | 'after',
    address: number,
    { bytes, from, to, base }: Chunk,
  ): Promise<Nearest | null | undefined> {
    const { format } = this.#options.filter
    if (side === 'before') {
      if (address !== base + from) return undefined
      const first = nextStart(format, bytes, Math.max(0, from - FIRST_LOOK), from)
      return first < 0 ? undefined : this.#nearestIn({ bytes, from: first, to: from, base }, side)
    }
    const limit = Math.min(bytes.length, to + FIRST_LOOK, this.#options.top - base)
    const end = address === base + to && limit > to ? lastWhole(format, bytes, to, limit) : -1
    return end <= to ? undefined : this.#nearestIn({ bytes, from: to, to: end, base }, side)
  }

  /** Reads beyond an address until it is known. */
  async #look(side: 'before' | 'after', address: number): Promise<Nearest | null> {
    const { series, filter, bottom, top, beyond } = this.#options
    const { format } = filter
    for (let length = FIRST_LOOK; ; length *= 4) {
      const start =
        side === 'after' ? address : await series.addresses.floor(Math.max(bottom, address - length))
      const end = side === 'after' ? Math.min(top, address + length) : address
      const isEnd = side === 'after' ? end >= top : start <= bottom || series.addresses.isStart(start)
      const bytes = await series.read(start, end)
      const from = side === 'after' || isEnd ? 0 : nextStart(format, bytes, 0, bytes.length)
      const to = side === 'before' || isEnd ? bytes.length : lastWhole(format, bytes, 0, bytes.length)
      const nearest =
        from < 0 || to <= 0 ? undefined : await this.#nearestIn({ bytes, from, to, base: start }, side)
      if (nearest !== undefined) return nearest
      if (isEnd) {
        const isOpen = side === 'after' ? beyond.newer && end >= series.end : beyond.older && start > bottom
        if (isOpen) this.isLacking = true
        return null
      }
      if (length > REACH_BYTES) return null
    }
  }

  /** The nearest match in a part that begins, or ends, at the border; undefined if only more of the log tells it. */
  async #nearestIn(part: Chunk, side: 'before' | 'after'): Promise<Nearest | null | undefined> {
    const { filter, budget, count } = this.#options
    const chunk = await this.#timed(part)
    const { from, to, base } = chunk
    const found = await matchesInTurns(chunk, filter, budget)
    const match = found.length === 0 ? null : side === 'after' ? found[0]! : found[found.length - 1]!
    const passed: RecordSpan = side === 'after' ? [from, match ?? to] : [match ?? from, to]
    const records = this.#records(chunk, passed, count, side).length
    if (records >= count) return null
    return match === null ? undefined : { records: records + 1, at: base + match }
  }

  /** A part whose first record may have the time of the one before it. */
  async #timed(chunk: Chunk): Promise<Chunk> {
    const { bytes, from, to, base } = chunk
    const { filter } = this.#options
    if (!this.#period || !Number.isNaN(timeAt(bytes, from, to, filter))) return chunk
    return { ...chunk, before: await timeBefore(this.#options, base + from) }
  }

  /** A record of which the part has the rest, or the beginning: where its other end is, and whether it matches. */
  async #splitRecord({ bytes, from, to, base }: Chunk, splits: 'start' | 'end') {
    const { series, filter, budget, top } = this.#options
    const { format } = filter
    const isStart = splits === 'start'
    const end = isStart ? endOf(format, bytes, from, to) : to
    const address = isStart
      ? await recordBefore(series, base + from, top, format)
      : await this.#recordEnd(base + from, base + to)
    const [low, high] = isStart ? [address, base + end] : [base + from, address]
    const record = await this.#timed({
      bytes: await series.read(low, high),
      from: 0,
      to: high - low,
      base: low,
    })
    return { address, end, isMatch: (await matchesInTurns(record, filter, budget)).length > 0 }
  }

  /** Where the record that begins at an address ends, if it goes on at another one. */
  async #recordEnd(start: number, inside: number): Promise<number> {
    const { series, filter, top } = this.#options
    for (let length = FIRST_LOOK; ; length *= 4) {
      const end = Math.min(top, inside + length)
      const bytes = await series.read(start, end)
      const next = nextStart(filter.format, bytes, inside - start - 1, bytes.length)
      // The last line may be cut, and judging it takes all of it.
      if (next >= 0 && (end === top || bytes.indexOf(10, next) >= 0)) return start + next
      if (end >= top || length >= MAX_RECORD) return end
    }
  }
}

/** What was found so far, in log order. */
class Widened {
  readonly ranges: number[] = []
  readonly distances: number[] = []
  readonly #forward: boolean

  constructor(forward: boolean) {
    this.#forward = forward
  }

  add([start, end]: RecordSpan, after: number, before = after): void {
    this.ranges.push(start, end)
    this.distances.push(this.#forward ? after : before)
  }

  /** Adds a record at one end, if it is not there. */
  force([start, end]: RecordSpan, at: 'start' | 'end'): void {
    if (at === 'start' && this.ranges[0] !== start) {
      this.ranges.unshift(start, end)
      this.distances.unshift(AHEAD)
    }
    if (at === 'end' && this.ranges.at(-1) !== end) {
      this.ranges.push(start, end)
      this.distances.push(AHEAD)
    }
  }
}

/** Which of the pairs of start and end is the first that starts at a place or after it. */
function firstFrom(ranges: ArrayLike<number>, at: number): number {
  let low = 0
  for (let high = ranges.length / 2; low < high; ) {
    const middle = (low + high) >> 1
    if (ranges[2 * middle]! < at) low = middle + 1
    else high = middle
  }
  return 2 * low
}

/** Where the last record of bytes[from, to) begins that may go on after that; -1 if that is the only one. */
function lastWhole(format: Filter['format'], bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.lastIndexOf(10, to - 1)
  if (lf < from) return -1
  const start = startOf(format, { bytes, from, to: lf + 1 }, lf)
  return start > from ? start : -1
}
