/**
 * Whether a name is wanted, by shell patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`. No pattern wants everything.
 * A pattern is turned into a regular expression without nested repetition, so that no name can stall it.
 */
export function includeFilter(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true
  const expressions = patterns.map(toExpression)
  return (name) => expressions.some((expression) => expression.test(name))
}

function toExpression(pattern: string): RegExp {
  let source = ''
  let braces = 0
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    if (char === '*') {
      while (pattern[i + 1] === '*') i++
      source += '.*'
    } else if (char === '?') source += '.'
    else if (char === '{' && pattern.includes('}', i)) {
      braces++
      source += '(?:'
    } else if (char === '}' && braces > 0) {
      braces--
      source += ')'
    } else if (char === ',' && braces > 0) source += '|'
    else if (char === '[' && classEnd(pattern, i) > 0) {
      const end = classEnd(pattern, i)
      const inner = pattern.slice(i + 1, end)
      const negated = inner.startsWith('!') || inner.startsWith('^')
      const members = (negated ? inner.slice(1) : inner).replace(/[\\\]^[&|~]/g, '\\$&')
      source += `[${negated ? '^' : ''}${members}]`
      i = end
    } else if (char === '\\' && i + 1 < pattern.length) source += escape(pattern[++i]!)
    else source += escape(char)
  }
  if (braces > 0) throw new RangeError(`Cannot use the pattern "${pattern}": a brace is not closed`)
  try {
    return new RegExp(`^${source}$`, 'su')
  } catch {
    throw new RangeError(`Cannot use the pattern "${pattern}": a bracket or brace in it is not valid`)
  }
}

/** The end of a bracket class that starts at `from`, or -1; `]` directly after the opening is a member. */
function classEnd(pattern: string, from: number): number {
  const first = pattern[from + 1] === '!' || pattern[from + 1] === '^' ? from + 2 : from + 1
  return pattern.indexOf(']', first + 1)
}

const escape = (char: string): string => char.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&')
