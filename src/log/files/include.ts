/**
 * Whether a name is wanted, by shell patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, and `\` before a literal
 * character. Without patterns, every name is wanted. Matching takes at most pattern × name steps.
 */
export function includeFilter(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true
  const globs = patterns.flatMap(expandBraces).map(compile)
  return (name) => globs.some((matches) => matches(name))
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

/** What a `]` ends is a class. */
const TOKEN = /\*+|\?|\[(?:[!^](?<others>.[^\]]*)|(?<members>[^!^][^\]]*))\]|\\(?<literal>.)|./gsu

/** Behind the last `]` there is no class, and each `[` would be read to the end. */
const SIMPLE_TOKEN = /\*+|\?|\\(?<literal>.)|./gsu

function* tokensOf(pattern: string): Generator<RegExpExecArray> {
  const end = pattern.lastIndexOf(']') + 1
  yield* pattern.slice(0, end).matchAll(TOKEN)
  yield* pattern.slice(end).matchAll(SIMPLE_TOKEN)
}

/** A pattern without braces. A `]` directly after the opening of a class is a member. */
function compile(pattern: string): (name: string) => boolean {
  const parts = ['']
  let least = 0
  for (const { 0: token, groups = {} } of tokensOf(pattern)) {
    const { others, members, literal = token } = groups
    if (token.startsWith('*')) {
      parts.push('')
      continue
    }
    const last = parts.length - 1
    least++
    if (token === '?') parts[last] += '.'
    else if (others !== undefined) parts[last] += `[^${rangesOf(others)}]`
    else if (members !== undefined) parts[last] += `[${rangesOf(members)}]`
    else parts[last] += escaped(literal)
  }
  // One expression for each part, because what an earlier `*` matched never needs to change.
  const expressions = parts.map((part, i) => {
    const end = i === parts.length - 1 ? '$' : ''
    return new RegExp(`${i === 0 ? '^' : ''}${part}${end}`, 'gsu')
  })
  return (name) => {
    // An expression for thousands of characters would overflow the stack.
    if (name.length < least) return false
    let at = 0
    return expressions.every((expression) => {
      expression.lastIndex = at
      const isFound = expression.test(name)
      at = expression.lastIndex
      return isFound
    })
  }
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
