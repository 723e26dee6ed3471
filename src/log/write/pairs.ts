import { MOST_PAIRS, PAIRS_REACH } from '../format/read/pairs.ts'
import { find } from './bytes/words.ts'
import type { RecordOut } from './record.ts'

/**
 * Writes the `key=value` pairs of a message as fields, as `pairsIn` finds them: the message is plain and at bytes[from, to).
 * False if they must be read as text.
 */
function writePairs(out: RecordOut, from: number, to: number): boolean {
  const { bytes, line, copy } = out
  if (line.equals >= to) return true
  if (to - from > PAIRS_REACH) return false
  let left = MOST_PAIRS
  let done = from
  let at = Math.max(from, line.equals)
  for (;;) {
    const equals = find(copy.view, EQUALS, Math.max(at, done), to)
    if (equals >= to) return true
    at = equals + 1
    const key = keyStart(bytes, done, equals)
    if (key < 0 || (key > from && !isBreak(bytes[key - 1]!))) continue
    const first = bytes[equals + 1]
    let start = equals + 1
    let end: number
    if (first === 0x22 || first === 0x27) {
      start++
      end = start
      while (end < to && bytes[end] !== first) {
        // An escaped character is another one in the value.
        if (bytes[end] === 0x5c && first === 0x22) return false
        end++
      }
      if (end >= to) continue
      done = end + 1
    } else {
      end = start
      while (end < to && bytes[end] !== 0x20 && bytes[end] !== 0x09 && bytes[end] !== 0x2c) end++
      if (end === start || first === 0x3d) continue
      done = end
      end = withoutClosing(bytes, start, end)
    }
    if (left-- === 0) return true
    if (out.hasKey(key, equals)) continue
    out.key(key, equals)
    out.out[out.at++] = 0x22
    out.escaped(start, end)
    out.out[out.at++] = 0x22
  }
}

/** The same, and the end of the record. */
export function endWithPairs(out: RecordOut, from: number, to: number): boolean {
  if (!writePairs(out, from, to)) return false
  out.end()
  return true
}

const EQUALS = 0x3d
const LONGEST_KEY = 100

/** Where the key before an equals sign begins, or -1. */
function keyStart(bytes: Uint8Array, from: number, equals: number): number {
  let start = equals
  while (start > from && IN_KEY[bytes[start - 1]!] === 1) start--
  const letter = bytes[start]! | 32
  const isName = (letter >= 0x61 && letter <= 0x7a) || bytes[start] === 0x5f
  return isName && start < equals && equals - start <= LONGEST_KEY ? start : -1
}

const bytesIn = (pattern: RegExp) =>
  Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 128 && pattern.test(String.fromCharCode(byte)) ? 1 : 0,
  )
const IN_KEY = bytesIn(/[\w.@/-]/)
const BREAKS = bytesIn(/[\s,;()[\]{}]/)
const isBreak = (byte: number) => BREAKS[byte] === 1

/** A bracket that closes one before the key, and a semicolon, belong to the sentence. */
function withoutClosing(bytes: Uint8Array, from: number, to: number): number {
  let end = to
  while (end > from + 1) {
    const last = bytes[end - 1]!
    const opening = last === 0x29 ? 0x28 : last === 0x5d ? 0x5b : last === 0x7d ? 0x7b : 0
    if (last !== 0x3b && (opening === 0 || has(bytes, opening, from, end))) break
    end--
  }
  return end
}

function has(bytes: Uint8Array, byte: number, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === byte) return true
  return false
}
