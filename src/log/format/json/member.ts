import { MAX_DEPTH, MAX_ELEMENTS, MAX_KEYS } from '../read/json-fit.ts'
import { stringEnd, wordOf } from '../read/words.ts'

/** Longer keys are skipped: none of the known keys is that long. */
const LONGEST_KEY = 200

/** Whether a member is the one searched for. */
export type IsWanted = (key: string, bytes: Uint8Array, from: number, to: number) => boolean

/** Where the value of the last key found is. */
export const value = { key: '', from: 0, to: 0 }

/**
 * Finds a key of the object itself, not of one inside it. Loggers write time and level first, so this reads about
 * fifty bytes of a line where JSON.parse would read all of it. It gives up where the object gets too deep or too wide to
 * be parsed at all.
 */
export function findKey(bytes: Uint8Array, from: number, to: number, isWanted: IsWanted): boolean {
  left = MAX_KEYS
  elements = MAX_ELEMENTS
  for (let at = from + 1; left-- > 0; ) {
    const start = readKey(bytes, at, to)
    const end = start < 0 ? -1 : valueEnd(bytes, start, to)
    if (end < 0) return false
    const { key } = read
    if (key !== null && isWanted(key, bytes, start, end)) {
      value.key = key
      value.from = start
      value.to = end
      return true
    }
    at = end
  }
  return false
}

/** The last key that was read; null if it is longer than any that is searched for. */
export const read: { key: string | null } = { key: null }

/** Reads the next key from bytes[from] on; returns where its value begins, or -1 if there is none. */
export function readKey(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at]! <= 0x20 || bytes[at] === 0x2c)) at++
  const end = at < to && bytes[at] === 0x22 ? stringEnd(bytes, at, to) : -1
  if (end < 0) return -1
  let start = end
  while (start < to && bytes[start]! <= 0x20) start++
  if (bytes[start] !== 0x3a) return -1
  start++
  while (start < to && bytes[start]! <= 0x20) start++
  read.key = end - at <= LONGEST_KEY ? wordOf(bytes, at + 1, end - 1) : null
  return start
}

/** Where the value at bytes[from] ends, counted by itself; -1 if it has no end, or is too deep or too wide. */
export function endOfValue(bytes: Uint8Array, from: number, to: number): number {
  left = MAX_KEYS
  elements = MAX_ELEMENTS
  return valueEnd(bytes, from, to)
}

/** Bytes as text, each a character. */
export function ascii(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i]!)
  return text
}

/** How many more keys and array elements a search may visit. */
let left = 0
let elements = 0

function valueEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0x22) return stringEnd(bytes, from, to)
  let depth = 0
  let isBlank = false
  for (let at = from; at < to; ) {
    const byte = bytes[at]!
    if (byte === 0x22) {
      at = stringEnd(bytes, at, to)
      if (at < 0) return -1
      continue
    }
    if (byte === 0x7b || byte === 0x5b) {
      if (++depth >= MAX_DEPTH) return -1
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return isBlank ? withoutBlanks(bytes, from, at) : at
      depth--
      if (depth === 0) return at + 1
    } else if (byte === 0x2c) {
      if (depth === 0) return isBlank ? withoutBlanks(bytes, from, at) : at
      if (--elements < 0) return -1
    } else if (byte === 0x3a && --left < 0) return -1
    isBlank = byte <= 0x20
    at++
  }
  return -1
}

/** Where a number or a word ends that blanks may follow: `1794708600 ,`. */
function withoutBlanks(bytes: Uint8Array, from: number, to: number): number {
  let end = to
  while (end > from && bytes[end - 1]! <= 0x20) end--
  return end
}
