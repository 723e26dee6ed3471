import type { Term } from '../../url.ts'

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
