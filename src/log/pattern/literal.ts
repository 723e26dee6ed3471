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

/** Whether one byte follows another in a needle; without `next`, whether anything does. */
export function isPair({ low, fold }: Needle, byte: number, next?: number): boolean {
  for (let i = 1; i < low.length; i++)
    if ((byte | fold[i - 1]!) === low[i - 1] && (next === undefined || (next | fold[i]!) === low[i]))
      return true
  return false
}

export interface Finder {
  /** The next place of the text at or after `from` that ends at or before `to`, or -1. */
  (bytes: Uint8Array, from: number, to: number): number
  /** The same text for a faster search, unless its spellings differ in more than ASCII case. */
  needle?: Needle
  /** Several texts instead, as marks of the scanner. */
  marks?: readonly RegExp[]
}

/** Finds exactly these bytes, which are whole characters. */
export function exactFinder(needle: Uint8Array): Finder {
  const forms = () => charactersOf(needle).map((char) => [char])
  return horspool(needle, needle, lazily(forms), { low: needle, fold: new Uint8Array(needle.length) })
}

/** Finds these ASCII bytes in any case. */
export function foldedFinder(needle: Uint8Array): Finder {
  const lower = needle.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 32 : byte))
  const upper = needle.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte & ~32 : byte))
  const fold = needle.map((byte) => ((byte | 32) >= 0x61 && (byte | 32) <= 0x7a ? 32 : 0))
  const forms = () => Array.from(lower, (byte, i) => [Uint8Array.of(byte), Uint8Array.of(upper[i]!)])
  return horspool(lower, upper, lazily(forms), { low: lower, fold })
}

/** Text that nearly matches everywhere takes more comparisons than this per byte; then `linear` continues. */
const MAX_COMPARED = 2

/**
 * Horspool's search with two spellings of each byte: 1 GB/s for five letters, 3 for twenty-five, on every runtime.
 * `Uint8Array.indexOf` on the rarest byte plus a check around it gave 0.3 to 1.4, because letters are never rare.
 * Alone, it would take 5 s for a text of 1,000 letters such as `baaa…` in 1 MiB of `aaaa…`.
 */
function horspool(lower: Uint8Array, upper: Uint8Array, linear: Finder, needle?: Needle): Finder {
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
  /** The last byte of the needle that differs from those that end here, -1 if none does. */
  const differsAt = (bytes: Uint8Array, end: number): number => {
    let i = last - 1
    for (let at = end - 1; i >= 0 && (bytes[at] === lower[i] || bytes[at] === upper[i]); at--) i--
    return i
  }
  const find: Finder = (bytes, from, to) => {
    let compared = 0
    let at = from + last
    while (at < to) {
      const step = shift[bytes[at]!]!
      if (step > 0) {
        at += step
        continue
      }
      const i = differsAt(bytes, at)
      if (i < 0) return at - last
      compared += last - i
      if (compared > MAX_COMPARED * (at - from)) return linear(bytes, at - last, to)
      at += after
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
  const linear = linearFinder(spellings)
  if (!spellings.every(([one, other = one, ...more]) => more.length === 0 && one!.length === other!.length))
    return linear
  const lower = Uint8Array.from(spellings.flatMap(([form]) => [...form!]))
  const upper = Uint8Array.from(spellings.flatMap((forms) => [...forms.at(-1)!]))
  const near = horspool(lower, upper, linear)
  return (bytes, from, to) => {
    const at = near(bytes, from, to)
    // Two spellings of each byte may also be of another character, so what is found is checked.
    if (at < 0 || linear(bytes, at, at + lower.length) === at) return at
    return linear(bytes, at + 1, to)
  }
}

/** A linear finder that is made when it is first needed, which is nearly never. */
function lazily(spellings: () => Uint8Array[][]): Finder {
  let find: Finder | null = null
  return (bytes, from, to) => {
    find ??= linearFinder(spellings())
    return find(bytes, from, to)
  }
}

/**
 * Finds characters, each in one of its spellings, in linear time whatever the text (Knuth, Morris, Pratt). Characters
 * that share a spelling count as the same.
 */
function linearFinder(spellings: readonly Uint8Array[][]): Finder {
  const symbols = new Map<number, number>()
  const needle = spellings.map((forms, i) => {
    const packed = forms.map((form) => characterAt(form, 0, form.length))
    const known = packed.find((form) => symbols.has(form))
    const symbol = known === undefined ? i + 1 : symbols.get(known)!
    for (const form of packed) symbols.set(form, symbol)
    return symbol
  })
  const ascii = Int32Array.from({ length: 128 }, (_, byte) => symbols.get(byte) ?? 0)
  const borders = bordersOf(needle)
  return (bytes, from, to) => {
    let matched = 0
    for (let at = from; at < to; ) {
      const byte = bytes[at]!
      const char = byte < 128 ? byte : characterAt(bytes, at, to)
      const symbol = byte < 128 ? ascii[byte]! : (symbols.get(char) ?? 0)
      while (matched > 0 && symbol !== needle[matched]) matched = borders[matched - 1]!
      if (symbol === needle[matched]) matched++
      at += lengthOf(char)
      if (matched === needle.length) return back(bytes, at, matched)
    }
    return -1
  }
}

/** For each beginning of the needle, the length of its longest proper beginning that is also its end. */
function bordersOf(needle: readonly number[]): Int32Array {
  const borders = new Int32Array(needle.length)
  for (let i = 1, matched = 0; i < needle.length; i++) {
    while (matched > 0 && needle[i] !== needle[matched]) matched = borders[matched - 1]!
    if (needle[i] === needle[matched]) matched++
    borders[i] = matched
  }
  return borders
}

/** The bytes of the character at `at` as one number; a byte that belongs to no whole character is alone. */
function characterAt(bytes: Uint8Array, at: number, to: number): number {
  const first = bytes[at]!
  const more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  if (at + more >= to) return first
  let packed = first
  for (let i = 1; i <= more; i++) {
    const next = bytes[at + i]!
    if ((next & 0xc0) !== 0x80) return first
    packed = (packed << 8) | next
  }
  return packed
}

/** How many bytes a packed character has. Four bytes make a negative number. */
function lengthOf(packed: number): number {
  return packed < 0 ? 4 : packed > 0xffff ? 3 : packed > 0xff ? 2 : 1
}

/** Where the characters before `at` start, `count` of them. */
function back(bytes: Uint8Array, at: number, count: number): number {
  let start = at
  for (let i = 0; i < count; i++) {
    start--
    while ((bytes[start]! & 0xc0) === 0x80) start--
  }
  return start
}

function charactersOf(bytes: Uint8Array): Uint8Array[] {
  const chars: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += chars.at(-1)!.length)
    chars.push(bytes.subarray(at, at + lengthOf(characterAt(bytes, at, bytes.length))))
  return chars
}

/** The text if it is a single character: `ß` in upper case is two, so it is left unchanged. */
function one(text: string): string | null {
  return [...text].length === 1 ? text : null
}

const encoder = new TextEncoder()

/** Finds the nearest of several texts. Each is searched for before the nearest so far: a rare one would scan everything. */
export function nearestOf(finders: readonly Finder[]): Finder {
  return (bytes, from, to) => {
    let nearest = -1
    for (const find of finders) {
      const at = find(bytes, from, nearest < 0 ? to : nearest)
      if (at >= 0) nearest = at
    }
    return nearest
  }
}
