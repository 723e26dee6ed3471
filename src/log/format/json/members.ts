import { decode, type Visit } from '../format.ts'
import { MAX_KEYS } from '../read/json-fit.ts'
import { ascii, findKey } from './member.ts'

/**
 * Visits the members of the JSON object in bytes[from, to), and of those inside it, by their path with dots; at most
 * `MAX_KEYS` of them.
 */
export function visitJson(bytes: Uint8Array, from: number, to: number, visit: Visit): boolean {
  let left = MAX_KEYS
  return visitObject(from, to, '')

  function visitObject(from: number, to: number, prefix: string): boolean {
    return findKey(bytes, from, to, (key, _, start, end) => {
      if (left-- <= 0) return true
      const path = prefix + readable(key)
      if (visit(path, () => valueText(bytes, start, end), isLeaf(bytes[start]!))) return true
      return bytes[start] === 0x7b && visitObject(start, end, `${path}.`)
    })
  }
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
