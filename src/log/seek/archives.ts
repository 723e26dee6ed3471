import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { each } from '../../kit/limits/each.ts'
import { perFiles } from '../files/files.ts'
import { firstTime } from '../text/format.ts'
import { versionOf } from '../text/kind.ts'
import type { Text, TimeSpan } from '../text/text.ts'
import type { ProbeOptions } from './probes.ts'
import { SpanReader } from './spans.ts'

/** On which sides of an instant the records of an archive may be. */
export interface Sides {
  early: boolean
  late: boolean
}

/** Archives of a log are read through up to this many stored bytes in all, once: on a disk, and elsewhere. */
const SMALL = 8 * 1024 * 1024
const REMOTE_SMALL = 4 * 1024 * 1024
/** Of more than this many, even small ones take longer. */
const MOST_SMALL = 200
/** An archive next to the border is read through up to this size; a larger one may be on both sides. */
const LARGEST = 8 * 1024 * 1024
/** Up to this many archives, all heads are read. */
const FEW = 8
const HEAD_BYTES = 64 * 1024
const CHUNK = 256 * 1024
/** What is kept in memory of archives that were read through. */
const KEPT_BYTES = 1024 * 1024
/** Of how many archives the times are known: 200 KB. */
const REMEMBERED = 2000
const spansOf = perFiles(() => new BoundedMap<string, TimeSpan>(REMEMBERED))

/**
 * On which sides of an instant each archive of a log may be, oldest first. An archive has no random access: its times are
 * known if it is small or was read through, and otherwise judged by where it and the one after it begin. Those next to
 * the border are read through, because a clock may have stepped back inside of them. `after` is the first time of
 * what follows the last one; NaN if nothing does.
 */
export async function sidesOf(
  archives: readonly Text[],
  instant: number,
  after: number,
  options: ProbeOptions,
): Promise<Sides[]> {
  const heads = new ArchiveHeads(archives, options)
  const stored = archives.reduce((sum, { entry }) => sum + entry.size, 0)
  const small = options.files.isNear ? SMALL : REMOTE_SMALL
  if (stored <= small && archives.length <= MOST_SMALL) {
    await each(archives, options.parallel, async (_, i) => {
      await heads.span(i)
    })
    return archives.map((_, i) => sidesOfSpan(heads.spans[i]!, instant))
  }
  await heads.look(instant)
  const sides = archives.map((_, i) => heads.sides(i, instant, after))
  const judged = new Set<number>()
  for (;;) {
    const late = sides.findIndex(({ late }) => late)
    const besides = [(late < 0 ? archives.length : late) - 1, sides.findLastIndex(({ early }) => early) + 1]
    const next = besides.find((i) => archives[i] && !judged.has(i))
    if (next === undefined) return sides
    judged.add(next)
    const span = archives[next]!.entry.size <= LARGEST ? await heads.span(next) : null
    sides[next] = span ? sidesOfSpan(span, instant) : BOTH
  }
}

export const BOTH: Sides = { early: true, late: true }

function sidesOfSpan({ earliest, latest }: TimeSpan, instant: number): Sides {
  return { early: earliest < instant, late: latest >= instant }
}

/** What is known about the times of archives in a row. */
class ArchiveHeads {
  /** The times of those that were read through. */
  readonly spans: (TimeSpan | undefined)[]
  readonly #archives: readonly Text[]
  readonly #options: ProbeOptions
  /** The first times of some. */
  readonly #times: (number | undefined)[]

  constructor(archives: readonly Text[], options: ProbeOptions) {
    this.#archives = archives
    this.#options = options
    this.spans = new Array(archives.length).fill(undefined)
    this.#times = new Array(archives.length).fill(undefined)
  }

  /** Reads the heads that tell where the border is, and all of them if they are out of order. */
  async look(instant: number): Promise<void> {
    const count = this.#archives.length
    if (count <= FEW) return this.#read([...this.#archives.keys()])
    const places = [0]
    for (let distance = 1; distance < count; distance *= 2) places.push(count - distance)
    await this.#read(places)
    for (;;) {
      const known = this.#known()
      if (known.some((i, n) => n > 0 && this.#times[i]! < this.#times[known[n - 1]!]!))
        return this.#read([...this.#archives.keys()])
      const n = known.findIndex((i) => this.#times[i]! >= instant)
      const between = n > 0 ? this.#between(known[n - 1]!, known[n]!) : []
      if (between.length === 0) return
      await this.#read(between)
    }
  }

  /** Some of the archives between two whose heads were not read. */
  #between(low: number, high: number): number[] {
    const unread = [...this.#times.keys()].slice(low + 1, high).filter((i) => this.#times[i] === undefined)
    const step = Math.ceil(unread.length / Math.max(4, this.#options.parallel))
    return unread.filter((_, i) => i % step === step - 1)
  }

  /** On which sides of an instant an archive may be, by where it and the next one begin. */
  sides(index: number, instant: number, after: number): Sides {
    const span = this.spans[index]
    if (span) return sidesOfSpan(span, instant)
    const isKnown = (time: number | undefined) => time !== undefined && !Number.isNaN(time)
    const begin = this.#times.findLast((time, i) => i <= index && isKnown(time)) ?? Number.NEGATIVE_INFINITY
    const next = this.#times.find((time, i) => i > index && isKnown(time)) ?? after
    const end = Number.isNaN(next) ? Number.POSITIVE_INFINITY : next
    if (end < begin) return BOTH
    return { early: begin < instant, late: end >= instant }
  }

  /** The earliest and the latest time of an archive, which is read through unless they are known. */
  async span(index: number): Promise<TimeSpan> {
    const archive = this.#archives[index]!
    await this.#read([index])
    const { files, format } = this.#options
    // The same lines may mean other times if another file shows their year or their zone.
    const key = `${versionOf(archive.entry)} ${format.name} ${this.#times[index]}`
    const known = spansOf(files)
    const span = known.get(key) ?? (await readThrough(archive, this.#options))
    if (!archive.broken && !archive.cut) known.set(key, span)
    this.spans[index] = span
    return span
  }

  #known(): number[] {
    return [...this.#times.keys()].filter((i) => {
      const time = this.#times[i]
      return time !== undefined && !Number.isNaN(time)
    })
  }

  async #read(indexes: readonly number[]): Promise<void> {
    const { format, zone, budget, parallel } = this.#options
    const missing = indexes.filter((i) => this.#times[i] === undefined)
    await each(missing, parallel, async (i) => {
      await budget.check()
      this.#times[i] = firstTime(format, zone, await this.#archives[i]!.head(HEAD_BYTES))
    })
  }
}

/** One pass through an archive, which tells its size, too. */
async function readThrough(archive: Text, options: ProbeOptions): Promise<TimeSpan> {
  // A span that is too wide would say that the log is out of order.
  const spans = new SpanReader(options, true)
  const span = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
  let rest = new Uint8Array(0)
  let at = 0
  for (let size = Number.POSITIVE_INFINITY; at < size; ) {
    await options.budget.check()
    const piece = await readUpTo(archive, at, at + CHUNK)
    if (piece.length < CHUNK) size = at + piece.length
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    at += piece.length
    // The last line may go on.
    const end = at < size ? bytes.lastIndexOf(10) + 1 : bytes.length
    spans.read(bytes, 0, end, span)
    rest = bytes.slice(end)
  }
  if (at > KEPT_BYTES) await archive.release?.()
  return span
}

/** The bytes [from, to), or as many as there are. */
async function readUpTo(archive: Text, from: number, to: number): Promise<Uint8Array> {
  return archive.read(from, (await archive.reaches(to)) ? to : await archive.size(), { onward: true })
}
