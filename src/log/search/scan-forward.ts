import { BudgetError } from '../../limits/budget.ts'
import { lastStart } from '../format/lines.ts'
import { type Scanner, takeScanner } from '../scanner/scanner.ts'
import { type Chunk, usesScanner } from './filter.ts'
import { Forward } from './forward.ts'
import { matchesInTurns } from './in-turns.ts'
import { leaseForReads } from './reading.ts'
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

/** Searches forward from `lo` for the first records that fit. */
export async function scanForward(scan: Scan): Promise<Found> {
  const sink = new Sink(scan, true)
  const { series, hi, filter, reading } = scan
  const reader = scan.reader ?? new Forward(series, hi, reading, leaseForReads(scan.budget.memory))
  const isLong = scan.stretch === undefined || scan.stretch > SHORT_STRETCH
  const scanner = isLong && usesScanner(filter) ? takeScanner(reading.chunk, reading.sharedMemory) : null
  try {
    return await goOn(scan, sink, reader, scanner)
  } catch (error) {
    sink.memory?.release()
    throw error
  } finally {
    if (reader !== scan.reader) reader.end()
    scanner?.release()
  }
}

async function goOn(scan: Scan, sink: Sink, reader: Forward, scanner: Scanner | null): Promise<Found> {
  const { series, lo, hi, filter, budget, reading, splitsRecord = false, witness } = scan
  const found = (to: number, more: Partial<Found>) => foundIn(sink, lo, to, more)
  if (sink.isFull()) return found(lo, { splitsRecord })
  if (lo >= hi) return found(lo, { complete: true, splitsRecord })
  const step = Math.min(reading.chunk, budget.bytesLeft, scan.stretch ?? Number.POSITIVE_INFINITY)
  let length = step
  // An export goes through a long record in pieces: it would be read again, to its end, for each of them.
  let inside = splitsRecord && scan.reader !== undefined
  // Inside a record: what was returned of it before depends on whether that part matched. If it was cut, it did.
  const isStart = splitsRecord || scan.isStart === true
  for (let at = isStart ? lo : await recordBefore(series, lo, hi, filter.format); at < hi; ) {
    if (isFarEnough(scan, at - lo)) return found(at, {})
    if (!(await budget.step())) return found(Math.max(at, lo), { cut: true })
    const bytes = await readWithin(reader, at, Math.min(at + length, hi))
    if (bytes === null) {
      // Nothing beyond this place could be read, and a retry would end here, too.
      if (at <= lo) throw new BudgetError()
      return found(at, { cut: true })
    }
    const whole = at + bytes.length >= hi
    let last = whole ? bytes.length : lastStart(filter.format, bytes, 0, bytes.length)
    const isRest = inside || (at === lo && splitsRecord)
    if (inside && last <= 0) last = endOfPiece(bytes)
    else inside = false
    if (last <= 0 || at + last <= lo) {
      if (length < MAX_RECORD) {
        length = Math.min(4 * length, MAX_RECORD)
        continue
      }
      last = bytes.length
    }
    budget.spend(last)
    length = step
    const chunk = await withTimeBefore({ bytes, from: 0, to: last, base: at }, scan)
    let ranges = await matchesInTurns(chunk, filter, budget, { first: isRest, scanner })
    if (at < lo) ranges = await withoutGiven(ranges, chunk, scan, lo - at)
    const saw = (to: number, taken: number) =>
      witness?.saw({ ...chunk, from: Math.max(0, lo - at), to }, ranges, 0, taken)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      if (sink.take(bytes, start, end, at)) {
        if (!sink.isFull()) continue
        saw(end, i + 2)
        return found(at + end, { complete: at + end >= hi, splitsRecord: inside })
      }
      saw(start, i)
      if (sink.pieces.length > 0) return found(at + start, { splitsRecord: inside })
      const cut = sink.cutForth(bytes, start, end, at)
      return found(at + cut, { splitsRecord: inside || cut < end })
    }
    saw(last, ranges.length)
    at += last
  }
  return found(hi, { complete: true })
}

/**
 * Where a piece of a record ends that goes on: before the last line, which may begin another record. 0 if that is all
 * there is.
 */
function endOfPiece(bytes: Uint8Array): number {
  const lf = bytes.lastIndexOf(10)
  return lf < 0 ? bytes.length : lf
}

/** The bytes [from, to), or null if the budget ran out while decompressing them. */
async function readWithin(reader: Forward, from: number, to: number): Promise<Uint8Array | null> {
  try {
    return await reader.read(from, to)
  } catch (error) {
    if (error instanceof BudgetError) return null
    throw error
  }
}

/**
 * The first record began before `place`, where the answer starts. If the part before it matched, it was already
 * returned, and its rest follows; if only the whole record matches, all of it follows.
 */
async function withoutGiven(
  ranges: ArrayLike<number>,
  chunk: Chunk,
  { filter, budget }: Scan,
  place: number,
): Promise<ArrayLike<number>> {
  if (ranges.length === 0 || ranges[0]! >= place) return ranges
  const given = await matchesInTurns({ ...chunk, from: 0, to: place }, filter, budget)
  if (given.length === 0) return ranges
  const [, end, ...rest] = Array.from(ranges)
  return end! > place ? [place, end!, ...rest] : rest
}
