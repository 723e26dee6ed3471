/** Finds a text. */
export interface Finder {
  /** The next place of the text at or after `from` that ends at or before `to`, or -1. */
  (bytes: Uint8Array, from: number, to: number): number
  /** All places in [from, to), in order; of those that overlap, some may be left out. */
  all?(bytes: Uint8Array, from: number, to: number): number[]
}

/** Finds exactly these bytes. */
export function exactFinder(needle: Uint8Array): Finder {
  return horspool(needle, needle)
}

/** Finds these ASCII bytes in any case. */
export function foldedFinder(needle: Uint8Array): Finder {
  const lower = needle.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 32 : byte))
  const upper = needle.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte & ~32 : byte))
  return horspool(lower, upper)
}

/**
 * Horspool's search with two spellings of each byte: 1 GB/s for five letters, 3 for twenty-five, on every runtime,
 * and twice as much for all places at once.
 * `Uint8Array.indexOf` on the rarest byte and a look around gave 0.3 to 1.4, since letters are never rare.
 * `Buffer.indexOf` is twice as fast but knows no case, and most searches ignore it.
 */
function horspool(lower: Uint8Array, upper: Uint8Array): Finder {
  const last = lower.length - 1
  if (last < 0) return (_bytes, from, to) => (from <= to ? from : -1)
  const shift = new Int32Array(256).fill(last + 1)
  for (let i = 0; i < last; i++) {
    shift[lower[i]!] = last - i
    shift[upper[i]!] = last - i
  }
  // Zero marks the byte that ends the needle: one look-up per step tells both where to go and whether to compare.
  const after = shift[lower[last]!]!
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
  /** Where to go on from a place that may end the text. */
  const look = (bytes: Uint8Array, at: number, places: number[]): number => {
    if (!isAt(bytes, at)) return at + after
    places.push(at - last)
    return at + last + 1
  }
  const rest = (bytes: Uint8Array, from: number, to: number, places: number[]): void => {
    for (let at = from; at < to; ) {
      const step = shift[bytes[at]!]!
      at = step > 0 ? at + step : look(bytes, at, places)
    }
  }
  // Each step waits for the byte that the one before led to. Four searches in turns wait together.
  find.all = (bytes, from, to) => {
    const quarter = Math.max(0, to - from - last) >> 2
    const endA = from + last + quarter
    const endB = endA + quarter
    const endC = endB + quarter
    const endD = to
    const inA: number[] = []
    const inB: number[] = []
    const inC: number[] = []
    const inD: number[] = []
    let a = from + last
    let b = endA
    let c = endB
    let d = endC
    while (a < endA && b < endB && c < endC && d < endD) {
      const stepA = shift[bytes[a]!]!
      const stepB = shift[bytes[b]!]!
      const stepC = shift[bytes[c]!]!
      const stepD = shift[bytes[d]!]!
      a += stepA
      b += stepB
      c += stepC
      d += stepD
      if (stepA > 0 && stepB > 0 && stepC > 0 && stepD > 0) continue
      if (stepA === 0) a = look(bytes, a, inA)
      if (stepB === 0) b = look(bytes, b, inB)
      if (stepC === 0) c = look(bytes, c, inC)
      if (stepD === 0) d = look(bytes, d, inD)
    }
    rest(bytes, a, endA, inA)
    rest(bytes, b, endB, inB)
    rest(bytes, c, endC, inC)
    rest(bytes, d, endD, inD)
    return inA.concat(inB, inC, inD)
  }
  return find
}

/**
 * Finds text in any case, beyond ASCII: each character is a list of spellings, which may differ in length.
 */
export function unicodeFinder(text: string): Finder {
  const spellings = [...text].map((char) => {
    const upper = one(char.toUpperCase()) ?? char
    return [...new Set([char, upper, one(upper.toLowerCase()) ?? char])].map((form) => encoder.encode(form))
  })
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

/** The text when it is a single character: `ß` in capitals is two, and stays as it is. */
function one(text: string): string | null {
  return [...text].length === 1 ? text : null
}

const encoder = new TextEncoder()
