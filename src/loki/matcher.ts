import { exactFinder } from '../log/pattern/literal.ts'
import { type Matcher, regexMatcher } from '../log/pattern/pattern.ts'
import { whereMatcher } from '../log/where/where.ts'
import { LABELS } from './labels.ts'
import { type LabelMatcher, type LineFilter, type LogSelection, LokiError } from './query.ts'

/** What the line filters and field conditions require of a record; null if any record will do. */
export async function matcherOf({ lines, fields }: LogSelection): Promise<Matcher | null> {
  const matchers = await Promise.all([
    ...lines.map(lineMatcher),
    ...fields.filter(({ name }) => !(LABELS as readonly string[]).includes(name)).map(fieldMatcher),
  ])
  // An empty text is in every line.
  return allOf(matchers.filter((matcher) => matcher !== null))
}

async function lineMatcher({ operator, values }: LineFilter): Promise<Matcher | null> {
  const isPattern = operator === '|~' || operator === '!~'
  const isNegated = operator.startsWith('!')
  if (!isNegated && values.includes('')) return null
  const wanted = values.filter((value) => !(isNegated && value === ''))
  if (wanted.length < values.length) return { test: () => false }
  const each = await Promise.all(
    wanted.map((value) => (isPattern ? regexMatcher(value) : textMatcher(value))),
  )
  return isNegated ? noneOf(each) : anyOf(each)
}

/** Loki matches texts case-sensitively. */
function textMatcher(text: string): Matcher {
  const find = exactFinder(new TextEncoder().encode(text))
  const needle = text.includes('\n') ? undefined : find.needle
  return { find, test: (bytes, from, to) => find(bytes, from, to) >= 0, needle, sure: true }
}

/** A condition on a field. Loki writes nested keys with underscores, where `where` has dots: either will do. */
async function fieldMatcher({ name, operator, value }: LabelMatcher): Promise<Matcher> {
  if (operator === '=~' || operator === '!~')
    throw new LokiError(
      `nodestate does not support ${name}${operator}"${value}": compare fields with = or !=.`,
    )
  const names = name.includes('_') ? [name, name.replaceAll('_', '.')] : [name]
  const each = names.map((one) => whereMatcher(value === '' ? `${one}:*` : `${one}:${value}`)!)
  // To Loki, a missing field is the empty text.
  const isPresent = (operator === '=') === (value !== '')
  return isPresent ? anyOf(each) : noneOf(each)
}

function anyOf(matchers: Matcher[]): Matcher {
  if (matchers.length === 1) return matchers[0]!
  return { test: (...record) => matchers.some((matcher) => matcher.test(...record)) }
}

function noneOf(matchers: Matcher[]): Matcher {
  return { test: (...record) => !matchers.some((matcher) => matcher.test(...record)) }
}

/** If one of them can be searched fast, that serves all of them. */
function allOf(matchers: Matcher[]): Matcher | null {
  if (matchers.length < 2) return matchers[0] ?? null
  const find = matchers.find((matcher) => matcher.find)?.find
  const test: Matcher['test'] = (...record) => matchers.every((matcher) => matcher.test(...record))
  return find ? { test, find } : { test }
}
