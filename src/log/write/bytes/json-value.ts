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
