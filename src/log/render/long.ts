import { type LineFormat, stripAnsi } from '../format/format.ts'
import { lineEnd } from '../format/lines.ts'
import { LEVELS } from '../format/read/level.ts'
import type { Zone } from '../time.ts'

/** Longer records are rendered in steps, so that a line of 30 MB does not hold up other requests. */
export const LONG = 4 * 1024 * 1024
/** So are records with more lines than this. */
export const MANY_LINES = 10_000

/** How much of a long record's first line is parsed. */
const HEAD = 16 * 1024
/** How much of a long record is one step. */
const STEP = 64 * 1024
const LF = 0x0a
const CR = 0x0d

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A long record as JSON text, piece by piece. If its first line is too long to parse, it stays text. */
export class LongRecord {
  /** Where the rest of it begins; before its end until it is written. */
  at: number
  /** Whether the last piece ended it. */
  ended = false
  /** The JSON up to the middle of the message. */
  readonly head: string
  readonly #unparsed: boolean
  readonly #format: LineFormat
  readonly #bytes: Uint8Array
  readonly #to: number
  readonly #start: number
  /** How much of the record is written as `raw`; null if that is not wanted. */
  #rawAt: number | null
  /** Where the record ends; null until its message is written. */
  #end: number | null = null

  /** bytes[from, to) begins with the record. With `raw`, its text follows the message once more. */
  constructor(
    { bytes, from, to }: { bytes: Uint8Array; from: number; to: number },
    { format, zone, raw }: { format: LineFormat; zone: Zone; raw: boolean },
  ) {
    this.#bytes = bytes
    this.#to = to
    this.#start = from
    this.#rawAt = raw ? from : null
    this.#format = format
    const end = lineEnd(bytes, from, to)
    const cut = end - from <= HEAD ? end : this.#cleanCut(from, from + HEAD)
    const {
      message,
      raw: text,
      unparsed,
      ...fields
    } = format.fields(decoder.decode(bytes.subarray(from, cut)), zone)
    this.#unparsed = cut < end || unparsed === true
    if (text === undefined && (cut === end || (!unparsed && isWhole(bytes, cut, message)))) {
      this.at = cut
      this.head = JSON.stringify({ ...fields, message }).slice(0, -2)
      return
    }
    const time = format.time(bytes, from, end, zone)
    const level = LEVELS[format.level(bytes, from, end)]
    this.at = from
    this.head = JSON.stringify({
      time: Number.isNaN(time) ? undefined : zone.format(time),
      level,
      message: '',
    }).slice(0, -2)
  }

  /** The next piece of the JSON. After the last one, `at` is where the next record begins. */
  next(): string {
    if (this.#end !== null) return this.#nextRaw(this.#rawAt!, this.#end)
    const from = this.at
    const { end, last } = this.#step(from)
    const text = stripAnsi(decoder.decode(this.#bytes.subarray(from, end))).replaceAll('\r\n', '\n')
    this.at = end
    if (!last) return quoted(text)
    if (this.#rawAt === null) return quoted(withoutReturn(text)) + this.#close(end)
    this.#end = end
    this.at = Math.max(this.#start, end - 1)
    return `${quoted(withoutReturn(text))}","raw":"`
  }

  #nextRaw(from: number, end: number): string {
    const to = from + STEP < end ? this.#cleanCut(from, from + STEP) : end
    const text = decoder.decode(this.#bytes.subarray(from, to))
    this.#rawAt = to
    return to < end ? quoted(text) : quoted(withoutReturn(text)) + this.#close(end)
  }

  #close(end: number): string {
    this.at = end + 1
    this.ended = true
    return `"${this.#unparsed ? ',"unparsed":true' : ''}}`
  }

  /** Where the step ends, and whether the record ends there. */
  #step(from: number): { end: number; last: boolean } {
    const to = Math.min(from + STEP, this.#to)
    const step = this.#bytes.subarray(from, to)
    // Searching for a line's end beyond the step would make the steps of a long line quadratic.
    for (let lf = step.indexOf(LF); lf >= 0; lf = step.indexOf(LF, lf + 1)) {
      if (this.#startsAt(from + lf + 1)) return { end: from + lf, last: true }
    }
    const last = to === this.#to
    return { end: last ? to : this.#cleanCut(from, to), last }
  }

  #startsAt(at: number): boolean {
    return at >= this.#to || this.#format.starts(this.#bytes, at, lineEnd(this.#bytes, at, this.#to))
  }

  /** A place before `to` that does not split a character, escape sequence or line end. */
  #cleanCut(from: number, to: number): number {
    const sequence = this.#bytes.subarray(to - 64, to).lastIndexOf(0x1b)
    const cut = sequence >= 0 ? to - 64 + sequence : characterStart(this.#bytes, to)
    const whole = this.#bytes[cut - 1] === CR ? cut - 1 : cut
    return whole > from ? whole : to
  }
}

/** Whether a message is what bytes[…, cut) ends with, so that the bytes after it continue it. */
function isWhole(bytes: Uint8Array, cut: number, message: string): boolean {
  const end = message.slice(-1000)
  if (end === '' || end.includes('\ufffd')) return false
  return stripAnsi(decoder.decode(bytes.subarray(Math.max(0, cut - HEAD), cut))).endsWith(end)
}

/** A part of a text as it stands in JSON, without the quotes. */
const quoted = (text: string) => JSON.stringify(text).slice(1, -1)

const withoutReturn = (text: string) => (text.endsWith('\r') ? text.slice(0, -1) : text)

/** The start of the character at `at`. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > at - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  return start
}
