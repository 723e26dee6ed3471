import type { LogFields } from '../../../client.ts'
import type { Term } from '../../url.ts'

type Pattern = LogFields['patterns'][number]

/** The placeholder for varying words in a pattern: `<*>`, or a name in angle brackets. */
const HOLE = /<(?:\*|[a-z][\w:-]{0,20})>/i

/** A condition that finds the messages of a pattern: its constant words in order, with anything in between. */
export function patternTerm(pattern: string): Term {
  // The API takes a thousand characters, and escaping may double them; the beginning is enough.
  const parts = pattern
    .slice(0, 400)
    .replace(/<[^<>]*$/, '')
    .split(HOLE)
  if (parts.length === 1) return { kind: 'q', value: parts[0]! }
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\s+/g, '\\s+'))
  return { kind: 'regex', value: escaped.join('.*?').replace(/^(\.\*\?)+|(\.\*\?)+$/g, '') }
}

export type PatternOrder = 'latest' | 'frequent'

/** The kinds of messages that began last first, or the most frequent. */
export function orderPatterns(patterns: readonly Pattern[], order: PatternOrder): Pattern[] {
  const began = ({ first }: Pattern) => (first === null ? 0 : Date.parse(first))
  return [...patterns].sort((a, b) =>
    order === 'frequent' ? b.count - a.count : began(b) - began(a) || a.count - b.count,
  )
}

/** Where a pattern's messages lie between the first and the last moment of all, as shares of the whole. */
export function patternSpan(
  pattern: Pattern,
  all: readonly Pattern[],
): { left: number; width: number } | null {
  if (pattern.first === null || pattern.last === null) return null
  const moments = all.flatMap(({ first, last }) =>
    first === null || last === null ? [] : [Date.parse(first), Date.parse(last)],
  )
  const [from, to] = [Math.min(...moments), Math.max(...moments)]
  if (!(to > from)) return { left: 0, width: 1 }
  const left = (Date.parse(pattern.first) - from) / (to - from)
  return { left, width: Math.max(0.02, (Date.parse(pattern.last) - from) / (to - from) - left) }
}
