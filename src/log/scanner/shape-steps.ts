import type { Piece } from '../format/shape.ts'

/** How long a step is, and where the words come after them; see shapes.wat. */
export const STEP = 48
export const WORDS = 1920
const MOST_STEPS = 40

/** The kinds of steps, in the order of shapes.wat. */
const KINDS = [
  'end',
  'bytes',
  'digits',
  'until',
  'string',
  'word',
  'severity',
  'object',
  'follows',
  'inner',
  'text',
  'silent',
  'seconds',
] as const
type StepKind = (typeof KINDS)[number]

/** Level codes of a line: it continues a record, it has no level, or it has the level after these two. */
const CONTINUES = 0
export const NO_LEVEL = 1
export const levelCode = (level: number) => level + NO_LEVEL + 1
/** The level; -1 if it has none, less if it continues a record or its shape is not known. */
export const levelOfCode = (code: number) => code - NO_LEVEL - 1

/** A line whose shape others may have. */
export interface ShapedLine {
  bytes: Uint8Array
  from: number
  to: number
  pieces: readonly Piece[]
}

/** The steps of a shape, as shapes.wat reads them. */
export class Steps {
  readonly bytes = new Uint8Array(WORDS)
  /** What the word of the line says. */
  word: Uint8Array | null = null
  /** Whether it is known what lines say: by their words, or that they have none. */
  isSaid = false
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

  step(kind: StepKind, number = 0): void {
    if (this.#low.length > 0) this.#put()
    this.#step(kind, number)
  }

  #put(): void {
    const places = this.#low.length
    const at = this.#count * STEP
    this.#step('bytes', places)
    if (at + STEP > this.bytes.length) return
    this.bytes.set(this.#low.splice(0), at + 16)
    this.bytes.fill(255, at + 32 + places, at + STEP)
    this.bytes.set(this.#above.splice(0), at + 32)
  }

  #step(kind: StepKind, number: number): void {
    const at = this.#count++ * STEP
    if (at + STEP > this.bytes.length) return
    const view = new DataView(this.bytes.buffer)
    view.setInt32(at, KINDS.indexOf(kind), true)
    view.setInt32(at + 4, number, true)
  }
}

/** Compiles the pieces of a line; false if it has too many. Of its clock, `kept` characters are those of all lines. */
export function compile(
  { bytes, from, pieces }: ShapedLine,
  kept: number | null,
  isMinute: boolean,
  steps: Steps,
): boolean {
  let at = from
  // The end of a wrapped line says whether the next one continues it.
  const maySkipRest = kept === null && pieces.every(({ as }) => as !== 'escaped' && as !== 'parted')
  for (const piece of pieces) {
    const { to } = piece
    if (piece.as === 'word' || piece.as === 'severity') {
      steps.word = wordOf(bytes, piece)
      if (!steps.word) return false
      steps.isSaid = true
      steps.step(piece.as, piece.as === 'severity' ? piece.reach : Number(maySkipRest))
    } else if (piece.as === 'until' || piece.as === 'text' || piece.as === 'follows')
      steps.step(piece.as, bytes[to])
    else if (piece.as === 'string' || piece.as === 'inner' || piece.as === 'object') steps.step(piece.as)
    else if (piece.as === 'escaped') steps.step('string', piece.isObject ? 2 : 1)
    else if (piece.as === 'silent') {
      // A search by level finds marks faster.
      if (kept === null) return false
      steps.isSaid = true
      steps.step('silent')
    } else if (piece.as === 'numbers') putNumbers(bytes, at, to, steps)
    else if (piece.as !== 'parted') {
      // `Nov 00` is no day.
      const as = piece.as === 'date' && hasName(bytes, at, to) ? 'same' : piece.as
      for (let i = at; i < to; i++) {
        if (isMinute && as === 'clock' && i === at + 6) {
          steps.step('seconds')
          i++
        } else putByte(as, bytes[i]!, { index: i - at, kept }, steps)
      }
    }
    at = to
  }
  steps.step('end', pieces.at(-1)!.as === 'parted' ? 1 : 0)
  return steps.fits
}

/** Whether the name of a month is in bytes[from, to). */
function hasName(bytes: Uint8Array, from: number, to: number): boolean {
  return bytes.subarray(from, to).some((byte) => byte >= 0x61)
}

function putByte(
  as: 'same' | 'digits' | 'date' | 'clock' | 'epoch',
  byte: number,
  { index, kept }: { index: number; kept: number | null },
  steps: Steps,
): void {
  const isTime = as === 'clock' || as === 'epoch'
  const isFree = isTime ? index >= (kept ?? 0) : as === 'date' ? kept === null : as === 'digits'
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
  view.setInt32(36, piece.isRecord === false ? CONTINUES : levelCode(piece.level), true)
  return word
}

/** Whether tens of minutes or seconds are in this place of `hh:mm:ss`. */
export const isTens = (index: number) => index === 3 || index === 6

export const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

/** A letter or an underscore: digits after it are part of a name. */
function isNameByte(byte: number): boolean {
  const letter = byte | 32
  return (letter >= 0x61 && letter <= 0x7a) || byte === 0x5f || byte >= 0x80
}
