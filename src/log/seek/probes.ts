import { BoundedMap } from '../../limits/bounded-map.ts'
import type { Budget } from '../../limits/budget.ts'
import { each } from '../../limits/each.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import type { LineFormat } from '../format/detect.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import { isHole as isHoleOf } from '../text/bytes.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'

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

const PROBE = 4 * 1024
/** If no record with a time is found within this many bytes, the probe gives up: it may be a hole of gigabytes. */
const MAX_PROBE = 256 * 1024
/** How many samples of how many file versions are cached: about 2 MB in all. */
const MAX_SAMPLES = 512
const MAX_VERSIONS = 32
type Samples = BoundedMap<number, TimeSample>
const versionsOf = perFiles(() => new BoundedMap<string, Samples>(MAX_VERSIONS))

export interface ProbeOptions {
  files: LogFiles
  format: LineFormat
  zone: Zone
  budget: Budget
  parallel: number
}

/**
 * Samples the times of a file at chosen places. Samples are cached for each version of a file, so the next search
 * starts near its result.
 */
export class Probes {
  readonly text: Text
  readonly options: ProbeOptions
  readonly #samples: Samples

  constructor(text: Text, options: ProbeOptions) {
    this.text = text
    this.options = options
    const version = `${text.entry.etag} ${text.begin ?? 0} ${text.name}`
    this.#samples = versionsOf(options.files).use(version, () => new BoundedMap(MAX_SAMPLES))
  }

  /** Every sample that was taken within [from, to), in order of place. */
  known(from: number, to: number): TimeSample[] {
    return [...this.#samples.values()].filter(({ at }) => at >= from && at < to).sort((a, b) => a.at - b.at)
  }

  /** Probes several places, as many in parallel as the store allows. False if the budget ran out. */
  async look(places: readonly number[]): Promise<boolean> {
    const { budget, parallel } = this.options
    // Probes are short, so twice as many run as reads of a scan: those of one border take one round trip.
    const atOnce = parallel === 1 ? 1 : 2 * parallel
    const missing = [...new Set(places)].filter((at) => !this.#samples.has(at))
    return each(missing, atOnce, async (at) => {
      if (!(await budget.step())) return false
      this.#samples.set(at, await this.#probe(at))
    })
  }

  async #probe(at: number): Promise<TimeSample> {
    const { format, zone, budget } = this.options
    const end = await this.text.size()
    const limit = Math.min(end, at + MAX_PROBE)
    let isHole = true
    for (let from = at, length = PROBE; from < limit; length *= 8) {
      const bytes = await this.text.read(from, Math.min(from + length, limit))
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
}
