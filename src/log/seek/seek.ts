import { type Budget, BudgetError } from '../../limits/budget.ts'
import type { LogFiles } from '../files/files.ts'
import type { LineFormat } from '../format/detect.ts'
import { firstTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'
import { type Border, borderIn, NEAR, type SearchRange } from './border.ts'
import { type ProbeOptions, Probes } from './probes.ts'

export type { Border } from './border.ts'

/** A file up to this size is examined as a whole: on a bucket that is quicker than bisection, and shows any disorder. */
const SMALL = 4 * 1024 * 1024
/** How far a wall clock that is set back can mislead, with some margin. */
const SHIFT = 3 * 3_600_000
const HEAD = 64 * 1024

export interface Timed {
  files: LogFiles
  series: Series
  format: LineFormat
  zone: Zone
  budget: Budget
  /** How many reads run in parallel. @default 1 */
  parallel?: number
}

/**
 * Finds an instant by bisection with range reads, several in parallel if the store is far away. Files of a series
 * are skipped as a whole by the time of their first record; compressed ones cannot be bisected, so their records are
 * checked individually. When the budget ends, every record of the log must be checked.
 */
export async function seek(log: Timed, instant: number): Promise<Border> {
  const { zone } = log
  if (zone.offsetAt(instant + SHIFT) < zone.offsetAt(instant - SHIFT)) {
    // Clocks are set back near here: an hour of wall times occurs twice, and times alone do not distinguish them.
    const [before, after] = await Promise.all([
      seekPart(log, instant - SHIFT),
      seekPart(log, instant + SHIFT),
    ])
    return { from: before.from, to: Math.max(before.from, after.to), ordered: before.to === after.from }
  }
  return seekPart(log, instant)
}

async function seekPart(log: Timed, instant: number): Promise<Border> {
  try {
    return await seekInSeries(log, instant)
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
    return { from: Number.NEGATIVE_INFINITY, to: log.series.end, ordered: true }
  }
}

async function seekInSeries(log: Timed, instant: number): Promise<Border> {
  const { series, format, zone, budget, parallel = 1 } = log
  const everything: Border = { from: Number.NEGATIVE_INFINITY, to: series.end, ordered: true }
  const unordered: Border = { ...everything, ordered: false }
  const heads = headsOf(series.parts, parallel)
  let index = series.parts.length - 1
  if (index >= MANY) index = (await firstFrom(log, instant, (at) => heads(at, 1))) - 1
  let newer = Number.POSITIVE_INFINITY
  for (; index > 0; index--) {
    if (!(await budget.step())) return everything
    const time = firstTime(format, zone, await heads(index))
    if (time > newer) return unordered
    if (!Number.isNaN(time)) newer = time
    if (time < instant) break
  }
  const part = series.parts[index]!
  if (part.compressed) {
    const to = index === series.parts.length - 1 ? series.end : await series.addresses.base(index + 1)
    if (index > 0) return { from: await series.addresses.base(index), to, ordered: true }
    const isLater = firstTime(format, zone, await heads(0)) >= instant
    return { ...everything, to: isLater ? Number.NEGATIVE_INFINITY : to }
  }
  const base = await series.addresses.base(index)
  const probes = new Probes(part, { files: log.files, format, zone, budget, parallel })
  const range = await bisect(probes, instant)
  const border = range === 'spent' ? range : await borderIn(probes, instant, range)
  if (border === null) return unordered
  if (border === 'spent') return everything
  return { ...border, from: base + border.from, to: base + border.to }
}

/** The time of the first record of a file that has one, even after a hole or a long text without times. */
export async function firstTimeOf(text: Text, options: ProbeOptions): Promise<number | null> {
  const probes = new Probes(text, options)
  const range = await bisect(probes, Number.NEGATIVE_INFINITY, 0)
  const border = range === 'spent' ? range : await borderIn(probes, Number.NEGATIVE_INFINITY, range)
  if (border === null || border === 'spent') return null
  await probes.look([border.from - 1])
  return probes.known(border.from - 1, border.from)[0]?.time ?? null
}

/** Where a log has this many parts or more, the one that holds an instant is searched for. */
const MANY = 32

/**
 * The first part that begins at or after an instant, found with a few heads in parallel per step. The number of parts
 * if there is none, or if the heads are out of order: then all of them are read.
 */
async function firstFrom(
  { series, format, zone, budget, parallel = 1 }: Timed,
  instant: number,
  head: (index: number) => Promise<Uint8Array>,
): Promise<number> {
  const all = series.parts.length
  let [low, high] = [0, all]
  while (high - low > 1) {
    if (!(await budget.step())) return all
    const count = Math.min(high - low - 1, Math.max(4, parallel))
    const places = Array.from({ length: count }, (_, i) =>
      Math.floor(low + ((high - low) * (i + 1)) / (count + 1)),
    ).filter((at) => at > low)
    const times = await Promise.all(places.map(async (at) => firstTime(format, zone, await head(at))))
    const timed = times.filter((time) => !Number.isNaN(time))
    if (timed.length === 0) return high
    if (timed.some((time, i) => i > 0 && time < timed[i - 1]!)) return all
    const late = times.findIndex((time) => time >= instant)
    const early = times.findLastIndex((time) => time < instant)
    if (late >= 0) high = places[late]!
    if (early >= 0) low = places[early]!
  }
  return high
}

/** The first bytes of parts, requested newest first, a few ahead where parallel reads pay off. */
function headsOf(parts: readonly Text[], parallel: number) {
  const heads = new Map<number, Promise<Uint8Array>>()
  return (index: number, ahead = parallel) => {
    const oldest = heads.has(index) ? index : Math.max(0, index - ahead + 1)
    for (let i = index; i >= oldest; i--) {
      if (heads.has(i)) continue
      const head = parts[i]!.head(HEAD)
      head.catch(() => {})
      heads.set(i, head)
    }
    return heads.get(index)!
  }
}

/** Narrows a file down to the range between an early record and a late one; `spent` if the budget ran out. */
async function bisect(probes: Probes, instant: number, small = SMALL): Promise<SearchRange | 'spent'> {
  const { size } = probes.text.entry
  let range: SearchRange = { early: null, late: null, blank: null }
  if (size <= small) return range
  // The ends are mostly in memory already, because the format was detected there.
  if (!(await probes.look([0, Math.max(0, size - END_PROBE)]))) return 'spent'
  for (let round = 0; ; round++) {
    range = narrowed(probes, instant, range)
    const gaps = gapsIn(range, size).filter(([from, to]) => to - from > NEAR)
    if (gaps.length === 0) return range
    const each = Math.max(1, Math.floor(probes.options.parallel / gaps.length))
    const share = shareOf(range, instant)
    if (!(await probes.look(gaps.flatMap((gap) => placesIn(gap, share, each, round))))) return 'spent'
  }
}

/** The range between the last early sample and the first late one after it. Disorder is judged around it later. */
function narrowed(probes: Probes, instant: number, known: SearchRange): SearchRange {
  const { size } = probes.text.entry
  const samples = probes.known(known.early?.start ?? 0, known.late?.at ?? size)
  const late = samples.find(({ time }) => time >= instant) ?? known.late
  const to = late?.at ?? size
  const early = samples.findLast(({ at, time }) => at < to && time < instant) ?? known.early
  const blanks = probes.known(early?.start ?? 0, to).filter(({ time }) => Number.isNaN(time))
  if (blanks.length === 0) return { early, late, blank: null }
  const end = Math.max(...blanks.map(({ start }) => start))
  const isHole = blanks.every(({ isHole }) => isHole)
  return { early, late, blank: { from: blanks[0]!.at, to: end, isHole } }
}

/** Where the border may still be. One blank is taken to reach from its first sample to its last. */
function gapsIn({ early, late, blank }: SearchRange, size: number): (readonly [from: number, to: number])[] {
  const from = early?.start ?? 0
  // No record with a time starts between the place of a probe and the record that it found.
  const to = late?.at ?? size
  return blank ? [[from, blank.from] as const, [blank.to, to] as const] : [[from, to]]
}

/** How far through the range the instant is by interpolation; null if that cannot be told. */
function shareOf({ early, late, blank }: SearchRange, instant: number): number | null {
  if (blank || !early || !late || late.time <= early.time) return null
  return (instant - early.time) / (late.time - early.time)
}

/** Where to probe next in a gap: around the place that interpolation suggests, or evenly. */
function placesIn([from, to]: readonly [number, number], share: number | null, count: number, round: number) {
  const width = to - from
  if (count === 1) {
    // Times may be uneven: every other probe is in the middle, which bounds the number of rounds.
    const guess = share === null || round % 2 === 1 ? 0.5 : Math.min(0.95, Math.max(0.05, share))
    return [from + Math.floor(width * guess)]
  }
  const places: number[] = []
  if (share === null) {
    for (let i = 1; i <= count; i++) places.push(from + Math.floor((width * i) / (count + 1)))
    return places
  }
  const guess = from + width * share
  const sides = Math.ceil(count / 2)
  const ratio = (width / NEAR) ** (1 / sides)
  for (let i = 0, distance = NEAR / 2; i < sides; i++, distance *= ratio)
    places.push(guess - distance, guess + distance)
  return places.map(Math.floor).filter((at) => at > from && at < to)
}

/** How far before the end the last probe is: within what was read to detect the format. */
const END_PROBE = 8 * 1024
