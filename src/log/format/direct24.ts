import { LEVELS, levelAt } from '../level.ts'
import type { Zone } from '../time.ts'
import { jsonEnd } from './json-check.ts'
import { isExact, lines24 } from './lines24.ts'

/**
 * A 2.4 line of ASCII straight from bytes to JSON bytes, its context passed through as it is: no string, no object,
 * and four bytes at a time where none of them is special. What is not exactly such a line is left to the general
 * way, which says the same where both can.
 */
export interface DirectWriter {
  /** Takes the bytes of the records, and where they end. */
  from(bytes: Uint8Array, to: number): void
  /** Takes the room for the JSON, which is twice the bytes that are left and 256 more. */
  into(out: Uint8Array): void
  /** Whether a line that this writer may know begins at `at`: a quick look, true for nearly every record. */
  begins(at: number): boolean
  /** Writes the line at `start` as JSON at `at`; gives the offset after it, or -1. `end` is then where the line ends. */
  write(start: number, at: number): number
  /** Where the line that was written ends, without its newline. */
  end: number
}

/** Makes a writer of times in a zone. */
export function directWriter(zone: Zone): DirectWriter {
  return new Writer(zone)
}

class Writer implements DirectWriter {
  readonly #zone: Zone
  /** The minute of the lines so far, as four words. */
  readonly #minute = new Int32Array(4)
  readonly #sample = new Uint8Array(24)
  /** What all lines of the minute begin with, by level: the seconds are put into it. */
  #heads: Words[] = []
  #seconds = 0
  #bytes: Uint8Array = EMPTY
  #view = viewOf(EMPTY)
  #to = 0
  #out: Uint8Array = EMPTY
  #outView = viewOf(EMPTY)
  /** Where the last text stopped. */
  #stop = 0
  end = 0

  constructor(zone: Zone) {
    this.#zone = zone
  }

  from(bytes: Uint8Array, to: number): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#to = to
  }

  into(out: Uint8Array): void {
    this.#out = out
    this.#outView = viewOf(out)
  }

  begins(at: number): boolean {
    if (at + 24 > this.#to || this.#seconds === 0) return false
    const view = this.#view
    const minute = this.#minute
    if (
      view.getInt32(at, true) !== minute[0] ||
      view.getInt32(at + 4, true) !== minute[1] ||
      view.getInt32(at + 8, true) !== minute[2] ||
      view.getInt32(at + 12, true) !== minute[3]
    )
      return false
    const bytes = this.#bytes
    return (
      bytes[at + 23] === TAB &&
      bytes[at + 16] === 0x3a &&
      bytes[at + 19] === 0x2e &&
      isDigit(bytes[at + 17]!) &&
      bytes[at + 17]! <= 0x35 &&
      isDigit(bytes[at + 18]!) &&
      isDigit(bytes[at + 20]!) &&
      isDigit(bytes[at + 21]!) &&
      isDigit(bytes[at + 22]!)
    )
  }

  write(start: number, from: number): number {
    if (!this.begins(start) && !this.#enter(start)) return -1
    const bytes = this.#bytes
    const out = this.#out
    const outView = this.#outView
    const level = levelAt(bytes, start + 24, this.#to)
    if (level < 0) return -1
    let word = start + 24
    while ((bytes[word]! | 32) >= 0x61 && (bytes[word]! | 32) <= 0x7a) word++
    if (word >= this.#to || bytes[word] !== TAB) return -1
    const seconds = from + this.#seconds
    let at = putWords(this.#heads[level]!, outView, from)
    outView.setInt32(seconds, this.#view.getInt32(start + 16, true), true)
    outView.setInt32(seconds + 3, this.#view.getInt32(start + 19, true), true)
    at = this.#source(word + 1, at)
    if (at < 0) return -1
    let message = this.#stop + 1
    const tagsEnd = endOfTags(bytes, message, this.#to)
    if (tagsEnd > 0) {
      at = writeTags(bytes, message, tagsEnd, out, putWords(TAGS, outView, at))
      if (at < 0) return -1
      message = bytes[tagsEnd] === 0x20 ? tagsEnd + 1 : tagsEnd
    }
    return this.#message(message, putWords(MESSAGE, outView, at))
  }

  /** Works out what the times of a minute begin and end with. False for what no calendar has. */
  #enter(at: number): boolean {
    const bytes = this.#bytes
    if (!isExact(bytes, at, this.#to) || bytes[at + 17]! > 0x35) return false
    const sample = this.#sample
    sample.set(bytes.subarray(at, at + 16))
    sample.set(REST, 16)
    const epoch = lines24.time(sample, 0, 24, this.#zone)
    if (Number.isNaN(epoch) || this.#zone.offsetAt(epoch) % 60_000 !== 0) return false
    const iso = this.#zone.format(epoch)
    const prefix = `{"time":"${iso.slice(0, 16)}`
    this.#seconds = prefix.length
    this.#heads = LEVELS.map((name) =>
      words(`${prefix}:00.000${iso.slice(23)}","level":"${name}","source":{"file":"`),
    )
    for (let i = 0; i < 4; i++) this.#minute[i] = this.#view.getInt32(at + 4 * i, true)
    return true
  }

  /** `path/file.go:123`, up to a tab. */
  #source(from: number, start: number): number {
    const bytes = this.#bytes
    let at = this.#text(from, start)
    const to = this.#stop
    if (at < 0 || to >= this.#to || bytes[to] !== TAB) return -1
    let colon = to - 1
    while (colon > from && isDigit(bytes[colon]!)) colon--
    const digits = to - colon - 1
    if (colon <= from || bytes[colon] !== 0x3a || bytes[colon - 1] === 0x3a || bytes[from] === 0x20) return -1
    // A number in JSON has no leading zero.
    if (digits < 1 || digits > 9 || (digits > 1 && bytes[colon + 1] === 0x30)) return -1
    const out = this.#out
    // The number is written already, and is now put behind its name.
    at = putWords(LINE, this.#outView, at - digits - 1)
    for (let i = colon + 1; i < to; i++) out[at++] = bytes[i]!
    out[at++] = 0x7d
    return at
  }

  /** The message, the context if there is one, and the end of the object. */
  #message(from: number, start: number): number {
    const bytes = this.#bytes
    const out = this.#out
    let at = start
    for (let i = from; ; ) {
      at = this.#text(i, at)
      if (at < 0) return -1
      const stop = this.#stop
      if (stop >= this.#to || bytes[stop] === LF) {
        this.end = stop
        out[at++] = 0x22
        out[at++] = 0x7d
        return at
      }
      if (bytes[stop + 1] === 0x7b && stop + 1 < this.#to) return this.#context(stop + 1, at)
      out[at++] = 0x5c
      out[at++] = 0x74
      i = stop + 1
    }
  }

  #context(from: number, start: number): number {
    const end = jsonEnd(this.#bytes, from, this.#to)
    // Not ASCII, not JSON, or not the last thing in the line: only the general way can tell.
    if (end < 0 || (end < this.#to && this.#bytes[end] !== LF)) return -1
    let at = putWords(CONTEXT, this.#outView, start)
    const view = this.#view
    const outView = this.#outView
    const out = this.#out
    let i = from
    for (; i + 4 <= end; i += 4, at += 4) {
      const four = view.getInt32(i, true)
      // A tab between two values: there the last one decides what the context is.
      if (((four - 0x20202020) & HIGH) !== 0) return -1
      outView.setInt32(at, four, true)
    }
    for (; i < end; i++) {
      if (this.#bytes[i] === TAB) return -1
      out[at++] = this.#bytes[i]!
    }
    this.end = end
    out[at++] = 0x7d
    return at
  }

  /** Text as a JSON string's inside, up to a tab or a line's end; -1 for what is not ASCII, and for other controls. */
  #text(from: number, start: number): number {
    const bytes = this.#bytes
    const view = this.#view
    const out = this.#out
    const outView = this.#outView
    const to = this.#to
    let at = start
    let i = from
    while (i < to) {
      if (i + 4 <= to) {
        const four = view.getInt32(i, true)
        // The high bit of a byte is set by a control, a quote, a backslash, or what is not ASCII.
        const special =
          (four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101) | four
        if ((special & HIGH) === 0) {
          outView.setInt32(at, four, true)
          i += 4
          at += 4
          continue
        }
      }
      const byte = bytes[i]!
      if (byte < 0x20) {
        if (byte !== TAB && byte !== LF) return -1
        break
      }
      if (byte >= 0x80) return -1
      if (byte === 0x22 || byte === 0x5c) out[at++] = 0x5c
      out[at++] = byte
      i++
    }
    this.#stop = i
    return at
  }
}

/** A text as words of four bytes, the last one filled up: what comes next overwrites that. */
interface Words {
  words: Int32Array
  length: number
}

function words(text: string): Words {
  const padded = new Uint8Array((text.length + 3) & ~3)
  padded.set(new TextEncoder().encode(text))
  const view = viewOf(padded)
  return {
    words: Int32Array.from({ length: padded.length / 4 }, (_, i) => view.getInt32(i * 4, true)),
    length: text.length,
  }
}

function putWords({ words, length }: Words, out: DataView, at: number): number {
  for (let i = 0; i < words.length; i++) out.setInt32(at + 4 * i, words[i]!, true)
  return at + length
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const TAB = 0x09
const LF = 0x0a
const HIGH = 0x80808080 | 0
const EMPTY = new Uint8Array(0)
const REST = new TextEncoder().encode(':00.000\t')
const LINE = words('","line":')
const TAGS = words(',"tags":[')
const MESSAGE = words(',"message":"')
const CONTEXT = words('","context":')

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** The offset after the colon of `[Component] [Tag]:`, or -1 when there are no tags. */
function endOfTags(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  for (let count = 0; ; count++) {
    while (at < to && bytes[at] === 0x20) at++
    if (at < to && bytes[at] === 0x3a && count > 0) return at + 1
    if (at >= to || bytes[at] !== 0x5b) return -1
    while (at < to && bytes[at] !== 0x5d && bytes[at] !== LF) at++
    if (at >= to || bytes[at] === LF) return -1
    at++
  }
}

function writeTags(bytes: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  let at = start
  let first = true
  for (let open = from; open < to; open++) {
    if (bytes[open] !== 0x5b) continue
    let left = open + 1
    let close = left
    while (bytes[close] !== 0x5d) close++
    let right = close
    while (left < right && bytes[left] === 0x20) left++
    while (right > left && bytes[right - 1] === 0x20) right--
    open = close
    if (left === right) continue
    if (bytes[left]! <= 0x20 || bytes[right - 1]! <= 0x20) return -1
    if (!first) out[at++] = 0x2c
    first = false
    out[at++] = 0x22
    for (let i = left; i < right; i++) {
      const byte = bytes[i]!
      if (byte < 0x20 || byte >= 0x80) return -1
      if (byte === 0x22 || byte === 0x5c) out[at++] = 0x5c
      out[at++] = byte
    }
    out[at++] = 0x22
  }
  out[at++] = 0x5d
  return at
}
