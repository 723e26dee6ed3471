import { LEVELS } from '../../log/format/detect.ts'
import { Dfa } from '../../log/regex/dfa.ts'
import { LABELS, type LabelMatcher, type LogSelection, LokiError } from './logql/query.ts'

export type Labels = Record<string, string>

/** Which streams a selector is about. A label that a stream does not have counts as the empty text. */
export interface Choice {
  /** The levels that are wanted; -1 is none. */
  levels: ReadonlySet<number>
  isNode(node: string): boolean
  isFile(file: string): boolean
}

export function choiceOf({ selector }: Pick<LogSelection, 'selector'>): Choice {
  const tests = selector.map((matcher) => ({ name: matcher.name, holds: testOf(matcher) }))
  const meets = (name: string, value: string) =>
    tests.every((test) => test.name !== name || test.holds(value))
  const known: readonly string[] = LABELS
  const levels = new Set([-1, ...LEVELS.keys()].filter((level) => meets('level', LEVELS[level] ?? '')))
  const isPossible = levels.size > 0 && tests.every(({ name, holds }) => known.includes(name) || holds(''))
  return {
    levels,
    isNode: (node) => isPossible && meets('node', node),
    isFile: (file) => meets('file', file),
  }
}

/** The condition of a matcher, compiled. Loki anchors the patterns of labels at both ends. */
export function testOf({ operator, value }: LabelMatcher): (actual: string) => boolean {
  if (operator === '=') return (actual) => actual === value
  if (operator === '!=') return (actual) => actual !== value
  const regex = compiled(value)
  return (actual) => {
    const bytes = new TextEncoder().encode(actual)
    return regex.test(bytes, 0, bytes.length) === (operator === '=~')
  }
}

function compiled(pattern: string) {
  try {
    return new Dfa(`(?-m)\\A(?:${pattern})\\z`)
  } catch {
    throw new LokiError(`The pattern ${pattern} is not valid: write it in RE2's syntax.`)
  }
}
