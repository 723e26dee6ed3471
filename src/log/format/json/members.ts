import { decode, type Visit } from '../format.ts'
import { MAX_DEPTH, MAX_KEYS } from '../read/json-fit.ts'
import { ascii, endOfValue, read, readKey } from './member.ts'

/** Members with a longer path are not told apart: thousands of keys could each have a long way down to them. */
export const LONGEST_PATH = 300

/**
 * Visits the members of the JSON object in bytes[from, to), and of those inside it, by their path with dots; at most
 * `MAX_KEYS` of them, in one pass over the bytes.
 */
export function visitJson(bytes: Uint8Array, from: number, to: number, visit: Visit): boolean {
  const outer: string[] = []
  let prefix = ''
  let at = from + 1
  for (let left = MAX_KEYS; left > 0; ) {
    while (at < to && (bytes[at]! <= 0x20 || bytes[at] === 0x2c)) at++
    if (at < to && bytes[at] === 0x7d && outer.length > 0) {
      prefix = outer.pop()!
      at++
      continue
    }
    const start = readKey(bytes, at, to)
    if (start < 0) return false
    left--
    const path = read.key === null ? null : prefix + readable(read.key)
    const isKnown = path !== null && path.length <= LONGEST_PATH
    const isObject = isKnown && bytes[start] === 0x7b && outer.length < MAX_DEPTH
    // An object that is whole has none inside that is not.
    if (isObject && (outer.length > 0 || endOfValue(bytes, start, to) >= 0)) {
      if (visit(path, () => valueText(bytes, start, endOfValue(bytes, start, to)), false)) return true
      outer.push(prefix)
      prefix = `${path}.`
      at = start + 1
      continue
    }
    at = endOfValue(bytes, start, to)
    if (at < 0) return false
    const end = at
    if (isKnown && visit(path, () => valueText(bytes, start, end), isLeaf(bytes[start]!))) return true
  }
  return false
}

/** Whether this byte begins a text, a number, true or false. */
const isLeaf = (first: number) => LEAVES.includes(first)
const LEAVES = new TextEncoder().encode('"-0123456789tf')

/** A key as text; the input has one character per byte. */
function readable(key: string): string {
  for (let i = 0; i < key.length; i++)
    if (key.charCodeAt(i) >= 0x80)
      return decode(
        Uint8Array.from(key, (char) => char.charCodeAt(0)),
        0,
        key.length,
      )
  return key
}

/** A string's text, and everything else as it is written. */
function valueText(bytes: Uint8Array, from: number, to: number): string {
  const text = decode(bytes, from, to).trim()
  if (!text.startsWith('"')) return text
  try {
    return JSON.parse(text)
  } catch {
    return ascii(bytes, from + 1, to - 1)
  }
}
