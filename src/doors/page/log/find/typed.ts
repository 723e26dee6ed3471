import { COMPARISON, quantityOf } from '../../../../log/where/compare.ts'
import { LEVELS } from '../../../client.ts'
import type { Look, Term } from '../../url.ts'
import { levelOf } from '../record/record.ts'
import { levelText, searchOf, termText, withTerm } from './terms.ts'

/** A typed text, read as conditions. */
export interface Reading {
  /** Conditions in the order in which they were typed. */
  terms: Term[]
  /** A filter by level, as the address has it. */
  level?: string
  /** Whether the user most likely means conditions and not the text itself. */
  isLikely: boolean
}

/** Fields that every log may have. */
const OWN = ['level', 'source', 'tag', 'message']

/** A field's name, as people type it. */
const FIELD = /^[A-Za-z_@][\w.@-]*$/

/** What stands between spaces; a text in quotes or slashes may have some itself. */
const TOKENS = /-?\/(?:\\.|[^/\\])+\/(?=\s|$)|[^\s"]*"[^"]*"(?=\s|$)|\S+/g

/**
 * Reads `status>=500`, `path:/x`, `path~/api/*`, `level:error`, `-text`, `"two words"` and `/regex/`, several of them
 * with spaces in between. Null for a text that is none of these. `fields` are the names that the log is known to have.
 */
export function readTyped(text: string, fields: ReadonlySet<string>): Reading | null {
  const tokens = text.match(TOKENS) ?? []
  const parts = tokens.map((token) => readToken(token, fields))
  if (parts.every((part) => part === null)) return null
  const reading: Reading = { terms: [], isLikely: isLikely(parts) }
  let words: string[] = []
  const endWords = () => {
    if (words.length > 0) reading.terms.push({ kind: 'q', value: words.join(' ') })
    words = []
  }
  for (const [index, part] of parts.entries()) {
    if (part === null) {
      words.push(tokens[index]!)
      continue
    }
    endWords()
    if (part.level !== undefined) reading.level = part.level
    if (part.term !== undefined) reading.terms.push(part.term)
  }
  endWords()
  return reading
}

interface Part {
  term?: Term
  level?: string
  /** Whether it is a condition on a field. */
  isField: boolean
  /** Whether it can hardly be a part of the log's text. */
  isSure: boolean
}

/** Words beside a condition are searched for; words beside a text in quotes may be one text with it. */
function isLikely(parts: (Part | null)[]): boolean {
  const read = parts.filter((part) => part !== null)
  return read.every(({ isSure }) => isSure) && (read.length === parts.length || read.some((p) => p.isField))
}

function readToken(token: string, fields: ReadonlySet<string>): Part | null {
  const not = /^[-!](?=[^-\d])/.test(token)
  const rest = not ? token.slice(1) : token
  const quoted = /^"(.+)"$/.exec(rest)?.[1]
  if (quoted !== undefined) return textPart(not ? 'not' : 'q', quoted)
  const pattern = /^\/(.+)\/$/.exec(rest)?.[1]
  if (pattern !== undefined && !/(^|[^\\])\//.test(pattern))
    return textPart(not ? 'notregex' : 'regex', pattern)
  const condition = readCondition(rest, not, fields)
  if (condition !== null) return condition
  return not && token.startsWith('-') ? textPart('not', rest) : null
}

function textPart(kind: Term['kind'], value: string): Part {
  return { term: { kind, value }, isField: false, isSure: true }
}

function readCondition(text: string, negated: boolean, fields: ReadonlySet<string>): Part | null {
  const level = negated ? null : readLevel(text)
  if (level !== null) return { level, isField: true, isSure: true }
  const [, compared, , limit] = COMPARISON.exec(text) ?? []
  const sign = negated ? '!' : ''
  if (compared !== undefined && FIELD.test(compared) && quantityOf(limit!) !== null)
    return { term: { kind: 'where', value: sign + text }, isField: true, isSure: true }
  const [, field, operator, given] = /^([^:~=!]+)(:|~|!=)(.+)$/.exec(text) ?? []
  if (field === undefined || !FIELD.test(field)) return null
  const value = /^"(.*)"$/.exec(given!)?.[1] ?? given!
  const isNot = negated !== (operator === '!=')
  const term: Term = {
    kind: 'where',
    value: `${isNot ? '!' : ''}${field}${operator === '~' ? '~' : ':'}${value}`,
  }
  return { term, isField: true, isSure: OWN.includes(field) || fields.has(field) }
}

/** `level:error`, `level:warn,error` and `level>=warn` as the address has them. */
function readLevel(text: string): string | null {
  const [, sign, words] = /^level(:|>=)([a-z,]+)$/i.exec(text) ?? []
  const levels = (words ?? '').split(',').map(levelOf)
  if (words === undefined || levels.includes(null)) return null
  return sign === ':' ? `=${levels.join(',')}` : levels[0] === LEVELS[0] ? '' : levels[0]!
}

/** What changes when typed conditions are applied: they join those that are there, in place of the searched text. */
export function withReading(look: Look, { terms, level = look.level }: Reading): Partial<Look> {
  const before = searchOf(look)
  let next: Look = { ...look, level, terms: look.terms.filter((each) => each !== before) }
  for (const term of terms) next = { ...next, ...withTerm(next, term) }
  return { level, terms: next.terms }
}

/** Conditions in words: `status ≥ 500, not “retry”`. */
export function readingText({ terms, level }: Reading): string {
  return [...(level ? [levelText(level)] : []), ...terms.map(termText)].join(', ')
}
