import { BudgetError } from '../../kit/limits/budget.ts'
import { TURN_MILLIS } from '../../kit/limits/yield.ts'
import { lastStart, lineEnd, nextStart } from '../format/lines.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { characterStart, isHole } from '../text/bytes.ts'
import { lastTime } from '../text/format.ts'
import type { KnownBlocks } from '../text/text.ts'
import { type Chunk, isWantedAlone, timeAt } from './filter.ts'
import { hasMatch, matchesInTurns } from './in-turns.ts'
import { isEveryTimeSeen, isOutside, scannerFor, sizesOf, type WalkRange } from './range.ts'
import { ReadAhead } from './read-ahead.ts'
import { MAX_RECORD, recordBefore, timeBefore } from './records.ts'

/** The next part of a log on a walk, in whole records. */
export interface WalkPart extends Chunk {
  scanner: Scanner | null
  /** Whether the range ends with it. */
  isLast: boolean
  /** The records that the filter wants, as pairs of start and end; valid until the scanner is used again. */
  wanted(): Promise<ArrayLike<number>>
}

/** A slow pattern is matched in small steps, a quick one in larger ones. */
const UNIT = 64 * 1024
const LARGEST_UNIT = 1024 * 1024
/** Bytes per read of an archive that is read from its start. */
const PASS_CHUNK = 1024 * 1024

/** The whole records of a chunk that were not given yet: bytes[from, to). */
interface ChunkRest extends Chunk {
  /** Whether the range ends with the chunk. */
  isLast: boolean
  /** Whether its last record goes on beyond it. */
  goesOn: boolean
}

/** Goes through a log in one direction, a part at a time. */
export class LogWalk {
  readonly range: WalkRange
  /** Everything from where the walk began up to here was passed. */
  at: number
  /** Whether the budget ended it. */
  isCut = false
  /** Whether it came to the end of its range. */
  isComplete = false
  /** The walk that goes back and met this archive, which has to be read from its start. */
  readonly #outer: LogWalk | null
  readonly #scanner: Scanner | null
  readonly #reader: ReadAhead
  readonly #blocks: KnownBlocks | null
  readonly #isTimed: boolean
  /** Whether the next unit depends on how long the last one took. */
  readonly #isSlow: boolean
  #hasBegun = false
  #hasRead = false
  /** The length of the next read, if a record did not fit into the last one. */
  #longer: number | null = null
  #rest: ChunkRest | null = null
  /** Where the part that was given last ends, and since when it is being examined. */
  #passed: number
  #given = 0
  /** How much is given at a time. */
  #unit: number
  /** Forward: whether the next part begins with the rest of a wanted record, and the time before it if it is known. */
  #isInside: boolean
  #before: number | null = null

  constructor(range: WalkRange, outer: LogWalk | null = null) {
    const { series, forward, lo, hi, filter } = range
    this.range = range
    this.at = forward ? lo : hi
    this.#passed = this.at
    this.#outer = outer
    this.#isInside = forward && range.splitsRecord === true
    this.#isTimed = filter.since !== null || filter.until !== null || range.looksAtAll === true
    const sizes = outer ? { step: PASS_CHUNK, largest: PASS_CHUNK } : sizesOf(range)
    this.#scanner = outer ? outer.#scanner : scannerFor(range, sizes.largest)
    const memory = this.#scanner && (outer ? [this.#scanner.guest] : this.#scanner.chunks)
    this.#reader = new ReadAhead(range, { ...sizes, buffers: memory ?? [], isPass: outer !== null })
    // The format of an archive that is part of a longer log is that of the newest file, so its times hold for that log only.
    const isAlone = outer !== null && series.parts.length === 1 && !range.needsRejected
    this.#blocks = isAlone ? (series.parts[0]!.blocks ?? null) : null
    const { matcher, levels } = filter.selection
    // A plain text is found at 2 GB/s, and a walk forward has as much as it reads at a time.
    const isFast =
      this.#scanner !== null &&
      matcher?.sure === true &&
      levels === null &&
      !range.looksAtAll &&
      !range.inPieces
    this.#isSlow = !forward && !isFast
    this.#unit = isFast ? Number.POSITIVE_INFINITY : forward ? LARGEST_UNIT : UNIT
  }

  /** How far it went from where it began; below zero while it is in a record that began before. */
  get distance(): number {
    const { forward, lo, hi } = this.range
    return forward ? this.at - lo : hi - this.at
  }

  /**
   * The next part; null at the end, and where the budget or the stretch ends. A walk back that meets an archive which
   * has to be read from its start gives a walk through that. About `reach` bytes beyond the part are likely to be needed.
   */
  async next(reach = Number.POSITIVE_INFINITY): Promise<WalkPart | LogWalk | null> {
    try {
      await this.#moveOn()
      return this.#rest ? await this.#partOf(this.#rest) : await this.#readOn(reach)
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error
      // Nothing could be read, and a retry would end here, too.
      if (this.distance <= 0 && !this.#outer) throw error
      this.isCut = true
      return null
    }
  }

  /** Ends pending reads. */
  async end(): Promise<void> {
    await this.#reader.end()
    if (!this.#outer) this.#scanner?.release()
  }

  /** Passes the part that was given last. */
  async #moveOn(): Promise<void> {
    const { budget } = this.range
    this.at = this.#passed
    if (this.#rest === null) return
    const isQuick = budget.clock.elapsed() - this.#given <= TURN_MILLIS / 4
    if (this.#isSlow) this.#unit = isQuick ? Math.min(2 * this.#unit, LARGEST_UNIT) : UNIT
    await budget.step()
  }

  async #readOn(reach: number): Promise<WalkPart | LogWalk | null> {
    const { budget, stretch } = this.range
    const first = this.#hasBegun ? null : await this.#begin()
    this.#hasBegun = true
    if (first) return first
    while (!this.#rest) {
      this.isComplete ||= this.#isAtEnd()
      // A record that a chunk cuts is left to the next walk.
      const isFar = stretch !== undefined && this.distance >= 0.75 * stretch
      if (this.isComplete || isFar) return null
      if (!(await budget.step())) {
        this.isCut = true
        return null
      }
      const archive = await this.#archive()
      if (archive) return archive
      await this.#chunk(reach)
    }
    return this.#partOf(this.#rest)
  }

  #isAtEnd(): boolean {
    const { forward, lo, hi } = this.range
    return forward ? this.at >= hi : this.at <= lo
  }

  /** Forward, goes to where the first record begins; back, gives the record that `hi` cuts, whose beginning may look like none. */
  async #begin(): Promise<WalkPart | null> {
    const { series, forward, lo, hi, filter, splitsRecord = false, isStart = false } = this.range
    if (isStart || this.#outer || lo >= hi || (forward && splitsRecord)) return null
    if (forward) {
      this.#passed = this.at = await recordBefore(series, lo, hi, filter.format)
      return null
    }
    if (hi >= series.end) return null
    const head = Math.max(lo, await recordBefore(series, hi, series.end, filter.format))
    if (head >= hi) return null
    const bytes = await series.read(head, hi)
    const chunk = { bytes, from: 0, to: bytes.length, base: head }
    this.#passed = head
    return { ...chunk, scanner: null, isLast: head <= lo, wanted: () => this.#wantedAlone(chunk) }
  }

  async #wantedAlone(chunk: Chunk): Promise<ArrayLike<number>> {
    const { around, splitsRecord = false } = this.range
    const ranges = await this.#testedAlone(chunk)
    return around ? around.widen(chunk, ranges, splitsRecord ? 'end' : null) : ranges
  }

  async #testedAlone({ bytes, from, to, base }: Chunk): Promise<number[]> {
    const { filter, budget, splitsRecord = false } = this.range
    if (splitsRecord) return [from, to]
    const own = timeAt(bytes, from, to, filter)
    const time = this.#isTimed && Number.isNaN(own) ? await timeBefore(this.range, base) : own
    const untested = { ...filter, selection: filter.selection.with({ matcher: null }) }
    const isFound = isWantedAlone(bytes, base, untested, time) && (await hasMatch(bytes, filter, budget))
    return isFound ? [from, to] : []
  }

  /** A walk through the archive that ends here, if it must be read from its start. */
  async #archive(): Promise<LogWalk | null> {
    const { series, forward, lo } = this.range
    const start = forward ? null : await series.sequentialStart(this.at)
    if (start === null) return null
    const from = Math.max(lo, start)
    const isStart = from <= lo || series.addresses.isStart(from)
    const range = { ...this.range, forward: true, lo: from, hi: this.at, isStart, splitsRecord: false }
    const walk = new LogWalk({ ...range, stretch: undefined }, this)
    if (!isStart && !(await walk.#findStart())) {
      await walk.end()
      return null
    }
    this.#hasRead = true
    this.#passed = walk.at
    this.isComplete = isStart
    return walk
  }

  /** Goes to the first record of an archive; false if there is none in sight. */
  async #findStart(): Promise<boolean> {
    const { format } = this.range.filter
    const { bytes } = await this.#reader.chunk(this.at, null, 0)
    if (format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))) return true
    const first = nextStart(format, bytes, 0, bytes.length)
    this.#passed = this.at += Math.max(0, first)
    return first >= 0
  }

  /** Reads on. Nothing is left of the chunk if a record does not fit into it, or nothing in it can be wanted. */
  async #chunk(reach: number): Promise<void> {
    if (this.#skipKnown()) return
    const { series, forward, lo, hi, budget } = this.range
    // The first chunk often has the answer; only a walk that continues reads ahead.
    const readsAhead = this.#hasRead && budget.bytesLeft > this.#reader.largest && !this.#looksAround()
    const { from: base, bytes } = await this.#reader.chunk(this.at, this.#longer, readsAhead ? reach : 0)
    if (bytes.length === 0) {
      this.isComplete = true
      return
    }
    const isLast = forward ? base + bytes.length >= hi : base <= lo || series.addresses.isStart(base)
    if (!isLast && this.#isSkipped(bytes)) {
      this.#passed = this.at = base
      this.#spend(bytes.length)
      return
    }
    const whole = forward ? this.#wholeForward(bytes, isLast) : this.#wholeBack(bytes, isLast)
    this.#longer = whole ? null : Math.min(4 * bytes.length, MAX_RECORD)
    if (!whole) return
    this.#spend(whole.to - whole.from)
    this.#rest = { ...whole, bytes, base, isLast }
  }

  /** Whether an archive is read beside the walk, too: it has one place at a time. */
  #looksAround(): boolean {
    const { around, series } = this.range
    return around !== undefined && series.parts.some(({ compressed }) => compressed)
  }

  /** What takes the parts of an archive decides whether they count one by one. */
  #spend(bytes: number): void {
    this.#hasRead = true
    if (!this.#outer) this.range.budget.spend(bytes)
  }

  /** Whether a chunk is a hole of gigabytes, which is one line: no filter matches NULs. */
  #isSkipped(bytes: Uint8Array): boolean {
    const { forward, filter, looksAtAll = false } = this.range
    return !forward && (filter.selection.isSearch || looksAtAll) && this.#longer === null && isHole(bytes)
  }

  /** The whole records of a chunk; null if only a longer one has any. */
  #wholeBack(bytes: Uint8Array, isLast: boolean): Pick<ChunkRest, 'from' | 'to' | 'goesOn'> | null {
    const to = bytes.length
    const first = isLast ? 0 : nextStart(this.range.filter.format, bytes, 0, to)
    if (first < 0 && to < MAX_RECORD) return null
    return { from: first < 0 ? Math.max(1, characterStart(bytes, 1)) : first, to, goesOn: false }
  }

  #wholeForward(bytes: Uint8Array, isLast: boolean): Pick<ChunkRest, 'from' | 'to' | 'goesOn'> | null {
    const { lo, filter, inPieces = false } = this.range
    const last = isLast ? bytes.length : lastStart(filter.format, bytes, 0, bytes.length)
    if (last > 0 && this.at + last > lo) return { from: 0, to: last, goesOn: false }
    const isLongest = bytes.length >= MAX_RECORD
    // The rest of a long record is gone through in pieces: it would be read again, to its end, for each of them.
    const end = inPieces && (isLongest || this.#isInside) ? endOfPiece(bytes) : 0
    if (end > 0) return { from: 0, to: end, goesOn: true }
    return isLongest ? { from: 0, to: bytes.length, goesOn: false } : null
  }

  /** Passes a block of an archive of which no record has a wanted time. */
  #skipKnown(): boolean {
    const { hi, filter } = this.range
    const known = this.#blocks?.get(this.at)
    if (!known || known.to > hi || !isOutside(this.at, known, filter)) return false
    this.#passed = this.at = known.to
    this.#before = null
    return true
  }

  /** The next records of a chunk: as many as can be examined between two turns of the event loop. */
  async #partOf(rest: ChunkRest): Promise<WalkPart> {
    const { forward, filter, budget } = this.range
    const { bytes, base } = rest
    const { from, to } = this.#unitOf(rest)
    const isEnd = forward ? to >= rest.to : from <= rest.from
    this.#rest = isEnd ? null : { ...rest, ...(forward ? { from: to } : { to: from }) }
    this.#passed = base + (forward ? to : from)
    this.#given = budget.clock.elapsed()
    const before = await this.#timeBefore(rest, from, to)
    if (forward && this.#isTimed)
      this.#before = lastTime(filter.format, filter.zone, bytes, [from, to, before ?? Number.NaN])
    const first = this.#isInside
    this.#isInside = false
    const chunk = { bytes, from, to, base, before }
    const goesOn = isEnd && rest.goesOn
    return {
      ...chunk,
      scanner: this.#scanner,
      isLast: isEnd && rest.isLast,
      wanted: async () => {
        const ranges = await this.#wanted(chunk, first, rest.isLast)
        if (goesOn) this.#isInside = ranges.length > 0 && ranges[ranges.length - 1] === to
        return ranges
      },
    }
  }

  #unitOf({ bytes, from, to }: ChunkRest): { from: number; to: number } {
    const { forward, filter } = this.range
    if (to - from <= this.#unit) return { from, to }
    const start = nextStart(filter.format, bytes, forward ? from + this.#unit : to - this.#unit, to)
    if (start < 0) return { from, to }
    return forward ? { from, to: start } : { from: start, to }
  }

  /** The time of the record before bytes[from, to), if the first record there has none itself and times matter. */
  async #timeBefore(rest: ChunkRest, from: number, to: number): Promise<number | undefined> {
    const { filter } = this.range
    if (!this.#isTimed || from >= to) return undefined
    // To read back in an archive would mean to start over.
    if (this.#before !== null) return this.#before
    if (!Number.isNaN(timeAt(rest.bytes, from, to, filter))) return undefined
    const near = lastTime(filter.format, filter.zone, rest.bytes, [rest.from, from])
    return Number.isNaN(near) ? timeBefore(this.range, rest.base + from) : near
  }

  async #wanted(chunk: Chunk, first: boolean, isLast: boolean): Promise<ArrayLike<number>> {
    const { series, lo, hi, filter, budget, around } = this.range
    const { base, from, to } = chunk
    const times = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
    const timed = this.#blocks ? { ...filter, times } : filter
    const ranges = await matchesInTurns(chunk, timed, budget, { first, scanner: this.#scanner })
    const isWhole = !isLast || hi === series.end
    if (isWhole && isEveryTimeSeen(filter)) this.#blocks?.set(base + from, { to: base + to, ...times })
    const rest = base + from < lo ? await this.#withoutGiven(ranges, chunk) : ranges
    return around
      ? around.widen({ ...chunk, from: Math.max(from, lo - base) }, rest, first ? 'start' : null)
      : rest
  }

  /**
   * The first record began before `lo`, where the answer starts. If the part before it matched, it was already
   * returned, and its rest follows; if only the whole record matches, all of it follows.
   */
  async #withoutGiven(ranges: ArrayLike<number>, chunk: Chunk): Promise<ArrayLike<number>> {
    const place = this.range.lo - chunk.base
    if (ranges.length === 0 || ranges[0]! >= place) return ranges
    const [, end, ...rest] = Array.from(ranges)
    if (!(await this.#wasGiven(chunk))) return [ranges[0]!, end!, ...rest]
    return end! > place ? [place, end!, ...rest] : rest
  }

  /** Whether the part before `lo` matched. A line that had no end then may have counted to the record before it. */
  async #wasGiven(chunk: Chunk): Promise<boolean> {
    const { series, lo, filter, budget } = this.range
    const place = lo - chunk.base
    const isLineEnd = chunk.bytes[place - 1] === 10
    const start = isLineEnd ? lo : await recordBefore(series, lo - 1, lo, filter.format)
    if (start >= chunk.base + chunk.from)
      return (await matchesInTurns({ ...chunk, to: place }, filter, budget)).length > 0
    const bytes = await series.read(start, lo)
    const before = { bytes, from: 0, to: bytes.length, base: start }
    return (await matchesInTurns(before, filter, budget)).length > 0
  }
}

/**
 * Where a piece of a record ends that goes on: before the last line, which may begin another record. 0 if that is all
 * there is.
 */
function endOfPiece(bytes: Uint8Array): number {
  const lf = bytes.lastIndexOf(10)
  return lf < 0 ? bytes.length : lf
}
