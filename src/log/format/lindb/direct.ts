import type { Zone } from '../../time.ts'
import { LEVELS, levelAt } from '../read/level.ts'
import { isDigit } from '../read/stamp.ts'
import { jsonEnd } from './json-check.ts'
import { isExact, lindbLines } from './lindb.ts'
import {
  type Copy,
  copyAscii,
  copyName,
  copyPlain,
  lastDigits,
  putTemplate,
  type Template,
  template,
  viewOf,
} from './words.ts'

/**
 * Writes a LinDB line of ASCII directly as JSON bytes and copies its context unchanged: no strings, no objects, four or
 * eight bytes at a time. Any other line is left to the general writer, which gives the same result for lines that both
 * can handle.
 */
export interface DirectWriter {
  /** Sets the bytes of the records. */
  from(bytes: Uint8Array): void
  /** Sets the output buffer. A line needs twice its bytes plus `LINE_ROOM`. */
  into(out: Uint8Array): void
  /** Whether a line that this writer may handle begins at `at`: a quick check, true for nearly every record. */
  begins(at: number, to: number): boolean
  /**
   * Writes the line at `start` as JSON at `at`; returns the offset after it, or -1. Reads nothing from `to` on.
   */
  write(start: number, at: number, to: number): number
  /** Where the line that was written ends, without its newline. */
  end: number
}

/** What a line needs besides twice its length: names, quotes, the zone, and what is written over the end. */
export const LINE_ROOM = 256

/** Makes a writer of times in a zone. */
export function directWriter(zone: Zone): DirectWriter {
  return new Writer(zone)
}

class Writer implements DirectWriter {
  readonly #zone: Zone
  /** The minute of the lines so far, as four words. */
  readonly #minute = new Int32Array(4)
  readonly #sample = new Uint8Array(24)
  /** The common beginning of all lines of the minute, by level; the seconds are filled in. */
  #heads: Template[] = []
  #seconds = 0
  /** A line that `begins` accepted. */
  #begun = -1
  #bytes: Uint8Array = EMPTY
  #view = viewOf(EMPTY)
  #out: Uint8Array = EMPTY
  #outView = viewOf(EMPTY)
  /** Both views. */
  #copy: Copy = { view: this.#view, out: this.#outView }
  /** The first equals sign at or after the last message that was checked for one. */
  #equals = -1
  /** Where the source, or the tags, stopped. */
  #stop = 0
  end = 0

  constructor(zone: Zone) {
    this.#zone = zone
  }

  from(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#copy = { view: this.#view, out: this.#outView }
    this.#begun = -1
    this.#equals = -1
  }

  into(out: Uint8Array): void {
    this.#out = out
    this.#outView = viewOf(out)
    this.#copy = { view: this.#view, out: this.#outView }
  }

  begins(at: number, to: number): boolean {
    if (at + 24 > to || this.#seconds === 0) return false
    const view = this.#view
    const minute = this.#minute
    if (
      view.getInt32(at + 12, true) !== minute[3] ||
      view.getInt32(at + 8, true) !== minute[2] ||
      view.getInt32(at + 4, true) !== minute[1] ||
      view.getInt32(at, true) !== minute[0]
    )
      return false
    // `:ss.` and `mmm` TAB. A digit has 3 in its upper half, and still has it with 6 more; the tens of seconds with 10.
    const seconds = view.getInt32(at + 16, true)
    const millis = view.getInt32(at + 20, true)
    if (
      (seconds & 0xfff0f0ff) !== (0x2e30303a | 0) ||
      ((seconds + 0x00060a00) & 0xf0f000) !== 0x303000 ||
      (millis & 0xfff0f0f0) !== 0x09303030 ||
      ((millis + 0x060606) & 0xf0f0f0) !== 0x303030
    )
      return false
    this.#begun = at
    return true
  }

  write(start: number, from: number, to: number): number {
    if (start !== this.#begun && !this.begins(start, to) && !this.#enter(start, to)) return -1
    const bytes = this.#bytes
    const view = this.#view
    const outView = this.#outView
    let word = start + 28
    let level = -1
    if (word < to && bytes[word] === TAB) {
      const four = view.getInt32(start + 24, true) | 0x20202020
      if (four === INFO) level = 1
      else if (four === WARN) level = 2
    }
    if (level < 0) {
      level = levelAt(bytes, start + 24, to)
      if (level < 0) return -1
      word = start + 24
      while (word < to && (bytes[word]! | 32) >= 0x61 && (bytes[word]! | 32) <= 0x7a) word++
      if (word >= to || bytes[word] !== TAB) return -1
    }
    const head = this.#heads[level]!
    const { eights } = head
    for (let i = 0; i < eights.length; i++) outView.setFloat64(from + 8 * i, eights[i]!, true)
    const seconds = from + this.#seconds
    outView.setInt32(seconds, view.getInt32(start + 16, true), true)
    outView.setInt32(seconds + 3, view.getInt32(start + 19, true), true)

    let at = this.#source(word + 1, from + head.length, to)
    if (at < 0) return -1
    at = this.#tags(this.#stop + 1, at, to)
    if (at < 0) return -1

    return this.#message(this.#stop, at, to)
  }

  /** Works out how the times of a minute begin and end. False for an impossible date. */
  #enter(at: number, to: number): boolean {
    const bytes = this.#bytes
    if (!isExact(bytes, at, to) || bytes[at + 17]! > 0x35) return false
    const sample = this.#sample
    sample.set(bytes.subarray(at, at + 16))
    sample.set(REST, 16)
    const epoch = lindbLines.time(sample, 0, 24, this.#zone)
    if (Number.isNaN(epoch) || this.#zone.offsetAt(epoch) % 60_000 !== 0) return false
    const iso = this.#zone.format(epoch)
    const prefix = `{"time":"${iso.slice(0, 16)}`
    this.#seconds = prefix.length
    this.#heads = LEVELS.map((name) =>
      template(`${prefix}:00.000${iso.slice(23)}","level":"${name}","source":{"file":"`),
    )
    for (let i = 0; i < 4; i++) this.#minute[i] = this.#view.getInt32(at + 4 * i, true)
    return true
  }

  /** `path/file.go:123`, up to a tab. */
  #source(from: number, start: number, to: number): number {
    const bytes = this.#bytes
    const view = this.#view
    const outView = this.#outView
    let at = this.#text(from, start, to)
    const stop = this.#stop
    if (at < 0 || stop + 4 > to || bytes[stop] !== TAB) return -1
    let digits = lastDigits(view, stop)
    if (digits === 4) while (digits < stop - from - 1 && isDigit(bytes[stop - digits - 1]!)) digits++
    const colon = stop - digits - 1
    if (colon <= from || bytes[colon] !== 0x3a || bytes[colon - 1] === 0x3a || bytes[from] === 0x20) return -1
    // A number in JSON has no leading zero.
    if (digits < 1 || digits > 9 || (digits > 1 && bytes[colon + 1] === 0x30)) return -1
    // The number is already written and now goes after its name.
    at = putTemplate(LINE, outView, at - digits - 1)
    outView.setInt32(at, view.getInt32(colon + 1, true), true)
    if (digits > 4) {
      outView.setInt32(at + 4, view.getInt32(colon + 5, true), true)
      this.#out[at + 8] = bytes[colon + 9]!
    }
    return at + digits
  }

  /** The end of the source, the tags if there are any, and the beginning of the message. */
  #tags(from: number, start: number, to: number): number {
    const bytes = this.#bytes
    const out = this.#out
    const outView = this.#outView
    this.#stop = from
    if (from >= to || (bytes[from] !== 0x5b && bytes[from] !== 0x20))
      return putTemplate(MESSAGE, outView, start)
    let at = putTemplate(TAGS, outView, start)
    for (let i = from; i < to && bytes[i] === 0x5b; i++) {
      out[at++] = 0x22
      const name = i + 1
      i = copyName(this.#copy, name, to, at)
      // Anything but a plain name takes the slow path.
      if (i === name || i + 1 >= to || bytes[i] !== 0x5d || bytes[name] === 0x20 || bytes[i - 1] === 0x20)
        break
      at += i - name
      out[at++] = 0x22
      if (bytes[++i] === 0x3a) {
        i++
        this.#stop = i < to && bytes[i] === 0x20 ? i + 1 : i
        return putTemplate(MESSAGE_AFTER_TAGS, outView, at)
      }
      out[at++] = 0x2c
      if (bytes[i] !== 0x20) i--
    }
    return this.#anyTags(from, start, to)
  }

  #anyTags(from: number, start: number, to: number): number {
    const bytes = this.#bytes
    const end = endOfTags(bytes, from, to)
    if (end < 0) return putTemplate(MESSAGE, this.#outView, start)
    const at = writeTags(bytes.subarray(from, end), this.#out, putTemplate(TAGS, this.#outView, start))
    if (at < 0) return -1
    this.#stop = end < to && bytes[end] === 0x20 ? end + 1 : end
    return putTemplate(MESSAGE_AFTER_TAGS, this.#outView, at)
  }

  /** The message, the context if there is one, and the end of the object. */
  #message(from: number, start: number, to: number): number {
    const bytes = this.#bytes
    const out = this.#out
    let at = start
    for (let i = from; ; ) {
      at = this.#text(i, at, to)
      if (at < 0) return -1
      const stop = this.#stop
      if (this.#mayHavePair(i, stop)) return -1
      if (stop >= to || bytes[stop] === LF) {
        this.end = stop
        out[at++] = 0x22
        out[at++] = 0x7d
        return at
      }
      if (stop + 1 < to && bytes[stop + 1] === 0x7b) return this.#context(stop + 1, at, to)
      out[at++] = 0x5c
      out[at++] = 0x74
      i = stop + 1
    }
  }

  /** Whether a part of a message has an equals sign: a `key=value` in it is a field, for the general writer. */
  #mayHavePair(from: number, to: number): boolean {
    if (this.#equals < from) {
      const found = this.#bytes.indexOf(0x3d, from)
      this.#equals = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return this.#equals < to
  }

  #context(from: number, start: number, to: number): number {
    const end = jsonEnd(this.#view, from, to)
    // Not ASCII, not JSON, or not the last part of the line: leave it to the general writer.
    if (end < 0 || (end < to && this.#bytes[end] !== LF)) return -1
    const at = putTemplate(CONTEXT, this.#outView, start)
    copyAscii(this.#copy, from, end, at)
    this.end = end
    this.#out[at + end - from] = 0x7d
    return at + end - from + 1
  }

  /** Text as a JSON string's inside, up to a tab or a line's end; -1 for what is not ASCII, and for other controls. */
  #text(from: number, start: number, to: number): number {
    const bytes = this.#bytes
    const copy = this.#copy
    let at = start
    for (let i = from; ; ) {
      const stop = copyPlain(copy, i, to, at)
      at += stop - i
      const byte = stop < to ? bytes[stop]! : LF
      if (byte === TAB || byte === LF) {
        this.#stop = stop
        return at
      }
      if (byte !== 0x22 && byte !== 0x5c) return -1
      const out = this.#out
      out[at++] = 0x5c
      out[at++] = byte
      i = stop + 1
    }
  }
}

const TAB = 0x09
const LF = 0x0a
const INFO = 0x6f666e69
const WARN = 0x6e726177
const EMPTY = new Uint8Array(0)
const REST = new TextEncoder().encode(':00.000\t')
const LINE = template('","line":')
const TAGS = template('},"tags":[')
const MESSAGE = template('},"message":"')
const MESSAGE_AFTER_TAGS = template('],"message":"')
const CONTEXT = template('","context":')

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

/** The names, each as a JSON string, with commas between; -1 for what is not ASCII, and for controls. */
function writeTags(bytes: Uint8Array, out: Uint8Array, start: number): number {
  let at = start
  let first = true
  for (let open = 0; open < bytes.length; open++) {
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
  return at
}
