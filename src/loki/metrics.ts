import { LEVELS } from '../log/format/detect.ts'
import { histogramOf } from '../log/histogram/histogram.ts'
import type { Matcher } from '../log/pattern/pattern.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { LevelChoice } from './labels.ts'
import { LokiError, type MetricQuery } from './query.ts'

/** Points of time, in ms. */
export interface Steps {
  start: number
  end: number
  step: number
}

/** Counts at each point, by the level of the records. */
export type Counts = Map<string | null, number[]>

const MAX_POINTS = 11_000
const MAX_BUCKETS = 10_000

/** The points from start to end. */
export function pointsOf({ start, end, step }: Steps): number[] {
  const count = Math.floor((end - start) / step) + 1
  if (count > MAX_POINTS)
    throw new LokiError(
      `The step makes ${count} points; at most ${MAX_POINTS} are allowed, so use a longer one.`,
    )
  return Array.from({ length: Math.max(0, count) }, (_, i) => start + i * step)
}

/**
 * How many records of a file are in the range before each point, the point itself included. The histogram counts them
 * in buckets whose width divides both the step and the range.
 */
export async function countsOf(
  context: ViewContext,
  { file, query, steps, matcher, levels }: CountRequest,
  signal: AbortSignal,
): Promise<Counts> {
  const points = pointsOf(steps)
  const width = Math.max(1, divisor(Math.round(query.range), points.length > 1 ? Math.round(steps.step) : 0))
  const shift = (millis: number) => Math.round(millis - query.offset)
  // A range is open at its start and closed at its end; buckets are the other way round, so everything moves by 1 ms.
  const from = shift(points[0]! - query.range) + 1
  const to = shift(points.at(-1)!) + 1
  if ((to - from) / width > MAX_BUCKETS)
    throw new LokiError(
      'The range and the step have no common measure; make the range a multiple of the step.',
    )
  const histogram = await histogramOf(
    context,
    {
      file,
      rotated: false,
      since: from,
      until: to,
      level: null,
      matcher,
      buckets: MAX_BUCKETS,
      step: width,
      origin: from,
    },
    () => false,
    signal,
  )
  if (!histogram?.complete)
    throw new LokiError(
      'The count took more than one request may; narrow the time range or the selector.',
      504,
    )
  const counts: Counts = new Map()
  for (const [column, name] of histogram.levels.entries()) {
    const level = (LEVELS as readonly string[]).includes(name) ? name : null
    if (level === null ? !levels.none : (levels.mask & (1 << column)) === 0) continue
    const sums = running(histogram.buckets, { column, from, width, length: Math.round((to - from) / width) })
    if (sums.at(-1) === 0) continue
    const at = (millis: number) => sums[Math.round((shift(millis) + 1 - from) / width)]!
    counts.set(
      level,
      points.map((point) => at(point) - at(point - query.range)),
    )
  }
  return counts
}

/** What is counted, and when. */
export interface CountRequest {
  file: string
  query: MetricQuery
  steps: Steps
  matcher: Matcher | null
  levels: LevelChoice
}

/** How many records come before each bucket boundary. */
function running(
  buckets: readonly { time: number; counts: readonly number[] }[],
  { column, from, width, length }: { column: number; from: number; width: number; length: number },
): number[] {
  const own = new Array<number>(length).fill(0)
  for (const { time, counts } of buckets) {
    const index = Math.round((time - from) / width)
    if (index >= 0 && index < length) own[index] = counts[column]!
  }
  const sums = [0]
  for (const count of own) sums.push(sums.at(-1)! + count)
  return sums
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b)
}
