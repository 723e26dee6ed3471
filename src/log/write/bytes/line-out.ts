import { bytesIn, wideBlank } from '../../format/read/words.ts'
import {
  type Copy,
  copyPlain,
  copyText,
  isAscii,
  putTemplate,
  type ScannedLine,
  scanLine,
  type Template,
  viewOf,
} from './words.ts'

const EMPTY = new Uint8Array(0)
/** How much is decoded at once. */
const WINDOW = 16 * 1024
/** Text that was decoded, and where it is. */
interface Decoded {
  text: string
  from: number
  to: number
  isAscii: boolean
}
/** What is decoded if it is not all ASCII: of other bytes only seven bits, which are a character, too. */
const shown = new Uint8Array(WINDOW)
const fours = new Int32Array(shown.buffer)
const NO_WINDOW: Decoded = { text: '', from: 0, to: 0, isAscii: true }
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** Copies parts of lines into JSON, without strings where it can. */
export class LineOut {
  bytes: Uint8Array = EMPTY
  out: Uint8Array = EMPTY
  /** Where the next byte is written. */
  at = 0
  /** The same memory as words. */
  copy: Copy = { view: viewOf(EMPTY), out: viewOf(EMPTY) }
  /** The line that is written; only a plain one can be copied. */
  readonly line: ScannedLine = { lf: 0, end: -1, equals: 0, wide: 0 }
  /** Where the line after a whole one begins, if lines wrap others. */
  whole = -1
  #window = NO_WINDOW
  /** Where the bytes end that may be read. */
  #end = 0
  /** The last bytes that `inside` was called with. */
  #inner: Uint8Array = EMPTY
  #innerView = viewOf(EMPTY)

  /** Sets the bytes of the lines. */
  from(bytes: Uint8Array): void {
    this.#use(bytes, bytes.length, viewOf(bytes))
    this.whole = -1
  }

  /** Calls `write` with other bytes, up to `end`, if a line was unescaped to there. */
  inside(bytes: Uint8Array, end: number, write: () => boolean): boolean {
    if (bytes === this.bytes) return write()
    const outer = this.bytes
    const outerEnd = this.#end
    const { copy } = this
    const window = this.#window
    if (bytes !== this.#inner) {
      this.#inner = bytes
      this.#innerView = viewOf(bytes)
    }
    this.#use(bytes, end, this.#innerView)
    const isWritten = write()
    this.bytes = outer
    this.#end = outerEnd
    this.copy = copy
    this.#window = window
    return isWritten
  }

  #use(bytes: Uint8Array, end: number, view: DataView): void {
    this.bytes = bytes
    this.#end = end
    this.copy = { view, out: this.copy.out }
    this.#window = NO_WINDOW
  }

  /** Sets the memory to write to. A line needs six times its length and `RECORD_ROOM`. */
  into(out: Uint8Array): void {
    if (out === this.out) return
    this.out = out
    this.copy = { view: this.copy.view, out: viewOf(out) }
  }

  /** Sets `line` to the line at `from`; returns where it ends, without its CR, or -1 if it is not plain. */
  scan(from: number, to: number): number {
    scanLine(this.copy.view, from, to, this.line)
    return this.line.end
  }

  /** The text of bytes[from, to). ASCII is cut from a window with a character for each byte: one call decodes many lines. */
  text(from: number, to: number): string {
    if (to - from > WINDOW) return decoder.decode(this.bytes.subarray(from, to))
    if (from < this.#window.from || to > this.#window.to) this.#window = this.#decoded(from, to)
    const window = this.#window
    return window.isAscii || isAscii(this.copy.view, from, to)
      ? window.text.slice(from - window.from, to - window.from)
      : decoder.decode(this.bytes.subarray(from, to))
  }

  #decoded(from: number, least: number): Decoded {
    const to = Math.max(least, Math.min(from + WINDOW, this.#end))
    const isPlain = isAscii(this.copy.view, from, to)
    let bytes = this.bytes.subarray(from, to)
    if (!isPlain) {
      shown.set(bytes)
      for (let i = 0; 4 * i < bytes.length; i++) fours[i]! &= 0x7f7f7f7f
      bytes = shown.subarray(0, bytes.length)
    }
    return { text: decoder.decode(bytes), from, to, isAscii: isPlain }
  }

  /** Where the first `count` units of `text` end, which is at bytes[from] of the line. */
  after(text: string, count: number, from: number): number {
    return from + count <= this.line.wide ? from + count : from + bytesIn(text, count)
  }

  /** Where what follows blanks at bytes[from] begins. */
  skipBlanks(from: number, to: number): number {
    let at = from
    while (at < to) {
      const byte = this.bytes[at]!
      const length = byte === 0x20 || byte === 0x09 ? 1 : byte < 0x80 ? 0 : wideBlank(this.bytes, at)
      if (length === 0) break
      at += length
    }
    return at
  }

  put(text: Template): void {
    this.at = putTemplate(text, this.copy.out, this.at)
  }

  /** bytes[from, to) as the inside of a JSON string. */
  escaped(from: number, to: number): void {
    const { bytes, out, copy } = this
    let { at } = this
    for (let i = from; ; i++) {
      const stop = copyPlain(copy, i, to, at)
      at += stop - i
      if (stop >= to) break
      const byte = bytes[stop]!
      out[at++] = 0x5c
      out[at++] = byte === 0x09 ? 0x74 : byte === 0x0a ? 0x6e : byte
      i = stop
    }
    this.at = at
  }

  /** The same up to a tab or the end of the line, which it returns; -1 if the text is not plain. */
  escapedTo(from: number, to: number): number {
    const { bytes, out, copy } = this
    let { at } = this
    for (let i = from; ; ) {
      const stop = copyPlain(copy, i, to, at)
      at += stop - i
      const byte = stop < to ? bytes[stop]! : 0x0a
      if (byte === 0x09 || byte === 0x0a) {
        this.at = at
        return stop
      }
      if (byte !== 0x22 && byte !== 0x5c) return -1
      out[at++] = 0x5c
      out[at++] = byte
      i = stop + 1
    }
  }

  /** The same for a text. */
  string(text: string): void {
    const { out } = this
    let { at } = this
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) {
        this.json(JSON.stringify(text).slice(1, -1))
        return
      }
      if (code === 0x22 || code === 0x5c || code === 0x09) out[at++] = 0x5c
      out[at++] = code === 0x09 ? 0x74 : code
    }
    this.at = at
  }

  /** bytes[from, to) as they are. */
  raw(from: number, to: number): void {
    copyText(this.copy, from, to, this.at)
    this.at += to - from
  }

  /** JSON as it is. */
  json(text: string): void {
    const { out, at } = this
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) {
        this.at = at + encoder.encodeInto(text, out.subarray(at)).written
        return
      }
      out[at + i] = code
    }
    this.at = at + text.length
  }
}
