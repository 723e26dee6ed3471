import { LEVELS } from '../log/format/detect.ts'
import { compileRegex } from '../log/regex/regex.ts'
import { type LabelMatcher, type LogSelection, LokiError } from './query.ts'

/** The supported labels. */
export const LABELS = ['file', 'level', 'node'] as const

/** Which levels are wanted: one bit for each, and whether records without a level are. */
export interface LevelChoice {
  mask: number
  none: boolean
}

/** Whether a label's value meets all conditions on that label; a missing label counts as the empty text. */
export function meets(matchers: readonly LabelMatcher[], name: string, value: string): boolean {
  return matchers.every((matcher) => matcher.name !== name || holds(matcher, value))
}

/** Which levels the conditions leave. */
export function levelsOf({ selector, fields }: LogSelection): LevelChoice {
  const matchers = [...selector, ...fields]
  const mask = LEVELS.reduce((sum, level, i) => (meets(matchers, 'level', level) ? sum | (1 << i) : sum), 0)
  return { mask, none: meets(matchers, 'level', '') }
}

/** Whether any stream of a node is wanted. */
export function isNodeWanted({ selector, fields }: LogSelection, node: string): boolean {
  return meets(selector, 'node', node) && meets(fields, 'node', node)
}

/** Whether any stream of a node and file is wanted. Labels that do not exist have no value. */
export function isWanted({ selector, fields }: LogSelection, node: string, file: string): boolean {
  const known: readonly string[] = LABELS
  return (
    isNodeWanted({ selector, fields, lines: [] }, node) &&
    meets(selector, 'file', file) &&
    meets(fields, 'file', file) &&
    selector.every((matcher) => known.includes(matcher.name) || holds(matcher, ''))
  )
}

function holds({ operator, value }: LabelMatcher, actual: string): boolean {
  if (operator === '=') return actual === value
  if (operator === '!=') return actual !== value
  return isMatch(value, actual) === (operator === '=~')
}

/** Loki anchors the patterns of labels at both ends. */
function isMatch(pattern: string, actual: string): boolean {
  const bytes = new TextEncoder().encode(actual)
  try {
    return compileRegex(`\\A(?:${pattern})\\z`).test(bytes, 0, bytes.length)
  } catch {
    throw new LokiError(`The pattern ${pattern} is not valid: write it in RE2's syntax.`)
  }
}
