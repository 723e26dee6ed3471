import { LEVELS, levelAt } from '../level.ts'
import type { Zone } from '../time.ts'
import { jsonEnd } from './json-check.ts'
import { isExact, lines24 } from './lines24.ts'

/** Writes a record as JSON into `out` at `at`, which has room for six times the record and 256 more. */
export type DirectWriter = (
  bytes: Uint8Array,
  from: number,
  to: number,
  out: Uint8Array,
  at: number,
) => number

/**
 * A 2.4 line of ASCII straight from bytes to JSON bytes, its context passed through as it is: no string, no object.
 * The writer gives the offset after what it wrote, or -1 for what is not exactly such a line: the general way then
 * decides, and says the same where both can.
 */
export function directWriter(zone: Zone): DirectWriter {
  const minute = new Uint8Array(16)
  let prefix = new Uint8Array(0)
  let suffix = new Uint8Array(0)
  const sample = new Uint8Array(24)

  /** Works out what the times of a minute begin and end with. False for what no calendar has. */
  const enter = (bytes: Uint8Array, from: number): boolean => {
    sample.set(bytes.subarray(from, from + 16))
    sample.set(REST, 16)
    const epoch = lines24.time(sample, 0, 24, zone)
    if (Number.isNaN(epoch) || zone.offsetAt(epoch) % 60_000 !== 0) return false
    const iso = zone.format(epoch)
    prefix = encoder.encode(`{"time":"${iso.slice(0, 16)}`)
    suffix = encoder.encode(`${iso.slice(23)}","level":"`)
    minute.set(sample.subarray(0, 16))
    return true
  }

  return (bytes, from, to, out, start) => {
    if (!isExact(bytes, from, to) || bytes[from + 17]! > 0x35) return -1
    for (let i = 15; i >= 0; i--)
      if (bytes[from + i] !== minute[i]) {
        if (!enter(bytes, from)) return -1
        break
      }
    const level = levelAt(bytes, from + 24, to)
    const levelEnd = tab(bytes, from + 24, to)
    if (level < 0 || levelEnd < 0 || !isWordTo(bytes, from + 24, levelEnd)) return -1
    let at = copy(prefix, 0, prefix.length, out, start)
    at = copy(bytes, from + 16, from + 23, out, at)
    at = copy(suffix, 0, suffix.length, out, at)
    at = copy(NAMES[level]!, 0, NAMES[level]!.length, out, at)
    const sourceEnd = tab(bytes, levelEnd + 1, to)
    if (sourceEnd < 0) return -1
    at = writeSource(bytes, levelEnd + 1, sourceEnd, out, at)
    if (at < 0) return -1
    let message = sourceEnd + 1
    const tagsEnd = endOfTags(bytes, message, to)
    if (tagsEnd > 0) {
      at = writeTags(bytes, message, tagsEnd, out, at)
      if (at < 0) return -1
      message = bytes[tagsEnd] === 0x20 ? tagsEnd + 1 : tagsEnd
    }
    const context = contextStart(bytes, message, to)
    const whole = context >= 0 && jsonEnd(bytes, context, to) === to
    // Not ASCII, or not JSON: only the general way can tell.
    if (context >= 0 && !whole) return -1
    at = copy(MESSAGE, 0, MESSAGE.length, out, at)
    at = writeText(bytes, message, whole ? context - 1 : to, out, at)
    if (at < 0) return -1
    if (whole) {
      at = copy(CONTEXT, 0, CONTEXT.length, out, at)
      at = copy(bytes, context, to, out, at)
    }
    out[at++] = 0x7d
    return at
  }
}

const encoder = new TextEncoder()
const REST = encoder.encode(':00.000\t')
const SOURCE = encoder.encode('","source":{"file":"')
const LINE = encoder.encode(',"line":')
const TAGS = encoder.encode(',"tags":[')
const MESSAGE = encoder.encode(',"message":"')
const CONTEXT = encoder.encode(',"context":')
const NAMES = LEVELS.map((name) => encoder.encode(name))

/** A loop: below a hundred bytes it beats `set` and `subarray` by far. */
function copy(source: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  if (to - from > 200) {
    out.set(source.subarray(from, to), start)
    return start + to - from
  }
  let at = start
  for (let i = from; i < to; i++) out[at++] = source[i]!
  return at
}

function tab(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) if (bytes[at] === 0x09) return at
  return -1
}

function isWordTo(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at]! | 32) < 0x61 || (bytes[at]! | 32) > 0x7a) return false
  return true
}

/** Text as a JSON string's inside and its closing quote; -1 for what is not ASCII, and for escapes to be stripped. */
function writeText(bytes: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  let at = start
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if (byte < 0x20) {
      if (byte !== 0x09) return -1
      out[at++] = 0x5c
      out[at++] = 0x74
    } else if (byte >= 0x80) return -1
    else {
      if (byte === 0x22 || byte === 0x5c) out[at++] = 0x5c
      out[at++] = byte
    }
  }
  out[at++] = 0x22
  return at
}

function writeSource(bytes: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  let colon = to - 1
  while (colon > from && bytes[colon]! >= 0x30 && bytes[colon]! <= 0x39) colon--
  const digits = to - colon - 1
  if (colon <= from || bytes[colon] !== 0x3a || bytes[colon - 1] === 0x3a || bytes[from] === 0x20) return -1
  // A number in JSON has no leading zero.
  if (digits < 1 || digits > 9 || (digits > 1 && bytes[colon + 1] === 0x30)) return -1
  let at = copy(SOURCE, 0, SOURCE.length, out, start)
  at = writeText(bytes, from, colon, out, at)
  if (at < 0) return -1
  at = copy(LINE, 0, LINE.length, out, at)
  at = copy(bytes, colon + 1, to, out, at)
  out[at++] = 0x7d
  return at
}

/** The offset after the colon of `[Component] [Tag]:`, or -1 when there are no tags. */
function endOfTags(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  for (let count = 0; ; count++) {
    while (at < to && bytes[at] === 0x20) at++
    if (at < to && bytes[at] === 0x3a && count > 0) return at + 1
    if (at >= to || bytes[at] !== 0x5b) return -1
    while (at < to && bytes[at] !== 0x5d) at++
    if (at >= to) return -1
    at++
  }
}

function writeTags(bytes: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  let at = copy(TAGS, 0, TAGS.length, out, start)
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
    at = writeText(bytes, left, right, out, at)
    if (at < 0) return -1
  }
  out[at++] = 0x5d
  return at
}

/** The offset of the brace that follows the last tab before one, when the line ends in a brace; else -1. */
function contextStart(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[to - 1] !== 0x7d) return -1
  for (let at = to - 2; at >= from; at--) if (bytes[at] === 0x09 && bytes[at + 1] === 0x7b) return at + 1
  return -1
}
