import { BudgetError } from '../../limits/budget.ts'
import { TURN_MILLIS } from '../../limits/yield.ts'
import type { LineFormat } from '../format/detect.ts'
import { nextStart } from '../format/lines.ts'
import { type Scanner, takeScanner } from '../scanner/scanner.ts'
import { characterStart, isHole } from '../text/bytes.ts'
import type { Series } from '../text/series.ts'
import { Backward } from './backward.ts'
import { type Chunk, isWantedAlone, timeAt, usesScanner } from './filter.ts'
import { hasMatch, matchesInTurns } from './in-turns.ts'
import { remoteChunk, SLACK } from './reading.ts'
import { type Recent, scanOnce } from './recent.ts'
import {
  type Found,
  foundIn,
  isFarEnough,
  MAX_RECORD,
  recordBefore,
  type Scan,
  SHORT_STRETCH,
  withTimeBefore,
} from './scan.ts'
import { Sink } from './sink.ts'

/** A text or a level is searched in chunks of up to four reads: each read costs a wake-up of another thread. */
const TEXT_CHUNKS = 4

/** Fewer lines than this do not show how many there are. */
const FEW = 3

/** A slow pattern is matched in small steps, a quick one in larger ones. */
const UNIT = 64 * 1024
const LARGEST_UNIT = 1024 * 1024

/** Searches backwards from `hi` for the most recent records that fit. */
export async function scanBack(scan: Scan): Promise<Found> {
  const { filter, budget, reading, stretch = Number.POSITIVE_INFINITY, examine } = scan
  const step = Math.min(reading.chunk, budget.bytesLeft, stretch)
  const { parallel = 1 } = reading
  // A budget of a few chunks is used up in small ones. Where everything is read, in few: the edge has few requests.
  const most = Math.max(step, Math.floor(budget.bytesLeft / (examine ? 1 : 64)))
  const { matcher } = filter.selection
  const isQuick = matcher ? matcher.sure || matcher.without : usesScanner(filter)
  const wanted = parallel > 1 ? remoteChunk(reading) : isQuick ? TEXT_CHUNKS * step : step
  const largest = Math.min(wanted, most, stretch)
  const scanner = isShort(scan) ? null : takeScanner(largest + SLACK, reading.sharedMemory)
  const reader = new Backward(scan, { step, largest }, scanner)
  const search = new BackwardScan(scan, reader, scanner)
  try {
    return await search.run()
  } catch (error) {
    search.release()
    throw error
  } finally {
    await reader.end()
    scanner?.release()
  }
}

/**
 * Whether a few records are wanted, whatever they hold. They are found without a scanner: 16 pages at once would each
 * take one with 37 MB of addresses, which the garbage collector has to account for.
 */
function isShort({ fit, filter, stretch = Number.POSITIVE_INFINITY }: Scan): boolean {
  if (stretch <= SHORT_STRETCH) return true
  return fit.size <= SHORT && !filter.selection.isSearch
}

const SHORT = 64 * 1024

/** One backward search: each step decides one range of the log, from the newest to the oldest. */
class BackwardScan {
  readonly #scan: Scan
  readonly #reader: Backward
  readonly #scanner: Scanner | null
  readonly #sink: Sink
  /** Everything from here on is decided. */
  #at: number
  /** The length of the next read, if a record did not fit into the last one. */
  #longer: number | null = null
  #hasRead = false
  /** How much is matched between two turns of the event loop. */
  #unit = UNIT

  constructor(scan: Scan, reader: Backward, scanner: Scanner | null) {
    this.#scan = scan
    this.#reader = reader
    this.#scanner = scanner
    this.#sink = new Sink(scan, scan.each ?? false)
    this.#at = scan.hi
  }

  /** Releases the memory of what was found, if it is not going to be sent. */
  release(): void {
    this.#sink.memory?.release()
  }

  async run(): Promise<Found> {
    const { lo, hi, budget, splitsRecord = false } = this.#scan
    if (this.#sink.isFull()) return this.#found(hi, { splitsRecord })
    const found = await this.#cutRecord()
    if (found) return found
    try {
      while (this.#at > lo) {
        if (isFarEnough(this.#scan, hi - this.#at)) return this.#found(this.#at, {})
        if (!(await budget.step())) return this.#found(this.#at, { cut: true })
        const result = (await this.#archive()) ?? (await this.#chunk())
        if (result === 'bottom') break
        if (result !== 'continue') return result
      }
    } catch (error) {
      // The budget ran out inside an archive, which can only be read from its start: keep what was found, if anything.
      if (!(error instanceof BudgetError) || this.#at === hi) throw error
      return this.#found(this.#at, { cut: true })
    }
    return this.#found(this.#at, { complete: true })
  }

  /** The record that `hi` cuts: seen alone, its beginning may not even look like one. */
  async #cutRecord(): Promise<Found | null> {
    const { series, lo, hi, filter, budget, splitsRecord = false, isStart = false } = this.#scan
    if (hi >= series.end || isStart) return null
    const head = Math.max(lo, await recordBefore(series, hi, series.end, filter.format))
    if (head >= hi) return null
    const bytes = await series.read(head, hi)
    const { before } = await withTimeBefore({ bytes, from: 0, to: bytes.length, base: head }, this.#scan)
    const time = before ?? timeAt(bytes, 0, bytes.length, filter)
    const untested = { ...filter, selection: filter.selection.with({ matcher: null }) }
    const isCandidate = splitsRecord || isWantedAlone(bytes, head, untested, time)
    if (isCandidate && (splitsRecord || (await hasMatch(bytes, filter, budget)))) {
      if (!this.#sink.take(bytes, 0, bytes.length, head))
        return this.#cut({ bytes, from: 0, to: bytes.length, base: head }, head <= lo)
    }
    this.#at = head
    return this.#sink.isFull() ? this.#found(head, {}) : null
  }

  /** The archive that ends here, if it must be read from its start; null when it need not. */
  async #archive(): Promise<Found | 'bottom' | 'continue' | null> {
    const { series, lo, budget, witness, examine } = this.#scan
    const start = await series.sequentialStart(this.#at)
    if (start === null) return null
    const from = Math.max(lo, start)
    const isBottom = from <= lo || series.addresses.isStart(from)
    const inside = witness?.fromStart()
    const recent = await scanOnce({
      ...this.#scan,
      from,
      to: this.#at,
      isStart: isBottom,
      fit: this.#sink.room(),
      scanner: this.#scanner,
      witness: inside,
    })
    if (recent === null) return null
    if (inside) witness!.adopt(inside, recent.dropped ? recent.kept[0]!.start : recent.from)
    const sink = this.#sink
    if (recent.stopped !== null) return this.#partOf(recent, recent.stopped, isBottom)
    for (const { bytes, start } of recent.kept.reverse()) {
      if (sink.adopt(bytes, start)) {
        if (!sink.isFull()) continue
        return this.#found(start, { complete: isBottom && start <= from })
      }
      if (sink.pieces.length > 0) return this.#found(start + bytes.length, {})
      return this.#cut({ bytes, from: 0, to: bytes.length, base: start }, isBottom && start <= from)
    }
    if (recent.dropped) return this.#found(recent.kept.at(-1)!.start, {})
    if (!examine) budget.spend(this.#at - recent.from)
    this.#hasRead = true
    this.#at = recent.from
    return isBottom ? 'bottom' : 'continue'
  }

  /** What a pass found before its budget ran out. Only the newest file can be answered in part. */
  #partOf({ kept, from, dropped }: Recent, stopped: number, isBottom: boolean): Found {
    const { series, hi } = this.#scan
    if (this.#at < hi || hi < series.end) throw new BudgetError()
    for (const { bytes, start } of kept.reverse())
      if (!this.#sink.adopt(bytes, start))
        return this.#found(start + bytes.length, { to: stopped, cut: true })
    const first = dropped ? kept.at(-1)!.start : from
    return this.#found(first, { to: stopped, cut: true, complete: isBottom && !dropped })
  }

  /** The next chunk. */
  async #chunk(): Promise<Found | 'bottom' | 'continue'> {
    const { series, lo, filter, budget, examine } = this.#scan
    // The first chunk often has the answer; only a scan that continues reads ahead.
    const readsAhead = this.#hasRead && budget.bytesLeft > this.#reader.largest
    const reach = readsAhead ? this.#reach() : 0
    const { from, bytes } = await this.#reader.chunk(this.#at, this.#longer, reach)
    if (from >= this.#at) return 'bottom'
    const isBottom = from <= lo || series.addresses.isStart(from)
    // A hole of gigabytes is one line: no filter matches NULs, so they are skipped.
    const isFiltered = filter.selection.isSearch || examine !== undefined
    if (!isBottom && isFiltered && this.#longer === null && isHole(bytes)) {
      budget.spend(bytes.length)
      this.#hasRead = true
      this.#at = from
      return 'continue'
    }
    let first = isBottom ? 0 : nextStart(filter.format, bytes, 0, bytes.length)
    if (first < 0) {
      if (bytes.length < MAX_RECORD) {
        this.#longer = Math.min(4 * bytes.length, MAX_RECORD)
        return 'continue'
      }
      first = Math.max(1, characterStart(bytes, 1))
    }
    budget.spend(bytes.length - first)
    this.#hasRead = true
    this.#longer = null
    const found = await this.#takeAll(from, bytes, first, isBottom)
    if (found) return found
    this.#at = from + first
    return isBottom ? 'bottom' : 'continue'
  }

  /** How many more bytes are likely to be needed: as many per line as so far. A few lines say little. */
  #reach(): number {
    const { fit, hi, stretch = Number.POSITIVE_INFINITY } = this.#scan
    const { lines } = this.#sink.room()
    const rest = stretch - (hi - this.#at)
    if (fit.lines === null || lines === null) return rest
    return Math.min(rest, ((hi - this.#at) * lines) / Math.max(FEW, fit.lines - lines))
  }

  /** Takes the wanted records of a chunk in steps, yielding in between. */
  async #takeAll(from: number, bytes: Uint8Array, first: number, isBottom: boolean): Promise<Found | null> {
    const { filter, budget, examine } = this.#scan
    if (examine) {
      const chunk = { bytes, from: first, to: bytes.length, base: from }
      await examine(await withTimeBefore(chunk, this.#scan), this.#scanner)
      return null
    }
    // A plain text is found at 2 GB/s.
    const { matcher, levels } = filter.selection
    const isFast = this.#scanner !== null && matcher?.sure && levels === null
    if (isFast) return this.#take(from, { bytes, start: first, end: bytes.length }, isBottom)
    for (let end = bytes.length; end > first; ) {
      const started = budget.clock.elapsed()
      const next = end - this.#unit <= first ? first : nextStart(filter.format, bytes, end - this.#unit, end)
      const start = next < 0 ? first : next
      const found = await this.#take(from, { bytes, start, end }, isBottom && start === first)
      if (found) return found
      const isQuick = budget.clock.elapsed() - started <= TURN_MILLIS / 4
      this.#unit = isQuick ? Math.min(2 * this.#unit, LARGEST_UNIT) : UNIT
      end = start
      this.#at = from + end
      await budget.step()
    }
    return null
  }

  /** Takes the wanted records of a chunk, newest first; returns a result when no more fit. */
  async #take(
    from: number,
    { bytes, start: first, end: last }: { bytes: Uint8Array; start: number; end: number },
    isBottom: boolean,
  ): Promise<Found | null> {
    const sink = this.#sink
    const scanner = this.#scanner
    const chunk = await withTimeBefore({ bytes, from: first, to: last, base: from }, this.#scan)
    const ranges = await matchesInTurns(chunk, this.#scan.filter, this.#scan.budget, { scanner })
    let i = ranges.length - 2
    while (i >= 0 && !sink.isFull() && sink.fits(bytes, ranges[i]!, ranges[i + 1]!, from)) i -= 2
    sink.keep(chunk, ranges, i + 2, scanner)
    const saw = (decided: number) =>
      this.#scan.witness?.saw({ ...chunk, from: decided }, ranges, i + 2, ranges.length)
    if (sink.isFull() && i + 2 < ranges.length) {
      const start = ranges[i + 2]!
      saw(start)
      return this.#found(from + start, { complete: start === 0 && isBottom })
    }
    if (i < 0) saw(first)
    if (i < 0) return null
    const start = ranges[i]!
    const end = ranges[i + 1]!
    saw(end)
    if (sink.pieces.length > 0) return this.#found(from + end, {})
    return this.#cut({ bytes, from: start, to: end, base: from }, isBottom && start === 0)
  }

  /** The end of a record that does not fit; `isFirst` if nothing comes before it. */
  #cut({ bytes, from, to, base }: Chunk, isFirst: boolean): Found {
    const cut = this.#sink.cutBack(bytes, from, to, base)
    return this.#found(base + cut, { splitsRecord: cut > from, complete: cut === from && isFirst })
  }

  #found(from: number, more: Partial<Found>): Found {
    this.#sink.pieces.reverse()
    this.#sink.ends.reverse()
    return foundIn(this.#sink, from, this.#scan.hi, more)
  }
}

/** How far to search for the first record start before it takes a scan. */
const HEAD = 64 * 1024

/**
 * Where the most recent records of [lo, hi) that fit start, when all of them are wanted: the result of `scanBack`
 * without reading them. Null if only a scan can decide: at a cut record, in an archive, at a long record.
 */
export async function wholeBack(
  series: Series,
  [lo, hi]: readonly [lo: number, hi: number],
  format: LineFormat,
  size: number,
): Promise<{ from: number; complete: boolean } | null> {
  if (size <= 0 || series.parts.some((part) => part.compressed)) return null
  if (hi < series.end && (await recordBefore(series, hi, series.end, format)) !== hi) return null
  const from = await series.addresses.floor(Math.max(lo, hi - size))
  if (from <= lo || series.addresses.isStart(from)) return { from, complete: true }
  const to = Math.min(from + HEAD, hi)
  const bytes = await series.read(from - 1, to)
  const start = nextStart(format, bytes, 0, bytes.length)
  // The last line may be cut, and judging it takes all of it.
  if (start < 0 || (to < hi && bytes.indexOf(10, start) < 0)) return null
  return { from: from - 1 + start, complete: false }
}
