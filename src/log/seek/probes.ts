import { asOne } from '../../kit/bytes.ts'
import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Budget } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { perOwner, SharedWork } from '../../kit/limits/once.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import type { LineFormat } from '../format/detect.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import { isHole as isHoleOf } from '../text/bytes.ts'
import type { Text, TextRead } from '../text/text.ts'
import type { Zone } from '../time.ts'

/** Text that can be read anywhere: a file that is not compressed, or several in a row. */
export interface Stretch {
  /** Changes with every version of its files. */
  version: string
  size: number
  read(from: number, to: number, options?: TextRead): Promise<Uint8Array>
}

/** Files in a row as one text. */
export function stretchOf(parts: readonly Text[]): Stretch {
  const starts: number[] = []
  let size = 0
  for (const { entry } of parts) {
    starts.push(size)
    size += entry.size
  }
  const versions = parts.map(({ entry, begin = 0, name }) => `${entry.etag} ${begin} ${name}`)
  return {
    version: versions.join('\n'),
    size,
    async read(from, to, options) {
      const pieces: Uint8Array[] = []
      for (let i = starts.findLastIndex((start) => start <= from); i < parts.length; i++) {
        const low = Math.max(0, from - starts[i]!)
        const high = Math.min(to - starts[i]!, parts[i]!.entry.size)
        if (high <= low) continue
        pieces.push(await parts[i]!.read(low, high, high - low === to - from ? options : undefined))
      }
      return asOne(pieces)
    },
  }
}

/** What a probe found: the first record with a time after its offset, or that there is none nearby. */
export interface TimeSample {
  /** Where the probe began to read. */
  at: number
  /** Where the record starts; for a blank, where the probe stopped. */
  start: number
  /** Its time; NaN for a blank. */
  time: number
  /** Whether a blank held only NULs: a hole, as in a truncated file whose writer does not append. */
  isHole: boolean
}

export const PROBE = 4 * 1024
/** If no record with a time is found within this many bytes, the probe gives up: it may be a hole of gigabytes. */
export const MAX_PROBE = 256 * 1024
/** How many samples of how many file versions are cached: about 2 MB in all. */
const MAX_SAMPLES = 512
const MAX_VERSIONS = 32
type Samples = BoundedMap<number, TimeSample>
const versionsOf = perFiles(() => new BoundedMap<string, Samples>(MAX_VERSIONS))

/** The searches for `since` and `until` of a request probe a place once. */
const probesOf = perOwner<Budget, SharedWork<TimeSample>>(() => new SharedWork(true))

export interface ProbeOptions {
  files: LogFiles
  format: LineFormat
  zone: Zone
  budget: Budget
  parallel: number
  /** How much of a log is read through to know its times. @default 256 MiB on a disk, 32 MiB elsewhere */
  wholeBytes?: number | undefined
}

/**
 * Samples the times of a text at chosen places. Samples are cached for each version of it, so the next search
 * starts near its result.
 */
export class Probes {
  readonly text: Stretch
  readonly options: ProbeOptions
  /** Of this version, for every search. */
  readonly #shared: Samples
  /** Those that this search relies on. */
  readonly #samples: Map<number, TimeSample>
  #sorted: TimeSample[] | null = null

  constructor(text: Stretch, options: ProbeOptions) {
    this.text = text
    this.options = options
    this.#shared = versionsOf(options.files).use(text.version, () => new BoundedMap(MAX_SAMPLES))
    this.#samples = new Map(this.#shared)
  }

  /** Every sample that was taken within [from, to), in order of place. */
  known(from: number, to: number): TimeSample[] {
    this.#sorted ??= [...this.#samples.values()].sort((a, b) => a.at - b.at)
    return this.#sorted.filter(({ at }) => at >= from && at < to)
  }

  has(at: number): boolean {
    return this.#samples.has(at)
  }

  /** Whether times do not fall anywhere among the samples of this search and others. */
  agreeWith(samples: readonly TimeSample[]): boolean {
    const all = [...this.#samples.values(), ...samples].filter(({ time }) => !Number.isNaN(time))
    all.sort((a, b) => a.start - b.start)
    return all.every(({ time }, i) => i === 0 || time >= all[i - 1]!.time)
  }

  /** Adds samples that were taken elsewhere. They are not cached here. */
  take(samples: readonly TimeSample[]): void {
    for (const sample of samples) this.#samples.set(sample.at, sample)
    this.#sorted = null
  }

  /** Probes several places, as many in parallel as the store allows. False if the budget ran out. */
  async look(places: readonly number[]): Promise<boolean> {
    const { budget, parallel } = this.options
    // Probes are short, so twice as many run as reads of a scan: those of one border take one round trip.
    const atOnce = parallel === 1 ? 1 : 2 * parallel
    const missing = [...new Set(places)].filter((at) => !this.#samples.has(at))
    return each(missing, atOnce, async (at) => {
      if (!(await budget.step())) return false
      const found = () => probe(this.text, this.options, at)
      const sample = this.#shared.get(at) ?? (await probesOf(budget).run(`${at} ${this.text.version}`, found))
      this.#shared.set(at, sample)
      this.#samples.set(at, sample)
      this.#sorted = null
    })
  }
}

/** Looks for a record with a time from a place on. */
export async function probe(text: Stretch, options: ProbeOptions, at: number): Promise<TimeSample> {
  const { format, zone, budget } = options
  const end = text.size
  const limit = Math.min(end, at + MAX_PROBE)
  let isHole = true
  for (let from = at, length = PROBE; from < limit; length *= 8) {
    const bytes = await text.read(from, Math.min(from + length, limit))
    budget.spend(bytes.length)
    const whole = from + bytes.length === end
    isHole &&= isHoleOf(bytes)
    // A whole page of NULs is a hole: there is nothing nearby.
    if (isHole) return { at, start: from + bytes.length, time: Number.NaN, isHole }
    let start = nextStart(format, bytes, 0, bytes.length)
    while (start >= 0) {
      const stop = lineEnd(bytes, start, bytes.length)
      // A line that the probe cuts may have its time beyond the cut: read on from there.
      if (stop === bytes.length && !whole) break
      const time = format.time(bytes, start, stop, zone)
      if (!Number.isNaN(time)) return { at, start: from + start, time, isHole: false }
      start = nextStart(format, bytes, stop, bytes.length)
    }
    if (from + bytes.length >= limit) break
    // Continue at the last newline, so that no line is read without its beginning.
    const newline = bytes.lastIndexOf(10)
    from = newline > 0 ? from + newline : from + Math.max(1, bytes.length - 1)
  }
  return { at, start: limit, time: Number.NaN, isHole }
}
