import { lineEnd, nextStart } from '../format/lines.ts'
import type { TimeSpan } from '../text/text.ts'
import type { Border } from './border.ts'
import type { ProbeOptions, Stretch } from './probes.ts'
import { SpanReader, UNIT } from './spans.ts'
import { type Examined, examine, readInto } from './walk.ts'

/** Some records of a text, from where the first of them starts up to the next piece, and their times. */
export interface TimedPiece extends TimeSpan {
  start: number
}

/** The times of a file. */
export interface FileTimes {
  pieces: readonly TimedPiece[]
  /** Where its first record with a time starts; null if there is none near its beginning. */
  first: number | null
  /** Whether its last line is whole. */
  isWhole: boolean
}

/** A piece begins at the first record with a time after this many bytes. */
export const PIECE = 512 * 1024
/** What is read at a time. Over a network, fewer and larger reads are quicker. */
const BATCH_BYTES = 1024 * 1024
const REMOTE_BATCH = 4 * BATCH_BYTES
/** Text without a record with a time is held up to this size, and so is a line. */
const MAX_HELD = 4 * BATCH_BYTES

/** Reads the times of [from, size) of a text, where a record or the text begins; `spent` if the budget ran out. */
export async function piecesOf(
  text: Stretch,
  options: ProbeOptions,
  from: number,
): Promise<TimedPiece[] | 'spent'> {
  const batch = Math.min(text.size - from, options.parallel > 1 ? REMOTE_BATCH : BATCH_BYTES)
  const pass = new Pass(options, from, batch)
  try {
    for (let at = from; at < text.size; at += batch) {
      const bytes = pass.room(Math.min(batch, text.size - at))
      if (!(await readInto(bytes, text, options, at)) || !(await pass.add(bytes))) return 'spent'
    }
    return (await pass.end()) ? pass.pieces : 'spent'
  } finally {
    pass.release()
  }
}

/** One pass through a text. */
class Pass {
  readonly pieces: TimedPiece[]
  readonly #options: ProbeOptions
  readonly #spans: SpanReader
  /** What is read into: a pass over a gigabyte would otherwise leave as much garbage. */
  #memory: Uint8Array<ArrayBuffer>
  /** What is not read yet, from the start of a line on, and where it lies. */
  #held: Uint8Array<ArrayBuffer>
  #base: number
  /** Set inside a line that was too long to be held. */
  #isSkipping = false

  constructor(options: ProbeOptions, from: number, batch: number) {
    this.#options = options
    this.#spans = new SpanReader(options)
    this.#memory = new Uint8Array(2 * batch)
    this.#held = this.#memory.subarray(0, 0)
    this.#base = from
    this.pieces = [pieceAt(from)]
  }

  /** The memory behind what is held, for so many bytes. */
  room(length: number): Uint8Array<ArrayBuffer> {
    const { length: held } = this.#held
    if (held + length > this.#memory.length) {
      const larger = new Uint8Array(2 * (held + length))
      larger.set(this.#held)
      this.#memory = larger
    } else this.#memory.set(this.#held)
    this.#held = this.#memory.subarray(0, held)
    return this.#memory.subarray(held, held + length)
  }

  /** Reads on, with bytes that are in the room behind what is held; false if the budget ran out. */
  async add(bytes: Uint8Array): Promise<boolean> {
    const skipped = this.#isSkipping ? this.#skippedOf(bytes) : 0
    this.#held = this.#memory.subarray(skipped, this.#held.length + bytes.length)
    for (;;) {
      const place = Math.max(0, this.pieces.at(-1)!.start + PIECE - this.#base)
      const start = place < this.#held.length ? this.#timedStart(place) : -1
      if (start < 0) break
      if (!(await this.#read(start))) return false
      this.#spans.adapt(this.pieces.at(-1)!)
      this.pieces.push(pieceAt(this.#base))
    }
    if (this.#held.length <= MAX_HELD) return true
    if (!(await this.#read(this.#held.lastIndexOf(10) + 1))) return false
    if (this.#held.length > MAX_HELD) this.#skip()
    return true
  }

  /** Reads what is held, which ends the text. */
  end(): Promise<boolean> {
    return this.#read(this.#held.length)
  }

  release(): void {
    this.#spans.release()
  }

  /** The first record with a time that starts after `from` in what is held; -1 if there is none, or it is not whole. */
  #timedStart(from: number): number {
    const { format, zone } = this.#options
    const held = this.#held
    for (let start = nextStart(format, held, from, held.length); start >= 0; ) {
      const end = lineEnd(held, start, held.length)
      if (end === held.length) return -1
      if (!Number.isNaN(format.time(held, start, end, zone))) return start
      start = nextStart(format, held, end, held.length)
    }
    return -1
  }

  /** Adds the times of what is held before `to` to the last piece; false if the budget ran out. */
  async #read(to: number): Promise<boolean> {
    const held = this.#held
    for (let at = 0; at < to; ) {
      if (!(await this.#options.budget.step())) return false
      const end = at + UNIT < to ? Math.min(to, lineEnd(held, at + UNIT, to) + 1) : to
      this.#spans.read(held, at, end, this.pieces.at(-1)!)
      at = end
    }
    this.#held = held.subarray(to)
    this.#base += to
    return true
  }

  /** The time of a line that is too long to be held may be anywhere in it: it may be any time. */
  #skip(): void {
    Object.assign(this.pieces.at(-1)!, EVER)
    this.#base += this.#held.length
    this.#held = this.#memory.subarray(0, 0)
    this.#isSkipping = true
  }

  /** How many bytes belong to the line that is skipped; nothing else is held then. */
  #skippedOf(bytes: Uint8Array): number {
    const after = bytes.indexOf(10) + 1
    this.#isSkipping = after === 0
    const skipped = after === 0 ? bytes.length : after
    this.#base += skipped
    return skipped
  }
}

const EVER: TimeSpan = { earliest: Number.NEGATIVE_INFINITY, latest: Number.POSITIVE_INFINITY }

function pieceAt(start: number): TimedPiece {
  return { start, earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
}

/** A piece up to this size is examined. The records of a longer one, with a trace or a line of megabytes, are searched. */
const MAX_EXAMINED = 16 * BATCH_BYTES

/** Finds an instant in a text of which the times of all pieces are known; `spent` if the budget ran out. */
export async function borderAmong(
  pieces: readonly TimedPiece[],
  text: Stretch,
  options: ProbeOptions,
  instant: number,
): Promise<Border | 'spent'> {
  const known = new Map<number, Promise<Examined | 'spent'>>()
  const endOf = (i: number) => pieces[i + 1]?.start ?? text.size
  const isLong = (i: number) => endOf(i) - pieces[i]!.start > MAX_EXAMINED
  const look = (i: number) => {
    const range = [pieces[i]!.start, endOf(i), true] as const
    const seen = known.get(i) ?? examine(text, options, instant, range)
    known.set(i, seen)
    return seen
  }
  let from: number | null = null
  for (let i = 0; i < pieces.length && from === null; i++) {
    if (pieces[i]!.latest < instant) continue
    if (isLong(i)) from = pieces[i]!.start
    else {
      const seen = await look(i)
      if (seen === 'spent') return seen
      from = seen.firstLate
    }
  }
  if (from === null) return { from: text.size, to: text.size, ordered: true }
  for (let i = pieces.length - 1; i >= 0 && endOf(i) > from; i--) {
    if (pieces[i]!.earliest >= instant) continue
    if (isLong(i)) return { from, to: endOf(i), ordered: true }
    const seen = await look(i)
    if (seen === 'spent') return seen
    if (seen.earlyEnd === null) continue
    return seen.earlyEnd > from
      ? { from, to: seen.earlyEnd, ordered: false }
      : { from, to: from, ordered: true }
  }
  return { from, to: from, ordered: true }
}
