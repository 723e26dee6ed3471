import type { Budget } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { perOwner, SharedWork } from '../../kit/limits/once.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import type { ProbeOptions, Stretch } from './probes.ts'

const READ = 1024 * 1024
/** How much is examined between two turns of the event loop. */
const TURN = 256 * 1024

/** Where the records of a region are early and late. */
export interface Examined {
  /** Where the first late record starts; null if there is none. */
  firstLate: number | null
  /** Where the last early record ends; null if there is none. */
  earlyEnd: number | null
}

/** Checks every record that starts in [from, to) of a text; `spent` if the budget ran out. `isStart`: a line starts there. */
export async function examine(
  text: Stretch,
  options: ProbeOptions,
  instant: number,
  [from, to, isStart = from === 0]: readonly [from: number, to: number, isStart?: boolean],
): Promise<Examined | 'spent'> {
  const read = () => readAll(text, options, from, to)
  const bytes = await readsOf(options.budget).run(`${from} ${to} ${text.version}`, read)
  if (bytes === null) return 'spent'
  const seen = new EarlyAndLate(options, instant)
  for (let at = 0; at < bytes.length; ) {
    if (!(await options.budget.step())) return 'spent'
    at = seen.look({ bytes, base: from, isStart }, at, at + TURN)
  }
  return seen.end(to)
}

/** Some text in memory, and where it lies; `isStart` if its first line begins there. */
interface LookedAt {
  bytes: Uint8Array
  base: number
  isStart: boolean
}

/** Goes over records in order, and remembers the first late one and the end of the last early one. */
class EarlyAndLate {
  readonly #options: Pick<ProbeOptions, 'format' | 'zone'>
  readonly #instant: number
  #firstLate: number | null = null
  /** Where the last early record ends: null before the first, NaN until the next record starts. */
  #earlyEnd: number | null = null
  #isEarly = false

  constructor(options: Pick<ProbeOptions, 'format' | 'zone'>, instant: number) {
    this.#options = options
    this.#instant = instant
  }

  /** Checks the records that start from `from` on, until after `stop`; returns where to continue. */
  look({ bytes, base, isStart }: LookedAt, from: number, stop: number): number {
    const { format, zone } = this.#options
    const isFirst = isStart && from === 0 && format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))
    let start = isFirst ? 0 : nextStart(format, bytes, from, bytes.length)
    while (start >= 0) {
      if (start >= stop) return start - 1
      const end = lineEnd(bytes, start, bytes.length)
      this.#take(base + start, format.time(bytes, start, end, zone))
      start = nextStart(format, bytes, end, bytes.length)
    }
    return bytes.length
  }

  #take(start: number, time: number): void {
    if (Number.isNaN(this.#earlyEnd)) this.#earlyEnd = start
    // A record without a time counts with the one before it.
    if (!Number.isNaN(time)) {
      this.#isEarly = time < this.#instant
      if (!this.#isEarly) this.#firstLate ??= start
    }
    if (this.#isEarly) this.#earlyEnd = Number.NaN
  }

  /** What was found, if the region ends here. */
  end(at: number): Examined {
    return { firstLate: this.#firstLate, earlyEnd: Number.isNaN(this.#earlyEnd) ? at : this.#earlyEnd }
  }
}

/** The searches for `since` and `until` of a short period read the same bytes once, and hold them once. */
const readsOf = perOwner<Budget, SharedWork<Uint8Array | null>>(() => new SharedWork())

/** The bytes [from, to), read in parallel pieces; null when the budget runs out. */
async function readAll(
  text: Stretch,
  options: ProbeOptions,
  from: number,
  to: number,
): Promise<Uint8Array | null> {
  const { budget } = options
  // What cannot be examined whole is not begun: the budget is left to the search, which checks every record anyway.
  if (budget.bytesLeft < to - from) return null
  if (to - from <= READ) {
    if (!(await budget.step())) return null
    budget.spend(Math.max(0, to - from))
    return text.read(from, to)
  }
  const all = new Uint8Array(to - from)
  return (await readInto(all, text, options, from)) ? all : null
}

/** Fills memory with the bytes from a place on, in parallel pieces; false when the budget runs out. */
export async function readInto(
  all: Uint8Array<ArrayBuffer>,
  text: Stretch,
  { budget, parallel }: ProbeOptions,
  from: number,
): Promise<boolean> {
  if (budget.bytesLeft < all.length) return false
  const starts = Array.from({ length: Math.ceil(all.length / READ) }, (_, i) => i * READ)
  return each(starts, parallel, async (at) => {
    if (!(await budget.step())) return false
    const into = all.subarray(at, at + READ)
    budget.spend(into.length)
    // A store may return memory of its own.
    const bytes = await text.read(from + at, from + at + into.length, { into })
    if (bytes.buffer !== into.buffer) into.set(bytes)
  })
}
