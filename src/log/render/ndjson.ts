import { type LineFormat, type RecordFields, stripAnsi } from '../format/format.ts'
import { type DirectWriter, directWriter, LINE_ROOM } from '../format/lindb/direct.ts'
import { lindbLines } from '../format/lindb/lindb.ts'
import type { Zone } from '../time.ts'
import { colouredMessage } from './colour.ts'
import { LONG, LongRecord, MANY_LINES } from './long.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

/** A line up to this length is written without searching for its end first. */
const SHORT = 16 * 1024

/** How much is decoded at once. */
const WINDOW = 16 * 1024

/** Extra space in a buffer, so that for most logs it is never replaced by a larger one. */
export const ROOM = 2 * SHORT + LINE_ROOM

/** What records contain besides their fields. */
export interface RecordOptions {
  /** A message that has colours is repeated with them, as `ansi`. @default false */
  colours?: boolean
  /** The text of the record, as `raw`. @default false */
  raw?: boolean
}

/** Renders records as NDJSON: one JSON object per record, each ended by LF. */
export class NdjsonWriter {
  readonly #format: LineFormat
  readonly #zone: Zone
  readonly #options: RecordOptions
  readonly #direct: DirectWriter | null
  #bytes: Uint8Array = NOTHING
  #at = 0
  #to = 0
  #out = NOTHING
  #written = 0
  #window = ''
  #windowFrom = 0
  #windowTo = 0
  /** A record that is written in steps, begun and not ended. */
  #long: LongRecord | null = null

  constructor(format: LineFormat, zone: Zone, options: RecordOptions = {}) {
    this.#format = format
    this.#zone = zone
    this.#options = options
    this.#direct = format === lindbLines && !options.raw ? directWriter(zone) : null
  }

  /** Sets the memory to write to. If it is too small, it is replaced by a larger one. */
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
   * Takes whole records to write. bytes[from, to) begins at a record's start; a first line that starts none becomes a
   * separate record, with its raw text.
   */
  read(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    this.#windowTo = 0
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

  /**
   * Writes records until `count` bytes of them are through or `full` bytes are written, and the last one whole unless
   * it is a long one.
   */
  write(count: number, full: number): void {
    const direct = this.#direct
    const { raw = false } = this.#options
    const format = this.#format
    const bytes = this.#bytes
    const to = this.#to
    const until = Math.min(to, this.#at + count)
    let at = this.#written
    let start = this.#at
    while (start < until && at < full) {
      if (this.#long) {
        at = this.#goOn(this.#long, at)
        start = this.#at
        continue
      }
      let written = direct ? this.#line(direct, start, at) : -1
      let end = written < 0 ? endOfLine(bytes, start, to) : direct!.end
      // Lines that do not begin a record belong to this one, which is then not written directly.
      let lines = 0
      while (end + 1 < to && !direct?.begins(end + 1, to)) {
        if (lines > MANY_LINES || (written < 0 && end - start > LONG)) break
        const next = endOfLine(bytes, end + 1, to)
        if (format.starts(bytes, end + 1, next)) break
        written = -1
        end = next
        lines++
      }
      if (written < 0 && (lines > MANY_LINES || end - start > LONG)) {
        this.#long = new LongRecord({ bytes, from: start, to }, { format, zone: this.#zone, raw })
        at = this.#put(this.#long.head, at)
        start = this.#long.at
        continue
      }
      if (written < 0) written = this.#any(start, end, at)
      this.#out[written] = LF
      at = written + 1
      start = end + 1
    }
    this.#at = Math.min(start, to)
    this.#written = at
  }

  /** The line at `start` by the direct writer, if it can handle it. */
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
    return this.#put(toJson(this.#text(start, end), this.#format, this.#zone, this.#options), at)
  }

  /** The text of a record, from a window in which each byte is a character: one call decodes many records. */
  #text(start: number, end: number): string {
    if (start < this.#windowFrom || end > this.#windowTo) {
      this.#windowFrom = start
      this.#windowTo = Math.max(end, Math.min(start + WINDOW, this.#to))
      this.#window = decoder.decode(this.#bytes.subarray(start, this.#windowTo))
    }
    const isEven = this.#window.length === this.#windowTo - this.#windowFrom
    return isEven
      ? this.#window.slice(start - this.#windowFrom, end - this.#windowFrom)
      : decoder.decode(this.#bytes.subarray(start, end))
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
    this.#direct?.into(larger)
  }
}

/**
 * One record's text, with its continuation lines, as JSON text without a line end. A record that fails to render is returned as its text, so
 * that one bad line never costs a client the lines around it.
 */
export function toJson(text: string, format: LineFormat, zone: Zone, options: RecordOptions = {}): string {
  if (text.length > LONG) return longJson(text, format, zone, options)
  try {
    return recordJson(format.fields(text, zone), text, options)
  } catch {
    return JSON.stringify({ message: stripAnsi(text.replace(/\r?\n?$/, '')), unparsed: true })
  }
}

function longJson(text: string, format: LineFormat, zone: Zone, { raw = false }: RecordOptions): string {
  const bytes = encoder.encode(text.endsWith('\n') ? text.slice(0, -1) : text)
  const record = new LongRecord({ bytes, from: 0, to: bytes.length }, { format, zone, raw })
  let json = record.head
  do json += record.next()
  while (!record.ended)
  return json
}

const withoutLineEnd = (text: string) => text.replace(/\r?\n?$/, '')

function recordJson(record: RecordFields, text: string, { colours, raw: whole }: RecordOptions): string {
  const { time, level, source, tags, message, context, unparsed } = record
  const raw = whole ? withoutLineEnd(text) : record.raw
  const ansi =
    colours && message !== undefined && text.includes('\x1b')
      ? colouredMessage(text, message, stripAnsi)
      : null
  // The order of keys is the same for every format. One call for each member takes half as long as one for all.
  let json = time === undefined ? '' : `,"time":"${time}"`
  if (level !== undefined) json += `,"level":${JSON.stringify(level)}`
  if (source !== undefined) json += `,"source":${JSON.stringify(source)}`
  if (tags !== undefined) json += `,"tags":${JSON.stringify(tags)}`
  if (message !== undefined) json += `,"message":${JSON.stringify(message)}`
  if (context !== undefined) json += `,"context":${JSON.stringify(context)}`
  if (raw !== undefined) json += `,"raw":${JSON.stringify(raw)}`
  if (unparsed) json += ',"unparsed":true'
  if (ansi !== null) json += `,"ansi":${JSON.stringify(ansi)}`
  return `{${json.slice(1)}}`
}

const LF = 0x0a

function endOfLine(bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.indexOf(LF, from)
  return lf < 0 || lf > to ? to : lf
}
