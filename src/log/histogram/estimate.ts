import { each } from '../../kit/limits/each.ts'
import { LEVELS } from '../format/detect.ts'
import { lastStart, lineEnd, nextStart } from '../format/lines.ts'
import { type Filter, matches } from '../search/filter.ts'
import type { Timed } from '../seek/seek.ts'
import { type Chart, COLUMNS } from './chart.ts'

/** How many samples are taken, and how large they are: four rounds with 16 reads at once, 1 MiB in all. */
const SAMPLES = 64
const SAMPLE = 16 * 1024
/** Where fewer reads run at once, fewer samples are taken: each round is a round trip. */
const MAX_ROUNDS = 7

/** How many objects of a joined log are sampled, and how much of each. */
const MEMBERS = 40
const MEMBERS_AT_ONCE = 8
const MEMBER_SAMPLE = 64 * 1024
/** If all objects would be sampled and they are smaller together than this, they are counted. */
const SMALL = 256 * 1024
/** So are those that are open for a period: few of them may be in it. */
const SMALL_OF_PERIOD = 4 * 1024 * 1024
/** Fewer matching records than this in all samples say too little about the rest of the log. */
const LEAST_HITS = 100

/** What one sample says about the range of the log that begins with it. */
interface DensitySample {
  /** The time of its first record; NaN when it has none. */
  time: number
  /** Wanted records per byte, by column. */
  density: number[]
  /** How many there are in the sample. */
  hits: number
  /** Bytes of the log up to the next sample. */
  length: number
}

/**
 * Whether an estimate could be made: not if the budget ran out, or if the samples contain too few matching records. It is a
 * guess if times fall from one sample to the next, because then they do not tell where the records between them are.
 */
export type EstimateOutcome = 'whole' | 'guess' | 'spent' | 'thin'

/** Fills a chart from samples of [lo, hi). */
export async function estimate(
  log: Timed,
  { lo, hi, filter }: { lo: number; hi: number; filter: Filter },
  chart: Chart,
): Promise<EstimateOutcome> {
  const from = await log.series.addresses.floor(lo)
  const { parallel: atOnce = 1 } = log
  const most = atOnce > 1 ? Math.min(SAMPLES, MAX_ROUNDS * atOnce) : SAMPLES
  const count = Math.max(1, Math.min(most, Math.ceil((hi - from) / SAMPLE)))
  // The samples would be all of it.
  if (hi - from <= count * SAMPLE) return 'thin'
  const length = (hi - from) / count
  const take = async (i: number): Promise<DensitySample> => {
    const at = from + Math.floor(i * length)
    // One byte more, so that a record that begins right there counts.
    const bytes = await log.series.read(Math.max(from, at - 1), Math.min(hi, at + SAMPLE))
    log.budget.spend(bytes.length)
    return { ...sampleOf(bytes, { isStart: at === from, isEnd: false }, filter), length }
  }
  // An archive is read in order; everything else a few samples at a time.
  const parallel = log.series.parts.some((part) => part.compressed) ? 1 : atOnce
  return fill(chart, await sampled(log, count, parallel, take))
}

/**
 * Fills a chart from some of the objects of a joined log. Only their stored sizes are known, so the samples count
 * records per stored byte.
 */
export async function estimateMembers(
  log: Timed,
  filter: Filter,
  chart: Chart,
  isPeriod: boolean,
): Promise<EstimateOutcome> {
  const { parts } = log.series
  const stored = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  if (stored <= (isPeriod ? SMALL_OF_PERIOD : parts.length <= MEMBERS ? SMALL : 0)) return 'thin'
  const count = Math.min(MEMBERS, parts.length)
  const indexOf = (i: number) => Math.floor((i * parts.length) / count)
  const take = async (i: number): Promise<DensitySample> => {
    const part = parts[indexOf(i)]!
    const bytes = await part.head(MEMBER_SAMPLE)
    const size = await part.size()
    log.budget.spend(bytes.length)
    const sample = sampleOf(bytes, { isStart: true, isEnd: bytes.length >= size }, filter)
    const stored = Math.max(1, part.entry.size)
    let length = 0
    for (let at = indexOf(i); at < indexOf(i + 1); at++) length += parts[at]!.entry.size
    return { ...sample, density: sample.density.map((share) => (share * size) / stored), length }
  }
  return fill(chart, await sampled(log, count, MEMBERS_AT_ONCE, take))
}

/** Takes samples, some in parallel; null if the budget ran out. */
async function sampled(
  { budget }: Timed,
  count: number,
  parallel: number,
  take: (i: number) => Promise<DensitySample>,
): Promise<DensitySample[] | null> {
  const samples: DensitySample[] = new Array(count)
  const isComplete = await each([...samples.keys()], parallel, async (i) => {
    if (!(await budget.step())) return false
    samples[i] = await take(i)
  })
  return isComplete ? samples : null
}

function fill(chart: Chart, samples: DensitySample[] | null): EstimateOutcome {
  if (samples === null) return 'spent'
  if (samples.reduce((sum, { hits }) => sum + hits, 0) < LEAST_HITS) return 'thin'
  const end = chart.to
  samples.forEach(({ time, density, length }, i) => {
    if (Number.isNaN(time)) return
    const next = samples.slice(i + 1).find((sample) => sample.time >= time)?.time ?? end
    const until = Math.min(next, end)
    density.forEach((share, column) => {
      spread(chart, { from: time, to: until }, column, share * length)
    })
  })
  for (const bucket of chart.buckets) bucket.counts = bucket.counts.map(Math.round)
  const times = samples.map(({ time }) => time).filter((time) => !Number.isNaN(time))
  return times.some((time, i) => i > 0 && time < times[i - 1]!) ? 'guess' : 'whole'
}

function sampleOf(
  bytes: Uint8Array,
  { isStart, isEnd }: { isStart: boolean; isEnd: boolean },
  filter: Filter,
): Omit<DensitySample, 'length'> {
  const { format, zone } = filter
  const first = isStart ? 0 : nextStart(format, bytes, 0, bytes.length)
  const density = new Array<number>(COLUMNS.length).fill(0)
  const last = first < 0 ? -1 : isEnd ? bytes.length : lastStart(format, bytes, first, bytes.length)
  if (last <= first) return { time: Number.NaN, density, hits: 0 }
  let time = Number.NaN
  for (let at = first; at < last && Number.isNaN(time); at = lineEnd(bytes, at, last) + 1)
    time = format.time(bytes, at, lineEnd(bytes, at, last), zone)
  const ranges = matches({ bytes, from: first, to: last, base: 0 }, filter)
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!
    const level = format.level(bytes, start, lineEnd(bytes, start, ranges[i + 1]!), ranges[i + 1]!)
    density[level < 0 ? LEVELS.length : level]! += 1 / (last - first)
  }
  return { time, density, hits: ranges.length / 2 }
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
