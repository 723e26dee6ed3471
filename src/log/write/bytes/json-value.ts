import { MAX_KEYS } from '../../format/read/json-fit.ts'
import { digitsEnd, plainEnd } from './words.ts'

const DEEPEST = 100

/** How many keys the current value has so far. */
let keys = 0

/**
 * The offset after the JSON value at `at`, or -1 if this cannot decide: not valid, nested too deep,
 * with too many keys, or with a tab between two values. It creates no objects, and so takes a tenth of the time of
 * JSON.parse.
 */
export function jsonEnd(view: DataView, at: number, to: number): number {
  keys = 0
  return valueEnd(view, at, to, 0)
}

function valueEnd(view: DataView, at: number, to: number, depth: number): number {
  if (at >= to || depth > DEEPEST) return -1
  const byte = view.getUint8(at)
  if (byte === 0x22) return stringEnd(view, at, to)
  return byte === 0x7b || byte === 0x5b ? nestedEnd(view, at, to, depth) : scalarEnd(view, at, to)
}

/** An object or an array. */
function nestedEnd(view: DataView, from: number, to: number, depth: number): number {
  const isObject = view.getUint8(from) === 0x7b
  const closing = isObject ? 0x7d : 0x5d
  let at = space(view, from + 1, to)
  if (byteAt(view, at, to) === closing) return at + 1
  for (;;) {
    if (isObject) {
      if (byteAt(view, at, to) !== 0x22 || ++keys > MAX_KEYS) return -1
      at = space(view, stringEnd(view, at, to), to)
      if (byteAt(view, at, to) !== 0x3a) return -1
      at = space(view, at + 1, to)
    }
    at = space(view, valueEnd(view, at, to, depth + 1), to)
    const byte = byteAt(view, at, to)
    if (byte === closing) return at + 1
    if (byte !== 0x2c) return -1
    at = space(view, at + 1, to)
  }
}

/** The byte at `at`, 0 if there is none. */
function byteAt(view: DataView, at: number, to: number): number {
  return at >= 0 && at < to ? view.getUint8(at) : 0
}

/** A tab is not accepted here: a context begins after the last tab. */
function space(view: DataView, from: number, to: number): number {
  let at = from
  while (byteAt(view, at, to) === 0x20) at++
  return at
}

function stringEnd(view: DataView, from: number, to: number): number {
  for (let at = from + 1; ; at++) {
    at = plainEnd(view, at, to)
    const byte = byteAt(view, at, to)
    if (byte === 0x22) return at + 1
    if (byte !== 0x5c) return -1
    const escaped = byteAt(view, ++at, to)
    if (!ESCAPES.includes(escaped)) return -1
    if (escaped !== 0x75) continue
    for (let end = at + 4; at < end; at++) if (!isHex(byteAt(view, at + 1, to))) return -1
  }
}

const ESCAPES = new TextEncoder().encode('"\\/bfnrtu')

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 32) >= 0x61 && (byte | 32) <= 0x66)
}

const TRUE = 0x65757274
const NULL = 0x6c6c756e
const ALSE = 0x65736c61

/** A number, true, false or null. */
function scalarEnd(view: DataView, from: number, to: number): number {
  const byte = view.getUint8(from)
  if (byte > 0x39) {
    if (from + 4 > to) return -1
    const four = view.getInt32(from, true)
    if (four === TRUE || four === NULL) return from + 4
    return byte === 0x66 && from + 5 <= to && view.getInt32(from + 1, true) === ALSE ? from + 5 : -1
  }
  const first = byte === 0x2d ? from + 1 : from
  let at = digitsEnd(view, first, to)
  if (at === first || (view.getUint8(first) === 0x30 && at > first + 1)) return -1
  if (byteAt(view, at, to) === 0x2e) {
    const decimals = digitsEnd(view, at + 1, to)
    if (decimals === at + 1) return -1
    at = decimals
  }
  if ((byteAt(view, at, to) | 32) !== 0x65) return at
  const sign = byteAt(view, at + 1, to)
  const signed = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1
  const exponent = digitsEnd(view, signed, to)
  return exponent === signed ? -1 : exponent
}

/** How many keys of one object are compared with each other, and how many objects are in each other. */
const MOST_KEYS = 16
const MOST_OBJECTS = 8
/** Where the keys of the objects that are read begin, one row for each depth, and where they end. */
const starts = new Int32Array(MOST_KEYS * MOST_OBJECTS)
const ends = new Int32Array(MOST_KEYS * MOST_OBJECTS)

/**
 * The offset after the JSON value at `at`, if it is written as JSON.stringify writes what JSON.parse reads: without
 * blanks, with its escapes and numbers, and with keys that keep their order. Else, or if that is not sure, -1.
 */
export function canonicalEnd(view: DataView, at: number, to: number, depth = 0): number {
  if (at >= to || depth === MOST_OBJECTS) return -1
  const byte = view.getUint8(at)
  if (byte === 0x22) return canonicalString(view, at, to)
  if (byte === 0x7b) return canonicalObject(view, at, to, depth)
  if (byte === 0x5b) return canonicalArray(view, at, to, depth)
  return byte > 0x39 ? scalarEnd(view, at, to) : canonicalNumber(view, at, to)
}

function canonicalObject(view: DataView, from: number, to: number, depth: number): number {
  const row = depth * MOST_KEYS
  let at = from + 1
  if (byteAt(view, at, to) === 0x7d) return at + 1
  for (let count = 0; count < MOST_KEYS; count++) {
    const end = byteAt(view, at, to) === 0x22 ? canonicalString(view, at, to) : -1
    if (end < 0 || byteAt(view, end, to) !== 0x3a) return -1
    const first = view.getUint8(at + 1)
    // JavaScript moves integer keys to the front, and `__proto__` may not become a property.
    if ((first >= 0x30 && first <= 0x39) || first === 0x5f) return -1
    for (let i = row; i < row + count; i++)
      if (ends[i]! - starts[i]! === end - at && isSame(view, starts[i]!, at, end)) return -1
    starts[row + count] = at
    ends[row + count] = end
    at = canonicalEnd(view, end + 1, to, depth + 1)
    const byte = byteAt(view, at, to)
    if (byte === 0x7d) return at + 1
    if (byte !== 0x2c) return -1
    at++
  }
  return -1
}

function canonicalArray(view: DataView, from: number, to: number, depth: number): number {
  let at = from + 1
  if (byteAt(view, at, to) === 0x5d) return at + 1
  for (;;) {
    at = canonicalEnd(view, at, to, depth + 1)
    const byte = byteAt(view, at, to)
    if (byte === 0x5d) return at + 1
    if (byte !== 0x2c) return -1
    at++
  }
}

function canonicalString(view: DataView, from: number, to: number): number {
  for (let at = from + 1; ; at += 2) {
    at = plainEnd(view, at, to)
    const byte = byteAt(view, at, to)
    if (byte === 0x22) return at + 1
    if (byte !== 0x5c || CANONICAL[byteAt(view, at + 1, to)] !== 1) return -1
  }
}

/** Numbers that JSON.parse reads exactly: up to 15 digits, without trailing zeros or an exponent. */
function canonicalNumber(view: DataView, from: number, to: number): number {
  const first = view.getUint8(from) === 0x2d ? from + 1 : from
  const whole = digitsEnd(view, first, to)
  const isZero = byteAt(view, first, to) === 0x30
  if (whole === first || (isZero && whole > first + 1)) return -1
  let end = whole
  if (byteAt(view, whole, to) === 0x2e) {
    end = digitsEnd(view, whole + 1, to)
    // 0.0000001 is written as 1e-7.
    if (isZero && byteAt(view, whole + 1, to) === 0x30) return -1
    if (end === whole + 1 || view.getUint8(end - 1) === 0x30) return -1
  } else if (isZero && first > from) return -1
  const next = byteAt(view, end, to) | 32
  return end - first > 15 || next === 0x65 || next === 0x2e ? -1 : end
}

/** Whether the bytes at `other` are those of [from, to). */
function isSame(view: DataView, other: number, from: number, to: number): boolean {
  let at = from
  while (at < to && view.getUint8(at) === view.getUint8(other + at - from)) at++
  return at === to
}

/** What follows a backslash in the escapes that JSON.stringify writes, apart from `\\u`. */
export const CANONICAL = new Uint8Array(256)
for (const char of '"\\bfnrt') CANONICAL[char.charCodeAt(0)] = 1
