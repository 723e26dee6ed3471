import { Dfa } from './dfa.ts'

/**
 * Compiles a pattern in RE2's syntax; `^` and `$` match at lines. It answers only yes or no, which is all a search
 * needs, in linear time. Throws a LogError that says what is wrong with the pattern.
 */
export function compileRegex(source: string): Dfa {
  return new Dfa(source)
}
