import { type DirectWriter, directWriter, LINE_ROOM } from '../format/direct24.ts'
import { type LineFormat, type RecordFields, stripAnsi } from '../format/format.ts'
import { lines24 } from '../format/lines24.ts'
import type { Zone } from '../time.ts'
import { colouredMessage } from './colour.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

/** A line up to this length is written without a look for its end first. */
const SHORT = 16 * 1024

/** So much room for more than was asked for makes it sure that a buffer is not replaced by a larger one for most logs. */
export const ROOM = 2 * SHORT + LINE_ROOM

/** Renders records as NDJSON: one JSON object per record, each ended by LF. */
export class NdjsonWriter {
  readonly #format: LineFormat
  readonly #zone: Zone
  readonly #colours: boolean
  readonly #direct: DirectWriter | null
  #bytes: Uint8Array = NOTHING
  #at = 0
  #to = 0
  #out = NOTHING
  #written = 0

  constructor(format: LineFormat, zone: Zone, colours = false) {
    this.#format = format
    this.#zone = zone
    this.#colours = colours
    this.#direct = format === lines24 ? directWriter(zone) : null
  }

  /** Takes memory to write to. Where it does not suffice, it is replaced by more. */
  into(out: Uint8Array<ArrayBuffer>): void {
    this.#out = out
    this.#written = 0
    this.#direct?.into(out)
  }

  /** What was written since `into`. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#out.subarray(0, this.#written)
    this.into(NOTHING)
    return taken
  }

  /**
   * Takes whole records to write. bytes[from, to) begins at a record's start; a first line that is none becomes a
   * record of its own, with its raw text.
   */
  read(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    this.#direct?.from(bytes)
  }

  /** How much of what was read is not written yet. */
  get left(): number {
    return this.#to - this.#at
  }

  /** How much was written since `into`. */
  get written(): number {
    return this.#written
  }

  /** Writes records until `count` bytes of them are through or `full` bytes are written, and the last one whole. */
  write(count: number, full: number): void {
    const direct = this.#direct
    const format = this.#format
    const bytes = this.#bytes
    const to = this.#to
    const until = Math.min(to, this.#at + count)
    let at = this.#written
    let start = this.#at
    while (start < until && at < full) {
      let written = direct ? this.#line(direct, start, at) : -1
      let end = written < 0 ? endOfLine(bytes, start, to) : direct!.end
      // Lines that begin no record belong to this one, which is then not written directly.
      while (end + 1 < to && !direct?.begins(end + 1, to)) {
        const next = endOfLine(bytes, end + 1, to)
        if (format.starts(bytes, end + 1, next)) break
        written = -1
        end = next
      }
      if (written < 0) written = this.#any(start, end, at)
      this.#out[written] = LF
      at = written + 1
      start = end + 1
    }
    this.#at = Math.min(start, to)
    this.#written = at
  }

  /** The line at `start` by the direct writer, if that can. */
  #line(direct: DirectWriter, start: number, at: number): number {
    const short = start + SHORT
    if (short >= this.#to) {
      this.#reserve(at, (this.#to - start) * 2 + LINE_ROOM)
      return direct.write(start, at, this.#to)
    }
    this.#reserve(at, ROOM)
    const written = direct.write(start, at, short)
    if (written >= 0 && direct.end < short) return written
    // It may have no end in there: then with all of it, and room for all of it.
    const end = endOfLine(this.#bytes, start, this.#to)
    if (end < short) return written
    this.#reserve(at, (end - start) * 2 + LINE_ROOM)
    return direct.write(start, at, end)
  }

  /** A record in whatever shape. */
  #any(start: number, end: number, at: number): number {
    const text = decoder.decode(this.#bytes.subarray(start, end))
    const json = encoder.encode(toJson(text, this.#format, this.#zone, this.#colours))
    this.#reserve(at, json.length + 1)
    this.#out.set(json, at)
    return at + json.length
  }

  #reserve(at: number, count: number): void {
    if (at + count <= this.#out.length) return
    const larger = new Uint8Array(Math.max(this.#out.length * 2, at + count))
    larger.set(this.#out.subarray(0, at))
    this.#out = larger
    this.#direct?.into(larger)
  }
}

/**
 * One record's text, with its continuation lines, as JSON text without a line end. With `colours`, a message that has
 * any comes a second time as `ansi`, colour escapes left in.
 */
export function toJson(text: string, format: LineFormat, zone: Zone, colours = false): string {
  const { time, level, source, tags, message, context, raw } = format.fields(text, zone)
  // The order of keys is the same for every format; what is undefined is left out.
  const fields = { time, level, source, tags, message, context, raw } satisfies Nullable<RecordFields>
  const ansi =
    colours && message !== undefined && text.includes('\x1b')
      ? colouredMessage(text, message, stripAnsi)
      : null
  return JSON.stringify(ansi === null ? fields : { ...fields, ansi })
}

type Nullable<T> = { [K in keyof T]: T[K] | undefined }

const LF = 0x0a

function endOfLine(bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.indexOf(LF, from)
  return lf < 0 || lf > to ? to : lf
}
