import type { LevelHistogram } from '../../kit/answers.ts'
import { LEVELS } from '../format/detect.ts'
import type { Zone } from '../time.ts'
import type { TimeNote } from '../view/answer.ts'
import { DAY, STEPS } from './steps.ts'

/** How many records there are over time, by level. */
export interface Histogram extends LevelHistogram {
  /** Notes about the times and archives, in addition to the chart. */
  notes?: (TimeNote | 'time-order' | 'archive-cut')[]
}

/** A histogram that is being filled. */
export type Chart = Omit<Histogram, 'complete'>

/** The columns of a histogram. */
export const COLUMNS = [...LEVELS, 'none']

/** The most buckets that a step may make. */
export const MOST_BUCKETS = 10_000

/** A step that makes more buckets than an answer may have. */
export class TooManyBuckets extends Error {
  constructor(count: number) {
    super(`makes ${count} buckets of this log; at most ${MOST_BUCKETS} are allowed, so ask for a wider one`)
    this.name = 'TooManyBuckets'
  }
}

/** Buckets of an even step that begin on the wall clock's full steps, at most `most` of them. */
export function layOut(
  { from, to }: { from: number; to: number },
  {
    buckets: most,
    step: exact,
    origin,
  }: { buckets: number; step?: number | undefined; origin?: number | undefined },
  zone: Zone,
): Chart {
  const offset = zone.offsetAt(from)
  const plan = (step: number) => {
    const zero = origin ?? -offset
    const start = Math.floor((from - zero) / step) * step + zero
    return { start, count: Math.ceil((to - start) / step) }
  }
  // Beyond the largest step, whole years of days.
  const step =
    exact ?? STEPS.find((size) => plan(size).count <= most) ?? Math.ceil((to - from) / most / DAY + 1) * DAY
  const { start, count } = plan(step)
  if (count > MOST_BUCKETS) throw new TooManyBuckets(count)
  const buckets = Array.from({ length: count }, (_, i) => bucketAt(start + i * step))
  return { from: start, to: start + count * step, step, levels: COLUMNS, buckets }
}

/** Adds empty buckets at either end of a chart until one holds this time. */
export function widen(chart: Chart, time: number): void {
  const { step, buckets } = chart
  for (; time < chart.from; chart.from -= step) buckets.unshift(bucketAt(chart.from - step))
  for (; time >= chart.to; chart.to += step) buckets.push(bucketAt(chart.to))
}

function bucketAt(time: number): Chart['buckets'][number] {
  return { time, counts: new Array<number>(COLUMNS.length).fill(0) }
}
