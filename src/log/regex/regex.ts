import { Dfa } from './dfa.ts'

/**
 * Compiles a pattern in RE2's syntax; `^` and `$` stand at lines. It tells yes or no, which is all that a search of
 * logs asks, in linear time. Throws a LogError that tells what is wrong with the pattern.
 */
export function compileRegex(source: string): Dfa {
  return new Dfa(source)
}
