import { BoundedMap } from '../../limits/bounded-map.ts'
import type { Budget } from '../../limits/budget.ts'
import { each } from '../../limits/each.ts'
import { perFiles } from '../files/files.ts'
import type { Text } from '../text/text.ts'
import { isStill, keyOf, type Print, printOf } from './print.ts'
import { MAX_PROBE, PROBE, type ProbeOptions, probe, stretchOf, type TimeSample } from './probes.ts'

/** The distance between two samples of a log on a disk. It is doubled until there are few enough of them. */
const STEP = 512 * 1024
const MOST = 4096
/** The samples of how many files are remembered for a node: at most 3 MB in all. */
const MAX_FILES = 8
/** Reads that wait for the disk together. */
const AT_ONCE = 8

interface Grid {
  print: Print
  samples: readonly TimeSample[]
}

const gridsOf = perFiles(() => new BoundedMap<string, Grid>(MAX_FILES))
/** The searches for `since` and `until` of a request take a sample once. */
const runningOf = new WeakMap<Budget, Map<Text, Promise<Grid | 'spent'>>>()

/**
 * Samples at even distances of files in a row that are too long to be read through. On a disk they cost a tenth of a
 * second for each GiB, once, and then only for what was appended. Null if they would cost too much, `spent` if the
 * budget ran out.
 */
export async function gridOf(
  parts: readonly Text[],
  options: ProbeOptions,
): Promise<readonly TimeSample[] | 'spent' | null> {
  if (!options.files.isNear) return null
  const size = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  const step = STEP * 2 ** Math.max(0, Math.ceil(Math.log2(size / STEP / MOST)))
  if ((size / step) * PROBE > options.budget.bytesLeft / 4) return null
  const all: TimeSample[] = []
  let base = 0
  for (const part of parts) {
    const grid = await sampleOnce(part, step, options)
    if (grid === 'spent') return grid
    for (const sample of grid.samples)
      all.push({ ...sample, at: base + sample.at, start: base + sample.start })
    base += part.entry.size
  }
  return all
}

function sampleOnce(part: Text, step: number, options: ProbeOptions): Promise<Grid | 'spent'> {
  const running = runningOf.get(options.budget) ?? new Map<Text, Promise<Grid | 'spent'>>()
  runningOf.set(options.budget, running)
  const grid = running.get(part) ?? sample(part, step, options)
  running.set(part, grid)
  return grid
}

/** Takes the samples of a file that are not known. */
async function sample(part: Text, step: number, options: ProbeOptions): Promise<Grid | 'spent'> {
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
  const text = stretchOf([part])
  const fresh: TimeSample[] = []
  const isComplete = await each([...places], AT_ONCE, async (at) => {
    if (!(await budget.step())) return false
    fresh.push(await probe(text, options, at))
  })
  if (!isComplete) return 'spent'
  const samples = [...kept, ...fresh]
  const made = { print: await printOf(part, options, known?.print ?? null), samples }
  if (samples.length > 1) remembered.set(key, made)
  return made
}
