import { LEVELS } from '../log/format/detect.ts'
import { Dfa } from '../log/regex/dfa.ts'
import { LABELS, type LabelMatcher, type LogSelection, LokiError } from './logql/query.ts'

/** The labels of a stream or of a record. */
export type Labels = Record<string, string>

/** Which levels are wanted: one bit for each, and whether records without a level are. */
export interface LevelChoice {
  mask: number
  none: boolean
}

/** Which streams a selector is about. A label that a stream does not have counts as the empty text. */
export interface Choice {
  levels: LevelChoice
  isNode(node: string): boolean
  isFile(file: string): boolean
}

export function choiceOf({ selector }: Pick<LogSelection, 'selector'>): Choice {
  const tests = selector.map((matcher) => ({ name: matcher.name, holds: testOf(matcher) }))
  const meets = (name: string, value: string) =>
    tests.every((test) => test.name !== name || test.holds(value))
  const known: readonly string[] = LABELS
  const mask = LEVELS.reduce((sum, level, i) => (meets('level', level) ? sum | (1 << i) : sum), 0)
  const none = meets('level', '')
  const isPossible =
    (mask !== 0 || none) && tests.every(({ name, holds }) => known.includes(name) || holds(''))
  return {
    levels: { mask, none },
    isNode: (node) => isPossible && meets('node', node),
    isFile: (file) => meets('file', file),
  }
}

/** Whether records of a level are wanted; -1 is none. */
export function isChosen(level: number, { mask, none }: LevelChoice): boolean {
  return level < 0 ? none : (mask & (1 << level)) !== 0
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
