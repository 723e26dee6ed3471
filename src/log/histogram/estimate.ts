import { LEVELS } from '../format/detect.ts'
import { lastStart, lineEnd, nextStart } from '../format/lines.ts'
import { type Filter, matches } from '../search/filter.ts'
import type { Timed } from '../search/seek.ts'
import { type Chart, COLUMNS } from './chart.ts'

/** How many samples are taken, and how large they are: four rounds with 16 reads at once, 1 MiB in all. */
const SAMPLES = 64
const SAMPLE = 16 * 1024

/** What one sample says about the range of the log that begins with it. */
interface Sample {
  /** The time of its first record; NaN when it has none. */
  time: number
  /** Wanted records per byte, by column. */
  density: number[]
}

/** Fills a chart from samples of [lo, hi). False if the budget ran out. */
export async function estimate(
  log: Timed,
  { lo, hi, filter }: { lo: number; hi: number; filter: Filter },
  chart: Chart,
): Promise<boolean> {
  const from = await log.series.floor(lo)
  const count = Math.max(1, Math.min(SAMPLES, Math.ceil((hi - from) / SAMPLE)))
  const length = (hi - from) / count
  const samples: Sample[] = new Array(count)
  const queue = Array.from({ length: count }, (_, i) => i)
  let isSpent = false
  const work = async () => {
    for (let i = queue.shift(); i !== undefined; i = queue.shift()) {
      if (!(await log.budget.step())) {
        isSpent = true
        return
      }
      const at = from + Math.floor(i * length)
      // One byte more, so that a record that begins right there counts.
      const bytes = await log.series.read(Math.max(from, at - 1), Math.min(hi, at + SAMPLE))
      log.budget.spend(bytes.length)
      samples[i] = sampleOf(bytes, at === from, filter)
    }
  }
  // An archive is read in order; everything else a few samples at a time.
  const parallel = log.series.parts.some((part) => part.compressed) ? 1 : (log.parallel ?? 1)
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, work))
  if (isSpent) return false
  const end = chart.to
  for (let i = 0; i < count; i++) {
    const { time, density } = samples[i]!
    if (Number.isNaN(time)) continue
    const next = samples.slice(i + 1).find((sample) => sample.time >= time)?.time ?? end
    const until = Math.min(next, end)
    density.forEach((share, column) => {
      spread(chart, { from: time, to: until }, column, share * length)
    })
  }
  for (const bucket of chart.buckets) bucket.counts = bucket.counts.map(Math.round)
  return true
}

function sampleOf(bytes: Uint8Array, isStart: boolean, filter: Filter): Sample {
  const { format, zone } = filter
  const first = isStart ? 0 : nextStart(format, bytes, 0, bytes.length)
  const density = new Array<number>(COLUMNS.length).fill(0)
  const last = first < 0 ? -1 : lastStart(format, bytes, first, bytes.length)
  if (last <= first) return { time: Number.NaN, density }
  let time = Number.NaN
  for (let at = first; at < last && Number.isNaN(time); at = lineEnd(bytes, at, last) + 1)
    time = format.time(bytes, at, lineEnd(bytes, at, last), zone)
  const ranges = matches({ bytes, from: first, to: last, base: 0 }, filter)
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const level = format.level(bytes, start, lineEnd(bytes, start, ranges[i + 1]!), ranges[i + 1]!)
    density[level < 0 ? LEVELS.length : level]! += 1 / (last - first)
  }
  return { time, density }
}

/** Adds records spread evenly between two times. */
function spread(
  chart: Chart,
  { from, to }: { from: number; to: number },
  column: number,
  count: number,
): void {
  if (count === 0) return
  const { buckets, step } = chart
  const indexOf = (time: number) =>
    Math.min(buckets.length - 1, Math.max(0, Math.floor((time - chart.from) / step)))
  const width = Math.max(1, to - from)
  for (let i = indexOf(from); i <= indexOf(Math.max(from, to - 1)); i++) {
    const { time, counts } = buckets[i]!
    const overlap = Math.min(to, time + step) - Math.max(from, time)
    counts[column]! += to - from < 1 ? count : (count * Math.max(0, overlap)) / width
  }
}
