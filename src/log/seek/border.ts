import { type Gap, openPartsOf, type Picture, pictureOf, placesIn, rangeOf, spread } from './gaps.ts'
import type { Probes } from './probes.ts'
import { type Examined, examine } from './walk.ts'

/**
 * The position of an instant in a log: every record before `from` is earlier, every record at or after `to` is not, and
 * those between must be checked individually. In a log ordered by time both are the same.
 */
export interface Border {
  from: number
  to: number
  /** False if the log was found to be out of order, so that time alone does not locate a record. */
  ordered: boolean
}

/** A text up to this size is examined as a whole: on a bucket that is quicker than bisection, and shows any disorder. */
export const SMALL = 4 * 1024 * 1024
/** What is examined on both sides of a crossing. Over a network, fewer and larger reads are quicker. */
const MARGIN = 384 * 1024
const REMOTE_MARGIN = 1024 * 1024
/** Samples all over the text: a clock that stepped back for longer shows in them. */
const GRID = 16
/** Samples next to the border, at even distances; beyond them each is twice as far as the one before. */
const CLOSE = 6
/** How often samples around a border may show that it is elsewhere. */
const MAX_MOVES = 4
/** More falls than this are not narrowed down: all records between them are checked. */
const MAX_FALLS = 12
/** Text without times, such as a long trace, is read through up to this size. */
const MAX_BLANK = 16 * 1024 * 1024
/** How far before the end the last probe is: within what was read to detect the format. */
const END_PROBE = 8 * 1024

/**
 * Finds an instant in a text that can be read anywhere; `spent` if the budget ran out. A text up to `small` is examined
 * as a whole. `isSampled`: there are samples all over it already.
 */
export async function borderIn(
  probes: Probes,
  instant: number,
  { small = SMALL, isSampled = false }: { small?: number; isSampled?: boolean } = {},
): Promise<Border | 'spent'> {
  const { size } = probes.text
  if (size > small) return new BorderSearch(probes, instant).run(isSampled)
  const seen = await examine(probes.text, probes.options, instant, [0, size])
  return seen === 'spent' ? seen : sharpened(seen, size)
}

/** The border of a text of which every record was examined. */
function sharpened({ firstLate, earlyEnd }: Examined, size: number): Border {
  if (firstLate === null) return { from: size, to: size, ordered: true }
  if (earlyEnd === null || earlyEnd <= firstLate) return { from: firstLate, to: firstLate, ordered: true }
  return { from: firstLate, to: earlyEnd, ordered: false }
}

/**
 * Narrows down where times cross an instant for the first time and for the last. Samples all over the text, denser
 * toward the border, show whether a clock stepped back: a step that moves records across the border is at least as long
 * as its distance, and so are the distances between samples there at most.
 */
class BorderSearch {
  readonly #probes: Probes
  readonly #instant: number
  readonly #size: number
  readonly #margin: number
  readonly #examined = new Map<string, Promise<Examined | 'spent'>>()

  constructor(probes: Probes, instant: number) {
    this.#probes = probes
    this.#instant = instant
    this.#size = probes.text.size
    this.#margin = probes.options.parallel > 4 ? REMOTE_MARGIN : MARGIN
  }

  async run(isSampled: boolean): Promise<Border | 'spent'> {
    // The ends are mostly in memory already, because the format was detected there.
    if (!(await this.#probes.look([0, Math.max(0, this.#size - END_PROBE)]))) return 'spent'
    let more = isSampled ? [] : spread([0, this.#size], GRID)
    for (let moves = 0; ; moves++) {
      const picture = await this.#narrow(more)
      if (picture === 'spent') return 'spent'
      more = moves < MAX_MOVES ? this.#around(picture) : []
      const missing = more.filter((at) => !this.#probes.has(at))
      if (missing.length === 0) return this.#borderOf(picture)
      // What is examined is read together with the samples around it.
      const [isDone] = await Promise.all([this.#probes.look(missing), this.#examine(picture.first)])
      if (!isDone) return 'spent'
      more = []
    }
  }

  #picture(): Picture {
    return pictureOf(this.#probes.known(0, this.#size), this.#instant)
  }

  /** Probes until every gap is small. The first probes come with `more`. */
  async #narrow(more: readonly number[]): Promise<Picture | 'spent'> {
    const { parallel } = this.#probes.options
    for (let round = 0; ; round++) {
      const picture = this.#picture()
      const { first, last, falls } = picture
      const narrowed = falls.length > MAX_FALLS ? [] : falls
      const gaps = [...new Set([first, last, ...narrowed])].flatMap((gap) =>
        openPartsOf(gap, this.#size).map((part) => ({ gap, part })),
      )
      const count = Math.max(1, Math.floor(parallel / gaps.length))
      const places = gaps.flatMap(({ gap, part }) =>
        placesIn(gap, part, { instant: this.#instant, count, round }),
      )
      if (round === 0) places.push(...more)
      const missing = places.filter((at) => !this.#probes.has(at))
      if (missing.length === 0) return picture
      if (!(await this.#probes.look(missing))) return 'spent'
    }
  }

  /** Where samples around the border belong: each distance is halved by one, unless there is a sample already. */
  #around({ first, last }: Picture): number[] {
    const [from] = rangeOf(first, this.#size)
    const [, to] = rangeOf(last, this.#size)
    const places: number[] = []
    let distance = 0
    for (let i = 1; ; i++) {
      const before = distance
      distance = i <= CLOSE ? i * this.#margin : 2 * distance
      const below = from - distance
      const above = to + distance
      if (below <= 0 && above >= this.#size) return places
      const isKnown = (low: number, high: number) => i > CLOSE && this.#probes.known(low, high).length > 0
      if (below > 0 && !isKnown(below + 1, from - before)) places.push(below)
      if (above < this.#size && !isKnown(to + before + 1, above)) places.push(above)
    }
  }

  /** The border, from the records around each gap. */
  async #borderOf({ first, last, falls }: Picture): Promise<Border | 'spent'> {
    const areMany = falls.length > MAX_FALLS
    const gaps = [...new Set([first, last, ...(areMany ? [] : falls)])]
    let firstLate = Number.POSITIVE_INFINITY
    let earlyEnd = Number.NEGATIVE_INFINITY
    for (const gap of gaps) {
      const seen = await this.#examine(gap)
      if (seen === 'spent') return seen
      firstLate = Math.min(firstLate, seen.firstLate ?? Number.POSITIVE_INFINITY)
      earlyEnd = Math.max(earlyEnd, seen.earlyEnd ?? Number.NEGATIVE_INFINITY)
    }
    for (const gap of areMany ? falls : []) {
      const [from, to] = rangeOf(gap, this.#size)
      firstLate = Math.min(firstLate, from)
      earlyEnd = Math.max(earlyEnd, to)
    }
    if (firstLate === Number.POSITIVE_INFINITY) return { from: this.#size, to: this.#size, ordered: true }
    if (earlyEnd > firstLate)
      return this.#widened({ from: firstLate, to: earlyEnd, ordered: false }, { first, last })
    // What is skipped unread may hold anything, unless it is a hole.
    const { blank } = first
    const from = blank && isSkipped(blank) && !blank.isHole ? Math.min(earlyEnd, blank.from) : firstLate
    return { from: Math.max(0, from), to: firstLate, ordered: true }
  }

  /** Disorder up to the edge of what was examined reaches as far as the samples next to it. */
  #widened(border: Border, { first, last }: Pick<Picture, 'first' | 'last'>): Border {
    const margin = this.#margin
    const low = rangeOf(first, this.#size)[0] - margin
    const high = rangeOf(last, this.#size)[1] + margin
    let { from, to } = border
    if (low > 0 && from < low + margin / 2 && from >= low)
      from = this.#probes.known(0, low).findLast(({ time }) => time < this.#instant)?.start ?? 0
    if (high < this.#size && to > high - margin / 2 && to <= high)
      to = this.#probes.known(high, this.#size).find(({ time }) => time >= this.#instant)?.start ?? this.#size
    return { ...border, from, to }
  }

  /** Checks every record of a gap, and around a crossing those next to it. Each range is examined once. */
  async #examine(gap: Gap): Promise<Examined | 'spent'> {
    const margin = gap.isFall ? 0 : this.#margin
    const [low, high] = rangeOf(gap, this.#size)
    // The record that ends a fall is late, or early, itself.
    const from = Math.max(0, low - margin)
    const to = Math.min(this.#size, (gap.isFall ? (gap.high?.start ?? high) : high) + margin)
    const { blank } = gap
    const parts =
      blank && isSkipped(blank)
        ? [[from, blank.from] as const, [blank.to, to] as const]
        : [[from, to] as const]
    const seen: Examined = { firstLate: null, earlyEnd: null }
    for (const part of parts) {
      const known =
        this.#examined.get(part.join()) ??
        examine(this.#probes.text, this.#probes.options, this.#instant, part)
      this.#examined.set(part.join(), known)
      const found = await known
      if (found === 'spent') return found
      seen.firstLate ??= found.firstLate
      seen.earlyEnd = found.earlyEnd ?? seen.earlyEnd
    }
    return seen
  }
}

/** A hole is skipped. So is text without times, if there is too much of it to be read. */
function isSkipped(blank: NonNullable<Gap['blank']>): boolean {
  return blank.isHole || blank.to - blank.from > MAX_BLANK
}
