import { type Budget, BudgetError } from '../../limits/budget.ts'
import { LEVELS } from '../format/detect.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import { type Candidate, type Chunk, eachWanted } from '../search/filter.ts'
import { matchesInTurns } from '../search/in-turns.ts'
import type { Examine } from '../search/scan.ts'
import { scanBack } from '../search/scan-back.ts'
import { lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import { type CountedRange, LineCount } from './line-count.ts'

/** How much is counted between two turns of the event loop. */
const UNIT = 512 * 1024

/** Counts backwards through a log, as a search reads it. False if the budget ran out. */
export async function countRecords(
  context: ViewContext,
  series: Series,
  budget: Budget,
  range: CountedRange,
): Promise<boolean> {
  const { lo, hi, filter } = range
  const isEverything = filter.level === null && filter.matcher === null
  let lines: LineCount | null = null
  const examine: Examine = async (chunk, scanner) => {
    if (scanner && isEverything) lines ??= new LineCount(range, scanner)
    const { bytes, from, to } = chunk
    for (let at = from; at < to; ) {
      const next = at + UNIT >= to ? -1 : nextStart(filter.format, bytes, at + UNIT, to)
      const end = next < 0 ? to : next
      const unit = { ...chunk, bytes: bytes.subarray(0, end), from: at, to: end }
      if (!lines?.count(unit)) await countWanted(unit, range, budget, scanner)
      at = end
      await budget.step()
    }
  }
  try {
    const fit = { size: Number.POSITIVE_INFINITY, lines: null }
    const reading = readingOf(context)
    const scan = { series, lo, hi, filter, fit, countBy: 'records', budget, reading, examine } as const
    const { cut } = await scanBack({ ...scan, isStart: true })
    return !cut
  } catch (error) {
    if (error instanceof BudgetError) return false
    throw error
  }
}

/** Counts the wanted records of a chunk one by one. */
async function countWanted(
  chunk: Chunk,
  { filter, add }: CountedRange,
  budget: Budget,
  scanner: Parameters<Examine>[1],
): Promise<void> {
  const { format, zone } = filter
  const { bytes, base } = chunk
  let before = Number.NaN
  let last = chunk.from
  const count = (record: Candidate) => {
    const { start, end, headEnd } = record
    let time = format.time(bytes, start, headEnd, zone)
    // A record without a time has that of the one before it, wanted or not.
    if (Number.isNaN(time)) time = lastTime(format, zone, bytes, [last, start])
    if (Number.isNaN(time)) time = before
    const level = format.level(bytes, start, headEnd, end)
    add(time, level < 0 ? LEVELS.length : level, record)
    before = time
    last = end
  }
  if (filter.matcher === null) return eachWanted(chunk, filter, count, scanner)
  const ranges = await matchesInTurns(chunk, filter, budget, { scanner })
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const end = ranges[i + 1]!
    count({ bytes, start, end, base, time: Number.NaN, headEnd: lineEnd(bytes, start, end) })
  }
}
