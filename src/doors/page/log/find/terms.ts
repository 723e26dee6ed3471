import { LEVELS } from '../../../client.ts'
import type { Look, Term } from '../../url.ts'
import { readWhere } from '../record/fields.ts'
import { levelsOf } from '../record/record.ts'

/** A value that was clicked: of a field, or a word of the text. */
export interface Value {
  /** Empty for a text. */
  field: string
  value: string
}

/** What changes when a value is included or excluded. */
export function withValue(look: Look, { field, value }: Value, not: boolean): Partial<Look> {
  if (field === 'level' && !not) {
    const rest = look.terms.filter((term) => !isLevel(term))
    return { level: `=${value}`, terms: rest }
  }
  return withTerm(look, termOf({ field, value }, not))
}

/** What changes when a condition is added; the opposite one goes, and so does another kind of message. */
export function withTerm(look: Look, term: Term): Partial<Look> {
  const rest = look.terms.filter(
    (each) =>
      !isSameTerm(each, term) &&
      (term.kind === 'pattern' ? each.kind !== 'pattern' : !isSameTerm(each, inverted(term))),
  )
  return { terms: [...rest, term] }
}

export function searchOf({ terms }: Look): Term | undefined {
  return terms.find(({ kind }) => kind === 'q' || kind === 'regex')
}

/** What changes when the search field has another text. */
export function withSearch(look: Look, value: string, regex: boolean): Partial<Look> {
  const before = searchOf(look)
  const rest = look.terms.filter((each) => each !== before)
  return { terms: value === '' ? rest : [{ kind: regex ? 'regex' : 'q', value }, ...rest] }
}

function isLevel(term: Term): boolean {
  return term.kind === 'where' && readWhere(term.value).field === 'level'
}

export function termOf({ field, value }: Value, not: boolean): Term {
  if (field === '') return { kind: not ? 'not' : 'q', value }
  return { kind: 'where', value: `${not ? '!' : ''}${field}:${value}` }
}

function isSameTerm(a: Term, b: Term): boolean {
  return a.kind === b.kind && a.value === b.value
}

const OPPOSITE: Record<Exclude<Term['kind'], 'where' | 'pattern'>, Term['kind']> = {
  q: 'not',
  not: 'q',
  regex: 'notregex',
  notregex: 'regex',
}

/** The opposite of a condition; a kind of message has none. */
export function inverted(term: Term): Term {
  const { kind, value } = term
  if (kind === 'pattern') return term
  if (kind !== 'where') return { kind: OPPOSITE[kind], value }
  return { kind, value: value.startsWith('!') ? value.slice(1) : `!${value}` }
}

/** The levels that a level filter leaves out, as a filter. */
export function invertedLevel(level: string): string {
  const chosen = levelsOf(level)!
  const rest = LEVELS.filter((each) => !chosen.includes(each))
  return rest.length === 0 ? '' : `=${rest.join(',')}`
}

export function termText({ kind, value }: Term): string {
  if (kind === 'where') {
    const where = readWhere(value)
    if (where.sign) return `${where.not ? 'not ' : ''}${where.field} ${SIGNS[where.sign]} ${where.value}`
    if (where.value === '*') return `${where.not ? 'without' : 'with'} ${where.field}`
    return `${where.not ? 'not ' : ''}${where.field}: ${where.value}`
  }
  if (kind === 'pattern') return `like “${value}”`
  const text = kind.endsWith('regex') ? `/${value}/` : `“${value}”`
  return kind.startsWith('not') ? `not ${text}` : text
}

/** Comparisons as they are shown. */
const SIGNS = { '>': '>', '>=': '≥', '<': '<', '<=': '≤', '~': '~' } as const

export function levelText(level: string): string {
  return level.startsWith('=') ? `level: ${levelsOf(level)!.join(' or ')}` : `level: ${level} and above`
}

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
