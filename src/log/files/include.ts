/**
 * Whether a name is wanted, by shell patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and `\` before a literal
 * character. Without patterns, every name is wanted. Matching takes at most pattern × name steps.
 */
export function includeFilter(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true
  const globs = patterns.flatMap(expandBraces).map(compile)
  return (name) => globs.some((glob) => glob.test(name))
}

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

const TOKEN = /\*+|\?|\[(?:[!^](?<others>.[^\]]*)|(?<members>[^!^][^\]]*))\]|\\(?<literal>.)|./gsu

/** A pattern without braces. A `]` directly after the opening of a class is a member. */
function compile(pattern: string): RegExp {
  const parts = ['']
  for (const { 0: token, groups = {} } of pattern.matchAll(TOKEN)) {
    const { others, members, literal = token } = groups
    if (token.startsWith('*')) parts.push('')
    else if (token === '?') parts[parts.length - 1] += '.'
    else if (others !== undefined) parts[parts.length - 1] += `[^${rangesOf(others)}]`
    else if (members !== undefined) parts[parts.length - 1] += `[${rangesOf(members)}]`
    else parts[parts.length - 1] += escaped(literal)
  }
  const last = parts.length > 1 ? `.*${parts.pop()}` : ''
  // Nothing backtracks into a lookahead: what an earlier `*` matched never needs to change.
  const between = parts.slice(1).map((part, i) => `(?=(.*?${part}))\\${i + 1}`)
  return new RegExp(`^${parts[0]}${between.join('')}${last}$`, 'su')
}

/** The members of a class. A range that runs backward has none. */
function rangesOf(members: string): string {
  const ranges = [...members.matchAll(/(.)-(.)|./gsu)].map(
    ([all, from = all, to = all]) => [from, to] as const,
  )
  const isForward = (from: string, to: string) => from.codePointAt(0)! <= to.codePointAt(0)!
  return ranges.map(([from, to]) => (isForward(from, to) ? `${escaped(from)}-${escaped(to)}` : '')).join('')
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}
