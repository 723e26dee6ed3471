import { type Budget, BudgetError } from '../../kit/limits/budget.ts'
import type { LogFiles } from '../files/files.ts'
import type { LineFormat } from '../format/detect.ts'
import { MAX_RECORD } from '../search/records.ts'
import { isHole } from '../text/bytes.ts'
import { firstTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'
import { BOTH, type Sides, sidesOf } from './archives.ts'
import { type Border, borderIn, SMALL } from './border.ts'
import { gridOf } from './grid.ts'
import { timesOf } from './known.ts'
import { borderAmong } from './pieces.ts'
import { type ProbeOptions, Probes, stretchOf } from './probes.ts'

export type { Border } from './border.ts'

/** How much of a file's head and tail is read for its first and last time, to begin with. */
export const EDGE_BYTES = 64 * 1024
/** How far a wall clock that is set back can mislead, with some margin. */
const SHIFT = 3 * 3_600_000

export interface Timed {
  files: LogFiles
  series: Series
  format: LineFormat
  zone: Zone
  budget: Budget
  /** How many reads run in parallel. @default 1 */
  parallel?: number
  /** How much of it is read through to know its times. @default 256 MiB on a disk, 32 MiB elsewhere */
  wholeBytes?: number | undefined
}

/**
 * Finds an instant by bisection with range reads, several in parallel if the store is far away. Files in a row that are
 * not compressed are searched as one text; archives cannot be bisected, so the records of those that may be on both
 * sides are checked individually. When the budget ends, every record of the log must be checked.
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

/** Parts in a row that are read alike: all compressed, or none. */
interface Run {
  first: number
  parts: Text[]
  compressed: boolean
}

/** A part of a log, and where in it the late records begin and the early ones end. */
interface Judged extends Sides {
  from: () => Promise<number>
  to: () => Promise<number>
  /** Whether its only early lines precede its first record: they belong to the part before. @default they do not */
  isLed?: () => Promise<boolean>
}

async function seekInSeries(log: Timed, instant: number): Promise<Border> {
  const { series, parallel = 1 } = log
  const options = { ...log, parallel }
  const judged: Judged[] = []
  let ordered = true
  let after = Number.NaN
  for (const run of runsOf(series.parts).reverse()) {
    if (run.compressed) {
      // The only archive of a log is searched through anyway, whatever is known about it.
      const isOnly = run.parts.length === 1 && isAlone(run.parts[0]!, series)
      const sides = isOnly ? [BOTH] : await sidesOf(run.parts, instant, after, options)
      judged.unshift(...sides.map((each, i) => ({ ...each, ...endsOf(series, run.first + i) })))
      continue
    }
    const probes = new Probes(stretchOf(run.parts), options)
    const border = await borderOf(run, probes, instant)
    if (border === 'spent') throw new BudgetError()
    ordered &&= border.ordered
    if (run.first > 0) after = await beginOf(probes)
    const base = () => series.addresses.base(run.first)
    judged.unshift({
      early: border.to > 0,
      late: border.from < probes.text.size,
      from: async () => (await base()) + border.from,
      to: async () => (await base()) + border.to,
      isLed: async () => border.ordered && !((await firstTimeIn(run.parts, options)) < instant),
    })
  }
  const first = judged.findIndex(({ late }) => late)
  const last = judged.findLastIndex(({ early }) => early)
  if (first < 0) return { from: series.end, to: series.end, ordered: true }
  const from = await judged[first]!.from()
  if (last < first) return { from, to: from, ordered }
  for (const { early, isLed } of judged.slice(first + 1)) ordered &&= !early || (await isLed?.()) === true
  return { from, to: Math.max(from, await judged[last]!.to()), ordered }
}

/** Finds an instant by the times of all records, if they are known or can be read; otherwise by samples. */
async function borderOf({ parts }: Run, probes: Probes, instant: number): Promise<Border | 'spent'> {
  const { text, options } = probes
  // A short text is read, but a short shipped log may be a hundred objects.
  const times = await timesOf(parts, options, { mayRead: text.size > SMALL })
  if (times === 'spent') return times
  if (times) return borderAmong(times, text, options, instant)
  if (text.size <= SMALL) return borderIn(probes, instant)
  return options.files.isNear ? borderNear(parts, probes, instant) : borderAfar(parts, probes, instant)
}

/** On a disk samples cost little, and the border is searched for among them. */
async function borderNear(parts: readonly Text[], probes: Probes, instant: number) {
  const samples = await gridOf(parts, probes.options)
  if (samples === 'spent') return samples
  if (samples) probes.take(samples)
  return borderIn(probes, instant, { isSampled: samples !== null })
}

/** Elsewhere they are taken meanwhile, and the border is searched for again if times are not in order among them. */
async function borderAfar(parts: readonly Text[], probes: Probes, instant: number) {
  const [border, samples] = await Promise.all([borderIn(probes, instant), gridOf(parts, probes.options)])
  if (border === 'spent' || samples === 'spent') return 'spent'
  if (samples === null || (border.ordered && probes.agreeWith(samples))) return border
  probes.take(samples)
  return borderIn(probes, instant, { isSampled: true })
}

/** Whether all other parts are empty. */
function isAlone(part: Text, { parts }: Series): boolean {
  return parts.every((other) => other === part || other.entry.size === 0)
}

/** Where an archive begins and ends. Nothing comes before the first, so that its size need not be known. */
function endsOf({ addresses, parts, end }: Series, index: number): Pick<Judged, 'from' | 'to'> {
  return {
    from: async () => (index === 0 ? Number.NEGATIVE_INFINITY : addresses.base(index)),
    to: async () => (index === parts.length - 1 ? end : addresses.base(index + 1)),
  }
}

function runsOf(parts: readonly Text[]): Run[] {
  const runs: Run[] = []
  for (const [first, part] of parts.entries()) {
    const last = runs.at(-1)
    if (last?.compressed === part.compressed) last.parts.push(part)
    else runs.push({ first, parts: [part], compressed: part.compressed })
  }
  return runs
}

/** The time of the first record of several files; NaN if there is none. */
async function firstTimeIn(parts: readonly Text[], options: ProbeOptions): Promise<number> {
  for (const part of parts) {
    const time = await firstTimeOf(part, options)
    if (time !== null) return time
  }
  return Number.NaN
}

/** The time of the first record near the beginning; NaN if there is none. */
async function beginOf(probes: Probes): Promise<number> {
  if (probes.text.size === 0) return Number.NaN
  if (!(await probes.look([0]))) throw new BudgetError()
  return probes.known(0, 1)[0]!.time
}

/** The time of the first record of a file that has one, even after a hole or a long text without times. */
export async function firstTimeOf(text: Text, options: ProbeOptions): Promise<number | null> {
  const time = await timeIn((length) => text.head(length), options)
  if (!Number.isNaN(time)) return time
  if (text.compressed || text.entry.size === 0) return null
  const probes = new Probes(stretchOf([text]), options)
  const border = await borderIn(probes, Number.NEGATIVE_INFINITY, { small: 0 })
  if (border === 'spent') return null
  // No record is earlier than the instant, so the first one with a time is where the late ones begin.
  const { to: from } = border
  const { size } = probes.text
  const behind = await timeIn((length) => text.read(from, Math.min(from + length, size)), options)
  return Number.isNaN(behind) ? null : behind
}

/** The first time in a text, of which more is read until there is one: the first record may be long. */
async function timeIn(
  read: (length: number) => Promise<Uint8Array>,
  { format, zone, budget }: ProbeOptions,
): Promise<number> {
  for (let length = EDGE_BYTES; ; length = Math.min(8 * length, MAX_RECORD)) {
    const bytes = await read(length)
    const time = firstTime(format, zone, bytes)
    const isLast = bytes.length < length || length === MAX_RECORD || isHole(bytes)
    if (!Number.isNaN(time) || isLast) return time
    budget.spend(bytes.length)
    if (!(await budget.step())) return Number.NaN
  }
}
