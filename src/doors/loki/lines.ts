import { exactFinder } from '../../log/pattern/literal.ts'
import { type Matcher, regexMatcher, testInSteps } from '../../log/pattern/pattern.ts'
import { whereMatcher } from '../../log/where/where.ts'
import { LABELS, type LineFilter, type Stage } from './logql/query.ts'

export async function lineMatchers(
  filters: readonly LineFilter[],
): Promise<{ wanted: Matcher[]; unwanted: Matcher[] }> {
  const [wanted, unwanted]: [Matcher[], Matcher[]] = [[], []]
  for (const { operator, values } of filters) {
    const isPattern = operator.endsWith('~')
    const each = await Promise.all(values.map((value) => (isPattern ? lineRegex(value) : textMatcher(value))))
    if (operator.startsWith('!')) unwanted.push(...each)
    // An empty text is in every line.
    else if (!values.includes('')) wanted.push(anyOf(each))
  }
  return { wanted, unwanted }
}

/** Loki matches texts case-sensitively. */
function textMatcher(text: string): Matcher {
  if (text === '') return { test: () => true }
  const find = exactFinder(new TextEncoder().encode(text))
  const needle = text.includes('\n') ? undefined : find.needle
  return { find, test: (bytes, from, to) => find(bytes, from, to) >= 0, needle, sure: true }
}

/** To Loki, an entry is one text however many lines it has: `^` and `$` match at its ends alone. */
async function lineRegex(pattern: string): Promise<Matcher> {
  if (pattern === '') return { test: () => true }
  const matcher = await regexMatcher(pattern)
  if (!/[\\^$]/.test(pattern)) return matcher
  const { find, needle } = matcher
  const exact = await regexMatcher(`(?-m)${pattern}`)
  const test: Matcher['test'] = (bytes, from, to) => exact.test(bytes, from, textEnd(bytes, from, to))
  const inSteps: Matcher['inSteps'] = (bytes, from, to) =>
    testInSteps(exact, bytes, from, textEnd(bytes, from, to))
  return find ? { find, needle, test, inSteps } : { test, inSteps }
}

/** Where a record ends without its last line end. */
export function textEnd(bytes: Uint8Array, from: number, to: number): number {
  if (to <= from || bytes[to - 1] !== 0x0a) return to
  return to - from > 1 && bytes[to - 2] === 0x0d ? to - 2 : to - 1
}

function anyOf(matchers: Matcher[]): Matcher {
  if (matchers.length === 1) return matchers[0]!
  return {
    test: (...record) => matchers.some((matcher) => matcher.test(...record)),
    *inSteps(...record) {
      for (const matcher of matchers) if (yield* testInSteps(matcher, ...record)) return true
      return false
    },
  }
}

/** Finds records by the values that their fields must have: most do not have their text and are never parsed. */
export async function valueFinders(stages: readonly Stage[]): Promise<Matcher[]> {
  const known: readonly string[] = [...LABELS, '__error__', '__error_details__', 'tag']
  const finders: Matcher[] = []
  for (const stage of stages) {
    if (stage.kind !== 'where' || !('operator' in stage.condition)) continue
    const { name, operator, value } = stage.condition
    if (operator !== '=' || value === '' || value === '*' || known.includes(name)) continue
    const { find, needle } = (await whereMatcher(`${name}:${value}`))!
    if (find) finders.push({ find, needle, test: (bytes, from, to) => find(bytes, from, to) >= 0 })
  }
  return finders
}
