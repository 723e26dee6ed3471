import type { TimeSample } from './probes.ts'

/** A crossing, where the border is, is narrowed down to this many bytes before its records are examined. */
const NEAR_BYTES = 256 * 1024
/** A fall is narrowed down to this many. */
const FALL_NEAR = 16 * 1024

/** The part between two samples in which times cross an instant, or fall. */
export interface Gap {
  /** Null at the ends of the text. */
  low: TimeSample | null
  high: TimeSample | null
  /** What has no times between the two. One blank is taken to reach from its first sample to its last. */
  blank: { from: number; to: number; isHole: boolean } | null
  /** Whether times fall here and are early on both sides, or late on both. */
  isFall: boolean
}

/** What the samples of a text say about an instant. */
export interface Picture {
  /** Nothing before the first gap was seen to be late, nothing after the last one early. They may be the same. */
  first: Gap
  last: Gap
  /** Falls before the first and after the last gap: what they hide may be late, or early. */
  falls: Gap[]
}

/** Judges samples in order of place. */
export function pictureOf(samples: readonly TimeSample[], instant: number): Picture {
  const timed: number[] = []
  for (const [i, { time }] of samples.entries()) if (!Number.isNaN(time)) timed.push(i)
  const timeAt = (k: number) => samples[timed[k]!]!.time
  const gapBefore = (k: number, isFall = false): Gap => {
    const [low, high] = [timed[k - 1] ?? -1, timed[k] ?? samples.length]
    const blanks = samples.slice(low + 1, high)
    const to = blanks.reduce((most, { start }) => Math.max(most, start), 0)
    const isHole = blanks.every((blank) => blank.isHole)
    const blank = blanks.length > 0 ? { from: blanks[0]!.at, to, isHole } : null
    return { low: samples[low] ?? null, high: samples[high] ?? null, blank, isFall }
  }
  const late = timed.findIndex((i) => samples[i]!.time >= instant)
  const firstLate = late < 0 ? timed.length : late
  const afterEarly = timed.findLastIndex((i) => samples[i]!.time < instant) + 1
  const falls: Gap[] = []
  // Nothing is earlier than the beginning of time.
  for (let k = instant === Number.NEGATIVE_INFINITY ? timed.length : 1; k < timed.length; k++)
    if (timeAt(k) < timeAt(k - 1) && (k < firstLate || k > afterEarly)) falls.push(gapBefore(k, true))
  const first = gapBefore(firstLate)
  return { first, last: afterEarly === firstLate ? first : gapBefore(afterEarly), falls }
}

/** Where a gap begins and ends. No record with a time starts between the place of a probe and the record that it found. */
export function rangeOf({ low, high }: Gap, size: number): [from: number, to: number] {
  const from = low?.start ?? 0
  return [from, Math.max(from, high?.at ?? size)]
}

/** The parts of a gap that are too long to be examined, without what is blank. */
export function openPartsOf(gap: Gap, size: number): (readonly [from: number, to: number])[] {
  const [from, to] = rangeOf(gap, size)
  const { blank, isFall } = gap
  const parts = blank ? [[from, blank.from] as const, [blank.to, to] as const] : [[from, to] as const]
  return parts.filter(([from, to]) => to - from > (isFall ? FALL_NEAR : NEAR_BYTES))
}

/** Where to probe next in a gap: around the place that interpolation suggests, or evenly. */
export function placesIn(
  gap: Gap,
  [from, to]: readonly [from: number, to: number],
  { instant, count, round }: { instant: number; count: number; round: number },
): number[] {
  const width = to - from
  const share = shareOf(gap, instant)
  if (count === 1) {
    // Times may be uneven: every other probe is in the middle, which bounds the number of rounds.
    const guess = share === null || round % 2 === 1 ? 0.5 : Math.min(0.95, Math.max(0.05, share))
    return [from + Math.floor(width * guess)]
  }
  if (share === null) return spread([from, to], count)
  const places: number[] = []
  const guess = from + width * share
  const sides = Math.ceil(count / 2)
  const ratio = (width / NEAR_BYTES) ** (1 / sides)
  for (let i = 0, distance = NEAR_BYTES / 2; i < sides; i++, distance *= ratio)
    places.push(guess - distance, guess + distance)
  return places.map(Math.floor).filter((at) => at > from && at < to)
}

/** Places at even distances inside a range. */
export function spread([from, to]: readonly [from: number, to: number], count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + Math.floor(((to - from) * (i + 1)) / (count + 1)))
}

/** How far through a gap the instant is by interpolation; null if that cannot be told. */
function shareOf({ low, high, blank, isFall }: Gap, instant: number): number | null {
  if (isFall || blank || !low || !high || high.time <= low.time) return null
  return (instant - low.time) / (high.time - low.time)
}
