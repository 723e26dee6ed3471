import { BudgetError } from '../../limits/budget.ts'
import type { Lease } from '../../limits/memory-budget.ts'
import { countLines, lastStart, lineEnd, nextStart } from '../format/lines.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { lastTime } from '../text/format.ts'
import type { KnownBlocks, TimeSpan } from '../text/text.ts'
import { giveBack, takeBlock } from './blocks.ts'
import type { Filter } from './filter.ts'
import { matchesInTurns } from './in-turns.ts'
import { MAX_RECORD, type Scan, withTimeBefore } from './scan.ts'
import { noMemory, RECORD_COST } from './sink.ts'

/** A record that was found, and where. */
export interface Kept {
  bytes: Uint8Array
  start: number
}

/** The most recent records of a stretch that fit, and where the decided part begins. */
export interface Recent {
  kept: Kept[]
  /** Records before it are undecided. */
  from: number
  /** Whether older records were found and dropped. */
  dropped: boolean
  /** Where the pass ran out of budget; null if it reached the end. */
  stopped: number | null
}

const CHUNK = 1024 * 1024

/** A range that is read once, from its start. */
export interface OncePass
  extends Pick<Scan, 'series' | 'filter' | 'fit' | 'countBy' | 'budget' | 'witness' | 'examine'> {
  from: number
  to: number
  /** Whether `from` is certainly the start of a record. */
  isStart: boolean
  /** Finds plain text faster. */
  scanner: Scanner | null
}

/**
 * Goes through [from, to) once, from its start, and keeps the most recent records that fit: for a compressed file,
 * which cannot be read backwards. Null when no record start is in sight.
 */
export async function scanOnce(pass: OncePass): Promise<Recent | null> {
  const memory = pass.budget.memory?.lease(0) ?? null
  const long: Long = { block: null }
  try {
    return await keepRecent(pass, memory, long)
  } finally {
    if (long.block) giveBack(long.block, pass.budget.clock)
    // The caller leases the memory of the records it takes.
    memory?.release()
  }
}

/** The memory that long records are read into. */
interface Long {
  block: Uint8Array<ArrayBuffer> | null
}

async function keepRecent(pass: OncePass, memory: Lease | null, long: Long): Promise<Recent | null> {
  const { from, to, isStart, filter, fit, countBy, budget, scanner, witness, examine } = pass
  const { format } = filter
  const queue = new Queue<{ record: Kept; lines: number }>()
  let size = 0
  let lines = 0
  let dropped = false
  let at = from
  let begin = from
  let fresh = !isStart
  let length = CHUNK
  /** The time of the last record before `at` that has one; null if that is not known. */
  let before: number | null = null
  const isTimed = filter.since !== null || filter.until !== null || examine !== undefined
  const blocks = knownBlocks(pass)
  const drop = () => {
    const { record, lines: count } = queue.shift()!
    size -= record.bytes.length
    lines -= count
    memory?.shrink(record.bytes.length + RECORD_COST)
    dropped = true
  }
  const kept = () => queue.all().map(({ record }) => record)
  while (at < to) {
    const known = fresh ? undefined : blocks?.get(at)
    if (known && known.to <= to && isOutside(at, known, filter)) {
      at = known.to
      before = null
      continue
    }
    const bytes = await readOn(pass, at, Math.min(at + length, to), long)
    if (bytes === null) return { kept: kept(), from: begin, dropped, stopped: at }
    let first = 0
    if (fresh && !format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))) {
      first = nextStart(format, bytes, 0, bytes.length)
      if (first < 0) return null
      begin = at + first
    }
    const whole = at + bytes.length >= to
    let last = whole ? bytes.length : lastStart(format, bytes, first, bytes.length)
    if (last <= first) {
      if (length < MAX_RECORD && !whole) {
        length = Math.min(4 * length, MAX_RECORD)
        continue
      }
      last = bytes.length
    }
    const part = { bytes, from: first, to: last, base: at }
    // To read back in an archive would mean to start over.
    const chunk = before === null ? await withTimeBefore(part, pass) : { ...part, before }
    if (isTimed) before = lastTime(format, filter.zone, bytes, [first, last, chunk.before ?? Number.NaN])
    const times = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
    if (examine) {
      await examine(chunk, scanner)
      // As it goes, so that a chart of a large archive stops where its budget does.
      budget.spend(last - first)
    }
    const ranges = examine ? [] : await matchesInTurns(chunk, { ...filter, times }, budget, { scanner })
    const isWhole = !whole || to === pass.series.end
    if (!examine && !fresh && isWhole && isEveryTimeSeen(filter)) blocks?.set(at, { to: at + last, ...times })
    witness?.saw(chunk, ranges, 0, ranges.length)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      const count = countBy === 'records' ? 1 : fit.lines === null ? 0 : countLines(bytes, start, end)
      // Other responses may hold the memory: then fewer records are kept, as if less had been requested.
      while (memory && !memory.grow(end - start + RECORD_COST)) {
        if (queue.length === 0) throw noMemory()
        drop()
      }
      const record = { bytes: bytes.slice(start, end), start: at + start }
      queue.push({ record, lines: count })
      size += end - start
      lines += count
      // The newest stays, even if it alone is too long: then it is cut.
      while (queue.length > 1 && (size > fit.size || lines > (fit.lines ?? Number.POSITIVE_INFINITY))) drop()
    }
    witness?.forget(queue.first?.record.start ?? at + last)
    at += last
    fresh = false
    length = CHUNK
  }
  return { kept: kept(), from: begin, dropped, stopped: null }
}

/** First in, first out. To shift an array of a hundred thousand records would move all of them, for each. */
class Queue<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  get first(): T | undefined {
    return this.#items[this.#first]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.first
    this.#items[this.#first++] = undefined
    if (this.#first > 1024 && 2 * this.#first > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }

  all(): T[] {
    return this.#items.slice(this.#first) as T[]
  }
}

/**
 * What is known about the times of the text that is read. The format of an archive that is part of a longer log is that of
 * the newest file, so what it says about times holds for that log only. A witness wants to see everything.
 */
function knownBlocks({ series, witness }: OncePass): KnownBlocks | null {
  return series.parts.length === 1 && !witness ? (series.parts[0]!.blocks ?? null) : null
}

/** Whether no record of a block that begins at `from` has a wanted time. */
function isOutside(
  from: number,
  { to, earliest, latest }: { to: number } & TimeSpan,
  { since, until }: Filter,
): boolean {
  if (since && to <= since.below && latest < since.at) return true
  return until !== null && from >= until.from && earliest >= until.at
}

/** Whether a search examines the time of every record, not only of those that may hold a text or a level. */
function isEveryTimeSeen({ since, until, selection }: Filter): boolean {
  return (since !== null || until !== null) && !selection.isSearch
}

/** The bytes [from, to), or null if the budget has run out. */
async function readOn(
  { series, budget, scanner }: OncePass,
  from: number,
  to: number,
  long: Long,
): Promise<Uint8Array | null> {
  if (!(await budget.step())) return null
  if (to - from > CHUNK) long.block ??= takeBlock()
  const into = to - from > CHUNK ? long.block : scanner?.guest
  try {
    return await series.read(from, to, { into: into ?? undefined, onward: true })
  } catch (error) {
    if (error instanceof BudgetError) return null
    throw error
  }
}
