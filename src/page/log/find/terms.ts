import { LEVELS } from '../../../client.ts'
import type { Look, Term } from '../../url.ts'
import { readWhere, writeWhere } from '../record/fields.ts'

/** A value that was clicked: of a field, or a word of the text. */
export interface Value {
  /** Empty for a text. */
  field: string
  value: string
}

/** What changes when a value is included or excluded; the opposite condition goes. */
export function withValue(look: Look, { field, value }: Value, not: boolean): Partial<Look> {
  if (field === 'level' && !not) {
    const rest = look.terms.filter((term) => !isLevel(term))
    return { level: `=${value}`, terms: rest }
  }
  const term = termOf({ field, value }, not)
  const opposite = termOf({ field, value }, !not)
  const rest = look.terms.filter((each) => !same(each, term) && !same(each, opposite))
  if (term.kind === 'q' && look.find === '') return { find: value, regex: false, terms: rest }
  const found = opposite.kind === 'q' && look.find === value && !look.regex
  return { terms: [...rest, term], ...(found ? { find: '' } : {}) }
}

/** What changes when a condition is added. */
export function withTerm(look: Look, term: Term): Partial<Look> {
  const rest = look.terms.filter((each) => !same(each, term) && !same(each, inverted(term)))
  if (look.find === '' && (term.kind === 'q' || term.kind === 'regex'))
    return { find: term.value, regex: term.kind === 'regex', terms: rest }
  return { terms: [...rest, term] }
}

function isLevel(term: Term): boolean {
  return term.kind === 'where' && readWhere(term.value).field === 'level'
}

export function termOf({ field, value }: Value, not: boolean): Term {
  if (field === '') return { kind: not ? 'not' : 'q', value }
  return { kind: 'where', value: writeWhere({ field, value, not }) }
}

function same(a: Term, b: Term): boolean {
  return a.kind === b.kind && a.value === b.value
}

const OPPOSITE: Record<Exclude<Term['kind'], 'where'>, Term['kind']> = {
  q: 'not',
  not: 'q',
  regex: 'notregex',
  notregex: 'regex',
}

/** The opposite of a condition. */
export function inverted(term: Term): Term {
  if (term.kind !== 'where') return { kind: OPPOSITE[term.kind], value: term.value }
  const where = readWhere(term.value)
  return { kind: 'where', value: writeWhere({ ...where, not: !where.not }) }
}

/** The levels that a level filter leaves out, as a filter. */
export function invertedLevel(level: string): string {
  const chosen = level.startsWith('=')
    ? level.slice(1).split(',')
    : LEVELS.slice(LEVELS.indexOf(level as (typeof LEVELS)[number]))
  const rest = LEVELS.filter((each) => !chosen.includes(each))
  return rest.length === 0 ? '' : `=${rest.join(',')}`
}

/** A condition in words. */
export function termText({ kind, value }: Term): string {
  if (kind === 'where') {
    const where = readWhere(value)
    if (where.sign) return `${where.not ? 'not ' : ''}${where.field} ${where.sign} ${where.value}`
    if (where.value === '*') return `${where.not ? 'without' : 'with'} ${where.field}`
    return `${where.not ? 'not ' : ''}${where.field}: ${where.value}`
  }
  const text = kind.endsWith('regex') ? `/${value}/` : `“${value}”`
  return kind.startsWith('not') ? `not ${text}` : text
}

export function levelText(level: string): string {
  return level.startsWith('=')
    ? `level: ${level.slice(1).split(',').join(' or ')}`
    : `level: ${level} and above`
}
