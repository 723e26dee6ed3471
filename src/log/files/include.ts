/**
 * Whether a name is wanted, by shell patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and `\` before a literal
 * character. Without patterns, every name is wanted. Matching takes at most pattern × name steps.
 */
export function includeFilter(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true
  const globs = patterns.flatMap(expandBraces).map(tokenize)
  return (name) => {
    const characters = [...name]
    return globs.some((glob) => matches(glob, characters))
  }
}

const ANY = Symbol('any run of characters')
type Token = typeof ANY | ((character: string) => boolean)

/** How many patterns one pattern with braces may expand to. */
const MAX_ALTERNATIVES = 1000

/** `a{b,c}d` as `abd` and `acd`; braces nest. A brace without its partner is an ordinary character. */
function expandBraces(pattern: string): string[] {
  let open = -1
  let depth = 0
  const commas: number[] = []
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]
    if (char === '\\') i++
    else if (char === '{' && depth++ === 0) open = i
    else if (char === ',' && depth === 1) commas.push(i)
    else if (char === '}' && depth > 0 && --depth === 0) {
      const cuts = [open, ...commas, i]
      const head = pattern.slice(0, open)
      const rests = expandBraces(pattern.slice(i + 1))
      const alternatives = cuts.slice(1).flatMap((cut, n) => expandBraces(pattern.slice(cuts[n]! + 1, cut)))
      if (alternatives.length * rests.length > MAX_ALTERNATIVES)
        throw new RangeError(`Cannot use the pattern "${pattern}": its braces stand for too many names`)
      return alternatives.flatMap((middle) => rests.map((rest) => head + middle + rest))
    }
  }
  return [pattern]
}

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = []
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    const char = characters[i]!
    const end = char === '[' ? classEnd(characters, i) : -1
    if (char === '*') {
      if (tokens.at(-1) !== ANY) tokens.push(ANY)
    } else if (char === '?') tokens.push(() => true)
    else if (end > 0) {
      tokens.push(classOf(characters.slice(i + 1, end)))
      i = end
    } else {
      const literal = char === '\\' ? (characters[++i] ?? '\\') : char
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

/** The end of a bracket class, or -1; a `]` directly after the opening is a member. */
function classEnd(characters: string[], open: number): number {
  const negated = characters[open + 1] === '!' || characters[open + 1] === '^'
  return characters.indexOf(']', open + (negated ? 3 : 2))
}

function classOf(members: string[]): (character: string) => boolean {
  const negated = members[0] === '!' || members[0] === '^'
  const list = negated ? members.slice(1) : members
  const ranges: [string, string][] = []
  for (let i = 0; i < list.length; i++) {
    if (list[i + 1] === '-' && i + 2 < list.length) {
      ranges.push([list[i]!, list[i + 2]!])
      i += 2
    } else ranges.push([list[i]!, list[i]!])
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== negated
}

/** Backtracks only to the last `*`: what an earlier one matched never needs to change. */
function matches(tokens: Token[], characters: string[]): boolean {
  let t = 0
  let c = 0
  let star = -1
  let resume = 0
  while (c < characters.length) {
    const token = tokens[t]
    if (token === ANY) {
      star = t++
      resume = c
    } else if (token?.(characters[c]!)) {
      t++
      c++
    } else if (star >= 0) {
      t = star + 1
      c = ++resume
    } else return false
  }
  while (tokens[t] === ANY) t++
  return t === tokens.length
}
