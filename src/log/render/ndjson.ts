import type { LineFormat } from '../format/format.ts'
import { lineEnd } from '../format/lines.ts'
import type { Zone } from '../time.ts'
import { type LineWriter, RECORD_ROOM, RecordOut } from '../write/record.ts'
import { copyNormal, lineWriter, recordWriter } from '../write/write.ts'
import { LONG, LongRecord, MANY_LINES } from './long.ts'
import { type RecordOptions, toJson } from './record.ts'

export { type RecordOptions, toJson } from './record.ts'

const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

/** A line up to this length is written without searching for its end first. */
const SHORT = 8 * 1024
/** Longer lines are written by way of their fields. */
const LONG_LINE = 64 * 1024

/** Extra space in a buffer, so that for most logs it is never replaced by a larger one. */
export const ROOM = 6 * SHORT + RECORD_ROOM

/** Renders records as NDJSON: one JSON object per record, each ended by LF. */
export class NdjsonWriter {
  readonly #format: LineFormat
  readonly #zone: Zone
  readonly #options: RecordOptions
  readonly #record: RecordOut
  readonly #write: LineWriter | null
  /** Writes records of several lines, and coloured ones, from a copy without what JSON does not show. */
  readonly #writeWhole: LineWriter | null
  #copy = NOTHING
  #bytes: Uint8Array = NOTHING
  #at = 0
  #to = 0
  #out = NOTHING
  #written = 0
  /** Whether what is read is one record that is there only as context, which its first member says. */
  isContext = false
  /** A record that is written in steps, begun and not ended. */
  #long: LongRecord | null = null

  constructor(format: LineFormat, zone: Zone, options: RecordOptions = {}) {
    this.#format = format
    this.#zone = zone
    this.#options = options
    this.#record = new RecordOut(zone)
    this.#write = options.raw ? null : lineWriter(format)
    this.#writeWhole = options.raw ? null : recordWriter(format)
  }

  /** Sets the memory to write to, from `at` on. If it is too small, it is replaced by a larger one. */
  into(out: Uint8Array<ArrayBuffer>, at = 0): void {
    this.#out = out
    this.#written = at
    this.#record.into(out)
  }

  /** The memory that is written to. */
  get out(): Uint8Array<ArrayBuffer> {
    return this.#out
  }

  /** What was written since `into`. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#out.subarray(0, this.#written)
    this.into(NOTHING)
    return taken
  }

  /**
   * Takes whole records to write. bytes[from, to) begins at a record's start; a first line that starts none becomes a
   * separate record, with its raw text.
   */
  read(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    this.#record.from(bytes)
  }

  /** How much of what was read is not written yet. */
  get left(): number {
    return this.#to - this.#at
  }

  /** Where the next byte is written. */
  get written(): number {
    return this.#written
  }

  /**
   * Writes records until `count` bytes of them are through or `full` bytes are written, and the last one whole unless
   * it is a long one.
   */
  write(count: number, full: number): void {
    const to = this.#to
    const until = Math.min(to, this.#at + count)
    let at = this.#written
    let start = this.#at
    while (start < until && at < full) {
      if (this.#long) at = this.#goOn(this.#long, at)
      else {
        const begin = at
        at = this.#lines(start, at, { until, full })
        if (this.#at === start) at = this.#any(start, at)
        if (this.isContext) at = this.#mark(begin, at)
      }
      start = this.#at
    }
    this.#at = Math.min(start, to)
    this.#written = at
  }

  /**
   * Writes records of one line each, as long as the format can. Whether a line is a whole record shows only at the next
   * one: the last record is taken back if that continues it.
   */
  #lines(from: number, at: number, { until, full }: { until: number; full: number }): number {
    const bytes = this.#bytes
    const to = this.#to
    let next = from
    let last = from
    let lastAt = at
    let out = at
    while (this.#write && next < until && out < full) {
      const written = this.#line(next, out)
      if (written < 0) break
      last = next
      lastAt = out
      out = written
      next = this.#record.line.lf + 1
    }
    this.#at = next
    if (next === from || next >= to || this.#format.starts(bytes, next, lineEnd(bytes, next, to))) return out
    this.#at = last
    return this.#any(last, lastAt)
  }

  /** One line as a record; -1 if the format leaves it to its fields. */
  #line(start: number, at: number): number {
    const short = Math.min(start + SHORT, this.#to)
    const written = this.#lineIn(start, short, at)
    if (short === this.#to || (written >= 0 && this.#record.line.lf < short)) return written
    // It may have no end in there: then with all of it, and room for all of it.
    const end = lineEnd(this.#bytes, start, this.#to)
    if (end < short) return written
    return end - start > LONG_LINE ? -1 : this.#lineIn(start, end, at)
  }

  #lineIn(start: number, to: number, at: number): number {
    const record = this.#record
    this.#reserve(at, 6 * (to - start) + RECORD_ROOM)
    record.begin(at)
    if (!this.#write!(record, start, to)) return -1
    this.#out[record.at] = LF
    return record.at + 1
  }

  /** The record at `start` in whatever shape, with the lines that do not begin one. */
  #any(start: number, at: number): number {
    const bytes = this.#bytes
    const to = this.#to
    let end = lineEnd(bytes, start, to)
    let lines = 0
    while (end + 1 < to && lines <= MANY_LINES && end - start <= LONG) {
      const next = lineEnd(bytes, end + 1, to)
      if (this.#format.starts(bytes, end + 1, next)) break
      end = next
      lines++
    }
    if (lines > MANY_LINES || end - start > LONG) {
      const { raw = false } = this.#options
      this.#long = new LongRecord({ bytes, from: start, to }, { format: this.#format, zone: this.#zone, raw })
      this.#at = this.#long.at
      return this.#put(this.#long.head, at)
    }
    const whole = this.#whole(start, end, at)
    if (whole >= 0) {
      this.#at = end + 1
      return whole
    }
    const written = this.#put(
      toJson(this.#record.text(start, end), this.#format, this.#zone, this.#options),
      at,
    )
    this.#out[written] = LF
    this.#at = end + 1
    return written + 1
  }

  /** The record at bytes[start, end) by way of a copy; -1 if it is left to its fields. */
  #whole(start: number, end: number, at: number): number {
    const format = this.#format
    if (!this.#writeWhole || end - start > LONG_LINE) return -1
    const own = this.#bytes.subarray(start, end)
    const hasColours = own.includes(ESCAPE)
    if (hasColours ? this.#options.colours : !format.unwrap && !own.includes(LF)) return -1
    const text = format.unwrap?.(own, 0, own.length) ?? own
    if (this.#copy.length <= text.length) this.#copy = new Uint8Array(2 * text.length + 1)
    const length = copyNormal(text, 0, text.length, this.#copy)
    this.#reserve(at, 6 * text.length + RECORD_ROOM)
    if (length < 0) return -1
    // A sentinel: searches for the end of the line stop here.
    this.#copy[length] = LF
    if (!this.#record.inside(this.#copy, length, () => this.#wholeIn(length, at))) return -1
    // The time of a line in parts is that of its first one.
    const time = format.unwrap
      ? format.time(own, 0, lineEnd(own, 0, own.length), this.#zone)
      : this.#record.epoch
    if (time !== this.#record.epoch && !Number.isNaN(time)) return -1
    this.#out[this.#record.at] = LF
    return this.#record.at + 1
  }

  #wholeIn(length: number, at: number): boolean {
    const record = this.#record
    record.begin(at)
    const lf = lineEnd(this.#copy, 0, length)
    return (lf === length || record.below(lf, length)) && this.#writeWhole!(record, 0, lf)
  }

  /** Puts the mark of context into the record that begins at `begin`. */
  #mark(begin: number, at: number): number {
    this.#reserve(at, CONTEXT.length + 1)
    this.#out.copyWithin(begin + 1 + CONTEXT.length, begin + 1, at)
    this.#out.set(CONTEXT, begin + 1)
    return at + CONTEXT.length
  }

  /** One step of a long record. */
  #goOn(long: LongRecord, at: number): number {
    const end = this.#put(long.next(), at)
    this.#at = long.at
    if (!long.ended) return end
    this.#long = null
    this.#out[end] = LF
    return end + 1
  }

  #put(text: string, at: number): number {
    // No character takes more than three bytes for each of its units.
    this.#reserve(at, 3 * text.length + 1)
    return at + encoder.encodeInto(text, this.#out.subarray(at)).written
  }

  #reserve(at: number, count: number): void {
    if (at + count <= this.#out.length) return
    const larger = new Uint8Array(Math.max(this.#out.length * 2, at + count))
    larger.set(this.#out.subarray(0, at))
    this.#out = larger
    this.#record.into(larger)
  }
}

const LF = 0x0a
const ESCAPE = 0x1b
/** The first member of a record that does not match, but is next to one that does. */
export const CONTEXT = encoder.encode('"match":false,')
