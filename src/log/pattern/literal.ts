/** A text to search for, as bytes: a byte matches if it equals `low` after setting the bits of `fold`. */
export interface Needle {
  low: Uint8Array
  fold: Uint8Array
}

/** The first bytes of a needle as a mark of the scanner. */
export function needleMark({ low, fold }: Needle): RegExp {
  const bytes = Array.from(low.subarray(0, MARKED), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
  return new RegExp(bytes.join(''), fold.some((bits) => bits > 0) ? 'i' : '')
}

const MARKED = 16

export interface Finder {
  /** The next place of the text at or after `from` that ends at or before `to`, or -1. */
  (bytes: Uint8Array, from: number, to: number): number
  /** The same text for a faster search, unless its spellings differ in more than ASCII case. */
  needle?: Needle
  /** Several texts instead, as marks of the scanner. */
  marks?: readonly RegExp[]
}

/** Finds exactly these bytes. */
export function exactFinder(needle: Uint8Array): Finder {
  return horspool(needle, needle, { low: needle, fold: new Uint8Array(needle.length) })
}

/** Finds these ASCII bytes in any case. */
export function foldedFinder(needle: Uint8Array): Finder {
  const lower = needle.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 32 : byte))
  const upper = needle.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte & ~32 : byte))
  const fold = needle.map((byte) => ((byte | 32) >= 0x61 && (byte | 32) <= 0x7a ? 32 : 0))
  return horspool(lower, upper, { low: lower, fold })
}

/**
 * Horspool's search with two spellings of each byte: 1 GB/s for five letters, 3 for twenty-five, on every runtime.
 * `Uint8Array.indexOf` on the rarest byte plus a check around it gave 0.3 to 1.4, because letters are never rare.
 */
function horspool(lower: Uint8Array, upper: Uint8Array, needle?: Needle): Finder {
  const last = lower.length - 1
  if (last < 0) return (_bytes, from, to) => (from <= to ? from : -1)
  const shift = new Int32Array(256).fill(last + 1)
  for (let i = 0; i < last; i++) {
    shift[lower[i]!] = last - i
    shift[upper[i]!] = last - i
  }
  // Zero marks the needle's last byte: one lookup per step says both how far to skip and whether to compare.
  const after = Math.min(shift[lower[last]!]!, shift[upper[last]!]!)
  shift[lower[last]!] = 0
  shift[upper[last]!] = 0
  const isAt = (bytes: Uint8Array, end: number): boolean => {
    let i = last - 1
    for (let at = end - 1; i >= 0 && (bytes[at] === lower[i] || bytes[at] === upper[i]); at--) i--
    return i < 0
  }
  const find: Finder = (bytes, from, to) => {
    let at = from + last
    while (at < to) {
      const step = shift[bytes[at]!]!
      if (step > 0) at += step
      else if (isAt(bytes, at)) return at - last
      else at += after
    }
    return -1
  }
  if (needle) find.needle = needle
  return find
}

/**
 * Finds text regardless of case, beyond ASCII: each character is a list of spellings, which may differ in length.
 */
export function unicodeFinder(text: string): Finder {
  const spellings = [...text].map((char) => {
    const upper = one(char.toUpperCase()) ?? char
    return [...new Set([char, upper, one(upper.toLowerCase()) ?? char])].map((form) => encoder.encode(form))
  })
  if (spellings.every(([one, other = one, ...more]) => more.length === 0 && one!.length === other!.length)) {
    // Two spellings of each byte may also be of another character, so what is found is checked.
    const near = horspool(
      Uint8Array.from(spellings.flatMap(([form]) => [...form!])),
      Uint8Array.from(spellings.flatMap((forms) => [...forms.at(-1)!])),
    )
    return (bytes, from, to) => {
      let at = near(bytes, from, to)
      while (at >= 0 && !matchesAt(bytes, at, to, spellings)) at = near(bytes, at + 1, to)
      return at
    }
  }
  const first = new Uint8Array(256)
  for (const form of spellings[0] ?? []) first[form[0]!] = 1
  return (bytes, from, to) => {
    for (let at = from; at < to; at++)
      if (first[bytes[at]!] === 1 && matchesAt(bytes, at, to, spellings)) return at
    return -1
  }
}

function matchesAt(bytes: Uint8Array, from: number, to: number, spellings: Uint8Array[][]): boolean {
  let at = from
  for (const choices of spellings) {
    const found = choices.find((choice) => {
      if (at + choice.length > to) return false
      for (let i = 0; i < choice.length; i++) if (bytes[at + i] !== choice[i]) return false
      return true
    })
    if (!found) return false
    at += found.length
  }
  return true
}

/** The text if it is a single character: `ß` in upper case is two, so it is left unchanged. */
function one(text: string): string | null {
  return [...text].length === 1 ? text : null
}

const encoder = new TextEncoder()
