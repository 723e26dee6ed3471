import type { Piece } from '../format/shape.ts'
import { MOST_SHAPES, type Scanner, SHAPE_BYTES } from './scanner.ts'
import { compile, isDigit, isTens, NO_LEVEL, type ShapedLine, STEP, Steps, WORDS } from './shape-steps.ts'

export { levelCode, levelOfCode, NO_LEVEL } from './shape-steps.ts'

/** Where things are in the memory of a shape; see shapes.wat. */
const COUNTS = 3216
const MOST_WORDS = 26

/**
 * To learn a shape takes as long as to read twenty lines. So many are learnt at first, because a log has several levels
 * and writers; later one for as many bytes that fitted, or seldom.
 */
const AT_FIRST = 64
const ENOUGH = 2048
const SELDOM = 32

/** This many lines without a known shape are tolerated, and one more for each FEW bytes of lines that have one. */
const SOME = 128
const FEW = 1024
/** Of the bytes that fitted, the last ones count: a log may change. */
const RECENT_BYTES = 1 << 20
/** After this many chunks whose lines had too many shapes, shapes are tried again. */
const TRY_AGAIN = 16

/** A line found by its marks costs as much as it saves to look for marks in so many bytes. */
const DENSE = 4096

/** How many level codes there are: see `levelCode`. */
const LEVEL_CODES = 7
/** Each second of a minute has as many counts. */
const COUNTED = 8
const MINUTE = 60
/** Greater than every level code. */
export const ANYTHING = LEVEL_CODES + 1

/** How much of `hh:mm:ss.…` is the same in all lines of a shape: all lines of a second, ten, a minute, … */
const KEPT = [2, 4, 5, 7, 8]
/** How long the lines of each are, in ms. */
const SPANS = [3_600_000, 600_000, 60_000, 10_000, 1000]
/** The same of a number since the epoch: less of it is years. */
const EPOCH_KEPT = Array.from({ length: 16 }, (_, i) => i + 4)

/** Lines with times for which this is true of the first and of the last count as one. */
export type IsSpan = (first: number, last: number) => boolean

interface Shape {
  key: string
  /** A time that its lines count for. */
  time: number
  words: number
}

/**
 * Reads lines that are written like ones before: the plan of a line (`LineFormat.shape`) is compiled to steps that one
 * loop in the scanner runs, and lines that fit are counted there by level.
 */
export class Shapes {
  readonly #scanner: Scanner
  readonly #shapes: Shape[] = []
  #next = 0
  /** Bytes that fitted and have not been spent on learning, as if so many had fitted at first. */
  #credit = AT_FIRST * ENOUGH
  /** Lines that fitted no shape. */
  #unshaped = 0
  /** Such lines that only continued an unwanted record: passing over one takes a quarter of the time. */
  #passed = 0
  /** Bytes of lines that fitted. */
  #shaped = 0

  /** Those of a scanner before are forgotten. */
  constructor(scanner: Scanner) {
    this.#scanner = scanner
    inUse.delete(scanner)
  }

  /** How many shapes there are. */
  get length(): number {
    return this.#shapes.length
  }

  /** The time of the last record that fitted; NaN if there was none. */
  get time(): number {
    const time = this.#shapes[this.#scanner.lastShape]?.time ?? Number.NaN
    return time + this.#scanner.lastSecond * 1000
  }

  /** Whether the shape of a line that has none is worth learning: `fitted` bytes before it had one. */
  isWorth(fitted = 0): boolean {
    this.#unshaped++
    this.fitted(fitted)
    const isWorth = this.#credit >= ENOUGH || this.#unshaped % SELDOM === 0
    if (isWorth) this.#credit = Math.max(0, this.#credit - ENOUGH)
    return isWorth
  }

  /** Counts bytes of lines that have a shape. */
  fitted(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, AT_FIRST * ENOUGH)
    this.#shaped += bytes
    if (this.#shaped < RECENT_BYTES) return
    this.#shaped /= 2
    this.#passed /= 2
    this.#unshaped = this.#unshaped >> 1
  }

  /** Counts lines that continue a record and were passed over. */
  passed(): void {
    this.#passed++
  }

  /** Whether lines of all shapes so far are read faster than marks of a level are found. */
  isFast = true

  /** Whether lines of the level that was searched last are so many that shapes are faster in any case. */
  isDense = false

  /** Counts what was found in some bytes. */
  found(lines: number, bytes: number): void {
    this.isDense = lines * DENSE > bytes
  }

  /** Whether most lines fit. */
  get isUseful(): boolean {
    const lines = this.#unshaped + this.#passed / 4
    return lines < SOME || this.#shaped > lines * FEW
  }

  /**
   * Learns how a line is written. `timeOf` reads its time, of a copy with other digits, too: lines count as one if
   * `isSpan` is true of the first and the last time that fits. Without it, lines of all times fit.
   * `flush` is called with what a shape that goes has counted.
   */
  learn(
    line: ShapedLine,
    span: { timeOf: (bytes: Uint8Array, to: number) => number; isSpan: IsSpan } | null,
    flush: Flush = () => {},
  ): boolean {
    const key = keyOf(line)
    let at = this.#shapes.findIndex((shape) => shape.key === key)
    const isMore = span && line.pieces.some((piece) => piece.as === 'severity' && !piece.isRecord)
    const found = span && !isMore ? spanOf(line, span.timeOf, span.isSpan) : TIMELESS
    if (!found) return false
    const { kept, time, isMinute } = found
    const steps = new Steps()
    const isWhole = compile(line, kept, isMinute, steps)
    if (!isWhole || !steps.isSaid) return false
    // Whatever its time is, it continues a record.
    if (isMore) return at >= 0 && this.#addWord(at, steps.word!)
    this.isFast &&= isFast(line.pieces)
    if (at < 0) {
      at = this.#shapes.length < MOST_SHAPES ? this.#shapes.length : this.#next++ % MOST_SHAPES
      this.#flushOne(at, flush)
      this.#memory(at).fill(0)
      this.#shapes[at] = { key, time, words: 0 }
    }
    const shape = this.#shapes[at]!
    this.#flushOne(at, flush)
    shape.time = time
    this.#memory(at).set(steps.bytes)
    if (steps.word) this.#addWord(at, steps.word)
    return true
  }

  /** Adds a word to a shape, if it is new; the oldest one makes room. False if it is known. */
  #addWord(at: number, word: Uint8Array): boolean {
    const shape = this.#shapes[at]!
    const memory = this.#memory(at)
    for (let i = 0; i < MOST_WORDS; i++) {
      const known = memory.subarray(WORDS + i * STEP, WORDS + (i + 1) * STEP)
      if (known.every((byte, j) => byte === word[j])) return false
    }
    memory.set(word, WORDS + (shape.words++ % MOST_WORDS) * STEP)
    return true
  }

  /** Calls `flush` with what was counted since the last time. */
  flush(flush: Flush): void {
    for (let at = 0; at < this.#shapes.length; at++) this.#flushOne(at, flush)
  }

  #flushOne(at: number, flush: Flush): void {
    const shape = this.#shapes[at]
    if (!shape) return
    const memory = this.#memory(at)
    const counts = new Int32Array(memory.buffer, memory.byteOffset + COUNTS, MINUTE * COUNTED)
    for (let i = 0; i < counts.length; i++) {
      const code = i % COUNTED
      if (counts[i]! > 0 && code >= NO_LEVEL)
        flush(shape.time + 1000 * Math.floor(i / COUNTED), code - NO_LEVEL - 1, counts[i]!)
    }
    counts.fill(0)
  }

  #memory(at: number): Uint8Array {
    return this.#scanner.shapes.subarray(at * SHAPE_BYTES, (at + 1) * SHAPE_BYTES)
  }
}

const inUse = new WeakMap<Scanner, { format: object; shapes: Shapes; passed: number }>()

/** The shapes of a format's lines without their times, as the scanner's last search with them left them. */
export function timelessShapes(scanner: Scanner, format: object): Shapes {
  const known = inUse.get(scanner)
  if (known?.format === format && (known.shapes.isUseful || ++known.passed < TRY_AGAIN)) return known.shapes
  const shapes = new Shapes(scanner)
  inUse.set(scanner, { format, shapes, passed: 0 })
  return shapes
}

/** Called with how many lines of a level were counted, and a time that they count for. */
export type Flush = (time: number, level: number, count: number) => void

/**
 * Whether nothing of another length is before the level. In JSON, marks stop the scanner several times in each line; at
 * the beginning of a line, marks pass over those that continue a record.
 */
function isFast(pieces: readonly Piece[]): boolean {
  if (pieces[0]!.as === 'word') return false
  return pieces.find(({ as }) => !FIXED.has(as))?.as === 'word' || pieces.at(-1)!.as === 'object'
}

const FIXED = new Set<Piece['as']>(['same', 'digits', 'date', 'clock'])

/** Pieces of which nothing is the same in other lines. */
const REST = new Set<Piece['as']>([
  ...(['word', 'severity', 'string', 'inner', 'escaped', 'silent', 'parted', 'object'] as const),
])

/** How a line is written, without its time and its level. */
function keyOf({ bytes, from, pieces }: ShapedLine): string {
  let key = ''
  let at = from
  for (const piece of pieces) {
    key += `|${piece.as}`
    const { as, to } = piece
    if (as === 'until' || as === 'text' || as === 'follows') key += bytes[to]
    else if (!REST.has(as)) {
      const text = String.fromCharCode(...bytes.subarray(at, to))
      key += as === 'same' ? text : text.replace(as === 'numbers' ? /\d+/g : /\d/g, '0')
    }
    at = to
  }
  return key
}

/** How much of the clock or number of a shape stays, the time of its first line, and whether its seconds are told apart. */
interface Span {
  kept: number | null
  time: number
  isMinute: boolean
}

const TIMELESS: Span = { kept: null, time: Number.NaN, isMinute: false }

/** The longest span of times that count as one, or a minute whose seconds each do; null if there is none. */
function spanOf(
  { bytes, from, to, pieces }: ShapedLine,
  timeOf: (bytes: Uint8Array, to: number) => number,
  isSpan: IsSpan,
): Span | null {
  const place = pieces.findIndex(({ as }) => as === 'clock' || as === 'epoch')
  if (place < 0) return null
  const isClock = pieces[place]!.as === 'clock'
  const start = pieces[place - 1]!.to - from
  const end = pieces[place]!.to - from
  // A copy: Buffer's slice is none.
  const line = new Uint8Array(bytes.subarray(from, to))
  for (const [i, kept] of (isClock ? KEPT : EPOCH_KEPT).entries()) {
    const at = (digit: (i: number) => number) => {
      for (let at = start + kept; at < end; at++) if (isDigit(line[at]!)) line[at] = digit(at - start)
      return timeOf(line, line.length)
    }
    const last = at((index) => (isClock && isTens(index) ? 0x35 : 0x39))
    const first = at(() => 0x30)
    const length = last - first
    // A zone that changes its offset in between has another length.
    const isEven = !isClock || (length < SPANS[i]! && length > SPANS[i]! - 1001)
    if (isEven && isSpan(first, last)) return { kept, time: first, isMinute: false }
    const isMinute = isEven && isClock && length < 60_000 && length > 58_000
    if (isMinute && areSpans(first, last - first - 59_000, isSpan)) return { kept, time: first, isMinute }
    line.set(bytes.subarray(from + start, from + end), start)
  }
  return null
}

/** Whether each second of a minute is a span, to the last decimal of it that is written. */
function areSpans(first: number, decimals: number, isSpan: IsSpan): boolean {
  for (let time = first; time < first + 60_000; time += 1000) if (!isSpan(time, time + decimals)) return false
  return true
}
