import { type Automaton, compileTree } from './automaton.ts'
import { parseRegex } from './parse.ts'

export { RegexError } from './parse.ts'

/**
 * Compiles a pattern in RE2's syntax; `^` and `$` stand at lines. It runs in linear time and tells yes or no, which
 * is all that a search of logs asks. Throws a RegexError.
 */
export function compileRegex(source: string): Automaton {
  return compileTree(parseRegex(source))
}
