import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Budget } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { perOwner, SharedWork } from '../../kit/limits/once.ts'
import { perFiles } from '../files/files.ts'
import type { Text } from '../text/text.ts'
import { isStill, keyOf, type Print, printOf } from './print.ts'
import { MAX_PROBE, PROBE, type ProbeOptions, probe, stretchOf, type TimeSample } from './probes.ts'

/** The distance between two samples. It is doubled until there are few enough of them. */
const STEP = 512 * 1024
const MOST_SAMPLES = 4096
/** Elsewhere than on a disk. They are read while the border is searched for, and take no longer than that. */
const REMOTE_MOST = 256
const REMOTE_AT_ONCE = 64
/** Where fewer reads run at once than this, as on Workers, so many more would hold up the answer. */
const LEAST_PARALLEL = 16
/** How many files are remembered for a node, and how many samples of all of them: at most 3 MB. */
const MAX_FILES = 64
const MAX_SAMPLES = 8 * MOST_SAMPLES
/** Reads that wait for the disk together. */
const READS_AT_ONCE = 8

interface Grid {
  print: Print
  samples: readonly TimeSample[]
}

const gridsOf = perFiles(() => new BoundedMap<string, Grid>(MAX_FILES))
/** The searches for `since` and `until` of a request take a sample once. */
const samplesOf = perOwner<Budget, SharedWork<Grid | 'spent', Text>>(() => new SharedWork(true))

/**
 * Samples at even distances of files in a row that are too long to be read through. On a disk they cost a tenth of a
 * second for each GiB, once, and then only for what was appended. Null if they would cost too much, `spent` if the
 * budget ran out.
 */
export async function gridOf(
  parts: readonly Text[],
  options: ProbeOptions,
): Promise<readonly TimeSample[] | 'spent' | null> {
  const { isNear } = options.files
  if (!isNear && options.parallel < LEAST_PARALLEL) return null
  const size = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  const most = isNear ? MOST_SAMPLES : REMOTE_MOST
  const step = STEP * 2 ** Math.max(0, Math.ceil(Math.log2(size / STEP / most)))
  if ((size / step) * PROBE > options.budget.bytesLeft / 4) return null
  const taken = samplesOf(options.budget)
  const grids = new Map<Text, Grid>()
  const isComplete = await each(parts, isNear ? 1 : REMOTE_AT_ONCE, async (part) => {
    const atOnce = isNear ? READS_AT_ONCE : Math.ceil(REMOTE_AT_ONCE / parts.length)
    const grid = await taken.run(part, () => sample(part, { step, atOnce }, options))
    if (grid === 'spent') return false
    grids.set(part, grid)
  })
  return isComplete ? asOneText(parts, grids) : 'spent'
}

function asOneText(parts: readonly Text[], grids: ReadonlyMap<Text, Grid>): TimeSample[] {
  const all: TimeSample[] = []
  let base = 0
  for (const part of parts) {
    for (const sample of grids.get(part)!.samples)
      all.push({ ...sample, at: base + sample.at, start: base + sample.start })
    base += part.entry.size
  }
  return all
}

/** The distance between samples, and how many are read at a time. */
interface GridPlan {
  step: number
  atOnce: number
}

/** Takes the samples of a file that are not known. */
async function sample(
  part: Text,
  { step, atOnce }: GridPlan,
  options: ProbeOptions,
): Promise<Grid | 'spent'> {
  const { files, format, budget } = options
  const { etag, size } = part.entry
  const remembered = gridsOf(files)
  const key = keyOf(part, format.name)
  const grid = remembered.get(key)
  const known = grid && (await isStill(grid.print, part, options)) ? grid : null
  const isKnown = (at: number) => known?.print.etag === etag || at + MAX_PROBE <= (known?.print.size ?? 0)
  const kept = known?.samples.filter(({ at }) => at % step === 0 && isKnown(at)) ?? []
  const places = new Set(Array.from({ length: Math.ceil(size / step) }, (_, i) => i * step))
  for (const { at } of kept) places.delete(at)
  if (known?.print.etag === etag && places.size === 0) return known
  const text = stretchOf([part])
  const fresh: TimeSample[] = []
  const [isComplete, print] = await Promise.all([
    each([...places], atOnce, async (at) => {
      if (!(await budget.step())) return false
      fresh.push(await probe(text, options, at))
    }),
    printOf(part, options, known?.print ?? null),
  ])
  if (!isComplete) return 'spent'
  const made = { print, samples: [...kept, ...fresh] }
  if (made.samples.length > 1) remember(remembered, key, made)
  return made
}

function remember(grids: BoundedMap<string, Grid>, key: string, grid: Grid): void {
  grids.delete(key)
  grids.set(key, grid)
  let count = 0
  for (const { samples } of grids.values()) count += samples.length
  for (const [oldest, { samples }] of grids) {
    if (count <= MAX_SAMPLES) return
    grids.delete(oldest)
    count -= samples.length
  }
}
