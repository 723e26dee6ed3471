/** A set of code points: pairs of first and last, in order, apart from each other. */
export type CodeSet = readonly number[]

/** The last code point. */
export const LAST = 0x10ffff

/** Any pairs as a set. */
export function setOf(pairs: readonly number[]): CodeSet {
  const sorted: [number, number][] = []
  for (let i = 0; i < pairs.length; i += 2) sorted.push([pairs[i]!, pairs[i + 1]!])
  sorted.sort((a, b) => a[0] - b[0])
  const out: number[] = []
  for (const [first, last] of sorted) {
    const end = out.length - 1
    if (end > 0 && first <= out[end]! + 1) out[end] = Math.max(out[end]!, last)
    else out.push(first, last)
  }
  return out
}

/** All code points that are not in the set. */
export function inverse(set: CodeSet): CodeSet {
  const out: number[] = []
  let next = 0
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) out.push(next, set[i]! - 1)
    next = set[i + 1]! + 1
  }
  if (next <= LAST) out.push(next, LAST)
  return out
}

/** The set with every code point in any case. */
export function folded(set: CodeSet): CodeSet {
  const out = [...set]
  const ascii = set.length === 0 || set[set.length - 1]! < 0x80
  for (const orbit of ascii ? asciiOrbits() : orbits())
    if (orbit.some((code) => contains(set, code))) for (const code of orbit) out.push(code, code)
  return setOf(out)
}

/** Whether a code point is in the set. */
export function contains(set: CodeSet, code: number): boolean {
  for (let i = 0; i < set.length; i += 2) if (code <= set[i + 1]!) return code >= set[i]!
  return false
}

/** Letters of ASCII in any case, with the two signs that fold to one of them: long s and Kelvin. */
function* asciiOrbits(): Generator<number[]> {
  for (let code = 0x61; code <= 0x7a; code++) {
    if (code === 0x6b) yield [code, code - 32, 0x212a]
    else if (code === 0x73) yield [code, code - 32, 0x17f]
    else yield [code, code - 32]
  }
}

let known: number[][] | null = null

/** Code points that differ in case alone, by simple folding; some 20 ms, once, and only for patterns beyond ASCII. */
function orbits(): number[][] {
  if (known) return known
  const byKey = new Map<number, number[]>()
  // U+1E943 is the last letter with case. The dotted and the dotless i of Turkish fold to nothing else.
  for (let code = 0x41; code <= 0x1e943; code++) {
    if (code === 0x130 || code === 0x131 || (code >= 0xd800 && code <= 0xdfff)) continue
    const letter = String.fromCodePoint(code)
    const upper = single(letter.toUpperCase()) ?? letter
    const key = (single(upper.toLowerCase()) ?? upper).codePointAt(0)!
    const orbit = byKey.get(key)
    if (orbit) orbit.push(code)
    else byKey.set(key, [code])
  }
  known = [...byKey.values()].filter((orbit) => orbit.length > 1)
  return known
}

/** The text when it is one code point, for simple folding never changes the length. */
function single(text: string): string | null {
  return text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff) ? text : null
}

const properties = new Map<string, CodeSet | null>()

/** The code points of a Unicode class, by the runtime's own tables: a category, a script or a property; else null. */
export function property(name: string): CodeSet | null {
  const had = properties.get(name)
  if (had !== undefined) return had
  const pattern =
    name === 'Any'
      ? /[\s\S]+/gu
      : (tryClass(`gc=${name}`, name.length <= 2) ??
        tryClass(`sc=${name}`, true) ??
        tryClass(name, name.length > 4))
  const set = pattern && scan(pattern)
  properties.set(name, set)
  return set
}

function tryClass(name: string, allowed: boolean): RegExp | null {
  if (!allowed || !/^[\w=]+$/.test(name)) return null
  try {
    return new RegExp(`\\p{${name}}+`, 'gu')
  } catch {
    return null
  }
}

function scan(pattern: RegExp): CodeSet {
  const out: number[] = []
  for (let block = 0; block <= LAST; block += 0x1000) {
    const codes = Array.from({ length: 0x1000 }, (_, i) => block + i)
    // Surrogates pair up in a string, and would be taken for what they are not.
    const text = block === 0xd000 ? null : String.fromCodePoint(...codes)
    if (text === null) {
      for (const code of codes) if (matchesAlone(pattern, code)) out.push(code, code)
      continue
    }
    const wide = block > 0xffff ? 2 : 1
    for (const match of text.matchAll(pattern)) {
      const first = block + match.index / wide
      out.push(first, first + match[0].length / wide - 1)
    }
  }
  return setOf(out)
}

function matchesAlone(pattern: RegExp, code: number): boolean {
  pattern.lastIndex = 0
  return pattern.test(String.fromCodePoint(code))
}
