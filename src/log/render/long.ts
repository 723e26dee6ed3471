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
  /** Where the rest of it begins. */
  at: number
  /** Whether the last piece ended it. */
  ended = false
  /** The JSON up to the middle of the message. */
  readonly head: string
  readonly #unparsed: boolean
  readonly #format: LineFormat
  readonly #bytes: Uint8Array
  readonly #to: number

  /** bytes[from, to) begins with the record. */
  constructor(
    { bytes, from, to }: { bytes: Uint8Array; from: number; to: number },
    format: LineFormat,
    zone: Zone,
  ) {
    this.#bytes = bytes
    this.#to = to
    this.#format = format
    const end = lineEnd(bytes, from, to)
    const cut = end - from <= HEAD ? end : this.#cleanCut(from, from + HEAD)
    const { message, raw, unparsed, ...fields } = format.fields(
      decoder.decode(bytes.subarray(from, cut)),
      zone,
    )
    this.#unparsed = cut < end || unparsed === true
    if (raw === undefined && (cut === end || (!unparsed && isWhole(bytes, cut, message)))) {
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
    const from = this.at
    const end = this.#stepEnd(from)
    const last = this.ended
    const text = stripAnsi(decoder.decode(this.#bytes.subarray(from, end))).replaceAll('\r\n', '\n')
    this.at = last ? end + 1 : end
    const inside = JSON.stringify(last && text.endsWith('\r') ? text.slice(0, -1) : text).slice(1, -1)
    return last ? `${inside}"${this.#unparsed ? ',"unparsed":true' : ''}}` : inside
  }

  /** Where the step ends; `ended` says whether the record ends there. */
  #stepEnd(from: number): number {
    const to = Math.min(from + STEP, this.#to)
    const step = this.#bytes.subarray(from, to)
    // Searching for a line's end beyond the step would make the steps of a long line quadratic.
    for (let lf = step.indexOf(LF); lf >= 0; lf = step.indexOf(LF, lf + 1)) {
      this.ended = this.#startsAt(from + lf + 1)
      if (this.ended) return from + lf
    }
    this.ended = to === this.#to
    return this.ended ? to : this.#cleanCut(from, to)
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

/** The start of the character at `at`. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > at - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  return start
}
