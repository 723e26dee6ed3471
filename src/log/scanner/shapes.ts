import type { Piece } from '../format/shape.ts'
import { MOST_SHAPES, type Scanner, SHAPE_BYTES } from './scanner.ts'

/** Where things are in the memory of a shape; see scanner.wat. */
const STEP = 48
const WORDS = 960
const COUNTS = 1472
const MOST_STEPS = 20
const MOST_WORDS = 9

/** To learn a shape takes as long as to read twenty lines: it is learnt if as many bytes fitted, or few do. */
const ENOUGH = 2048
const SELDOM = 32

/** So many lines that do not fit say nothing yet, and so many bytes that fit make up for one. */
const SOME = 32
const FEW = 1024

/** The kinds of steps, in the order of scanner.wat. */
const KINDS = { end: 0, bytes: 1, digits: 2, until: 3, string: 4, word: 5, severity: 6, object: 7 } as const

/** What a word says: that its line continues a record, that it has no level, or its level. */
export const CONTINUES = 0
const NO_LEVEL = 1
export const said = (level: number) => level + NO_LEVEL + 1
/** How many things a word can say. */
const SAYINGS = 7
/** More than any word says. */
export const ANYTHING = SAYINGS + 1

/** How much of `hh:mm:ss.…` is the same in all lines of a shape: all lines of a second, ten, a minute, … */
const KEPT = [2, 4, 5, 7, 8] as const
/** How long the lines of each are, in ms. */
const SPANS = [3_600_000, 600_000, 60_000, 10_000, 1000]

/** A line whose shape others may have. */
export interface ShapedLine {
  bytes: Uint8Array
  from: number
  to: number
  pieces: readonly Piece[]
}

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
  /** Bytes that fitted since a line was last worth learning, and lines that did not fit. */
  #fitted = 0
  #misses = 0
  /** Lines that did not fit, and bytes that did. */
  #unshaped = 0
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

  /** The time of the last line that fitted. */
  get time(): number {
    return this.#shapes[this.#scanner.lastShape]?.time ?? Number.NaN
  }

  /** Whether the shape of a line that has none is worth learning: `fitted` bytes before it had one. */
  isWorth(fitted: number): boolean {
    this.#unshaped++
    this.#shaped += fitted
    this.#fitted += fitted
    const isWorth = this.#fitted >= ENOUGH || this.#misses++ % SELDOM === 0
    if (isWorth) this.#fitted = 0
    return isWorth
  }

  /** Whether lines of all shapes so far are read faster than marks of a level are found. */
  isFast = true

  /** Whether most lines fit. */
  get isUseful(): boolean {
    return this.#unshaped < SOME || this.#shaped > this.#unshaped * FEW
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
    let kept: number | null = null
    let time = Number.NaN
    if (span) {
      const found = spanOf(line, span.timeOf, span.isSpan)
      if (!found) return false
      kept = found.kept
      time = found.time
    }
    const steps = new Steps()
    const isWhole = compile(line, kept, steps)
    if (!isWhole || steps.word === null) return false
    this.isFast &&= isFast(line.pieces)
    const key = keyOf(line, kept === null)
    let at = this.#shapes.findIndex((shape) => shape.key === key)
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
    this.#addWord(at, steps.word)
    return true
  }

  /** Adds a word to a shape, if it is new; the oldest one makes room. */
  #addWord(at: number, word: Uint8Array): void {
    const shape = this.#shapes[at]!
    const memory = this.#memory(at)
    for (let i = 0; i < MOST_WORDS; i++) {
      const known = memory.subarray(WORDS + i * STEP, WORDS + (i + 1) * STEP)
      if (known.every((byte, j) => byte === word[j])) return
    }
    memory.set(word, WORDS + (shape.words++ % MOST_WORDS) * STEP)
  }

  /** Calls `flush` with what was counted since the last time. */
  flush(flush: Flush): void {
    for (let at = 0; at < this.#shapes.length; at++) this.#flushOne(at, flush)
  }

  #flushOne(at: number, flush: Flush): void {
    const shape = this.#shapes[at]
    if (!shape) return
    const memory = this.#memory(at)
    const counts = new Int32Array(memory.buffer, memory.byteOffset + COUNTS, SAYINGS)
    for (let i = NO_LEVEL; i < SAYINGS; i++)
      if (counts[i]! > 0) flush(shape.time, i - NO_LEVEL - 1, counts[i]!)
    counts.fill(0)
  }

  #memory(at: number): Uint8Array {
    return this.#scanner.shapes.subarray(at * SHAPE_BYTES, (at + 1) * SHAPE_BYTES)
  }
}

const inUse = new WeakMap<Scanner, { format: object; shapes: Shapes }>()

/** The shapes of a format's lines without their times, as the scanner's last search with them left them. */
export function timelessShapes(scanner: Scanner, format: object): Shapes {
  const known = inUse.get(scanner)
  if (known?.format === format) return known.shapes
  const shapes = new Shapes(scanner)
  inUse.set(scanner, { format, shapes })
  return shapes
}

/** Called with how many lines of a level were counted, and a time that they count for. */
export type Flush = (time: number, level: number, count: number) => void

/** The steps of a shape, as scanner.wat reads them. */
class Steps {
  readonly bytes = new Uint8Array(WORDS)
  /** What the word of the line says. */
  word: Uint8Array | null = null
  #count = 0
  /** The lowest byte of each place, and how far above it is fine. */
  readonly #low: number[] = []
  readonly #above: number[] = []

  get fits(): boolean {
    return this.#count < MOST_STEPS
  }

  /** A byte between two others. */
  place(low: number, high = low): void {
    this.#low.push(low)
    this.#above.push(high - low)
    if (this.#low.length === 16) this.#put()
  }

  step(kind: keyof typeof KINDS, number = 0): void {
    if (this.#low.length > 0) this.#put()
    this.#step(KINDS[kind], number)
  }

  #put(): void {
    const places = this.#low.length
    const at = this.#count * STEP
    this.#step(KINDS.bytes, places)
    if (at + STEP > this.bytes.length) return
    this.bytes.set(this.#low.splice(0), at + 16)
    this.bytes.fill(255, at + 32 + places, at + STEP)
    this.bytes.set(this.#above.splice(0), at + 32)
  }

  #step(kind: number, number: number): void {
    const at = this.#count++ * STEP
    if (at + STEP > this.bytes.length) return
    const view = new DataView(this.bytes.buffer)
    view.setInt32(at, kind, true)
    view.setInt32(at + 4, number, true)
  }
}

/** Compiles the pieces of a line; false if it has too many. */
function compile({ bytes, from, pieces }: ShapedLine, kept: number | null, steps: Steps): boolean {
  let at = from
  for (const piece of pieces) {
    const { to } = piece
    if (piece.as === 'word' || piece.as === 'severity') {
      steps.word = wordOf(bytes, piece)
      if (!steps.word) return false
      steps.step(piece.as, piece.as === 'severity' ? piece.reach : 0)
      // A search by level needs no more of a line.
      if (kept === null) break
    } else if (piece.as === 'until') steps.step('until', bytes[to])
    else if (piece.as === 'string') steps.step('string', piece.isEnded ? 1 : 0)
    else if (piece.as === 'object') steps.step('object')
    else if (piece.as === 'numbers') putNumbers(bytes, at, to, steps)
    else for (let i = at; i < to; i++) putByte(piece.as, bytes[i]!, { index: i - at, kept }, steps)
    at = to
  }
  steps.step('end')
  return steps.fits
}

function putByte(
  as: 'same' | 'digits' | 'date' | 'clock',
  byte: number,
  { index, kept }: { index: number; kept: number | null },
  steps: Steps,
): void {
  const isFree = as === 'clock' ? index >= (kept ?? 0) : as === 'date' ? kept === null : as === 'digits'
  if (!isFree || !isDigit(byte)) steps.place(byte)
  // There is no minute 60.
  else steps.place(0x30, as === 'clock' && kept !== null && isTens(index) ? 0x35 : 0x39)
}

function putNumbers(bytes: Uint8Array, from: number, to: number, steps: Steps): void {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if (!isDigit(byte) || isNameByte(bytes[i - 1]!)) steps.place(byte)
    else {
      steps.step('digits')
      while (i + 1 < to && isDigit(bytes[i + 1]!)) i++
    }
  }
}

/** The word of a piece with the byte that ends it, or begins it before a colon; null if it is too long. */
function wordOf(bytes: Uint8Array, piece: Extract<Piece, { level: number }>): Uint8Array | null {
  const isBack = piece.as === 'severity'
  const text = isBack ? bytes.subarray(piece.at - 1, piece.to) : bytes.subarray(piece.at, piece.to + 1)
  if (text.length > 16) return null
  const word = new Uint8Array(STEP)
  const start = isBack ? 16 - text.length : 0
  word.set(text, start)
  word.fill(255, 16 + start, 16 + start + text.length)
  const view = new DataView(word.buffer)
  view.setInt32(32, isBack ? text.length : text.length - 1, true)
  view.setInt32(36, piece.isRecord === false ? CONTINUES : said(piece.level), true)
  return word
}

/** Whether nothing of another length is before the level. In JSON, marks stop the scanner several times in each line. */
function isFast(pieces: readonly Piece[]): boolean {
  return pieces.find(({ as }) => !FIXED.has(as))?.as === 'word' || pieces.at(-1)!.as === 'object'
}

const FIXED = new Set<Piece['as']>(['same', 'digits', 'date', 'clock'])

/** How a line is written, without its time and its level. */
function keyOf({ bytes, from, pieces }: ShapedLine, isTimeless: boolean): string {
  let key = ''
  let at = from
  for (const piece of pieces) {
    key += `|${piece.as}`
    const { as, to } = piece
    if (as === 'word' || as === 'severity') {
      if (isTimeless) return key
    } else if (as === 'until') key += bytes[to]
    else if (as !== 'string' && as !== 'object') {
      const text = String.fromCharCode(...bytes.subarray(at, to))
      key += as === 'same' ? text : text.replace(as === 'numbers' ? /\d+/g : /\d/g, '0')
    }
    at = to
  }
  return key
}

/** The longest span of times that count as one, by how much of the clock stays; null if there is none. */
function spanOf(
  { bytes, from, to, pieces }: ShapedLine,
  timeOf: (bytes: Uint8Array, to: number) => number,
  isSpan: IsSpan,
): { kept: number; time: number } | null {
  const clock = pieces.findIndex(({ as }) => as === 'clock')
  if (clock < 0) return null
  const start = pieces[clock - 1]!.to - from
  const end = pieces[clock]!.to - from
  // A copy: Buffer's slice is none.
  const line = new Uint8Array(bytes.subarray(from, to))
  for (const [i, kept] of KEPT.entries()) {
    const at = (digit: (i: number) => number) => {
      for (let at = start + kept; at < end; at++) if (isDigit(line[at]!)) line[at] = digit(at - start)
      return timeOf(line, line.length)
    }
    const last = at((index) => (isTens(index) ? 0x35 : 0x39))
    const first = at(() => 0x30)
    const length = last - first
    // A zone that changes its offset in between has another length.
    if (length < SPANS[i]! && length > SPANS[i]! - 1001 && isSpan(first, last)) return { kept, time: first }
    line.set(bytes.subarray(from + start, from + end), start)
  }
  return null
}

/** Whether tens of minutes or seconds are in this place of `hh:mm:ss`. */
const isTens = (index: number) => index === 3 || index === 6

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

/** A letter or an underscore: digits after it are part of a name. */
function isNameByte(byte: number): boolean {
  const letter = byte | 32
  return (letter >= 0x61 && letter <= 0x7a) || byte === 0x5f || byte >= 0x80
}
