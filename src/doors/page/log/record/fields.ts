import { COMPARISON, compares, quantityOf, type Sign } from '../../../../log/where/compare.ts'
import type { Look, Term } from '../../url.ts'
import type { Matcher } from './match.ts'
import { levelsOf, type Shown } from './record.ts'
import { globOf } from './source.ts'

/** The values of a field of a record, as the API's `where` reads it: the record's own members before its context. */
export function valuesOf(shown: Shown, field: string): string[] {
  if (field === 'level') return shown.level === null ? [] : [shown.level]
  if (field === 'message') return [[shown.message, ...shown.rest].join('\n')]
  if (field === 'source' && shown.source !== '') return [shown.source, shown.source.replace(/:\d+$/, '')]
  if ((field === 'tag' || field === 'logger') && shown.tags.length > 0) return shown.tags
  const value = member(shown.context, field)
  return value === undefined ? [] : [plain(value)]
}

/** A member by its name, or by a path with dots; a key that itself has the dots is found, too. */
function member(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, path)) return (value as Record<string, unknown>)[path]
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot)
    if (!Object.hasOwn(value, head)) continue
    const found = member((value as Record<string, unknown>)[head], path.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** A value as `where` spells it: strings without quotes, everything else as JSON. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

export interface Where {
  field: string
  value: string
  not: boolean
  /** How the value is compared, if it is a number; `~` for a shell pattern; otherwise it is the whole value. */
  sign?: Sign | '~'
}

export function readWhere(text: string): Where {
  const not = text.startsWith('!')
  const rest = not ? text.slice(1) : text
  const [, field, sign, limit] = COMPARISON.exec(rest) ?? []
  if (limit !== undefined && quantityOf(limit))
    return { field: field!.trim(), value: limit.trim(), not, sign: sign as Sign }
  const at = rest.search(/[:~]/)
  if (at < 0) return { field: rest, value: '*', not }
  const where: Where = { field: rest.slice(0, at), value: rest.slice(at + 1), not }
  return rest[at] === '~' && where.value !== '*' ? { ...where, sign: '~' } : where
}

/** Judges a loaded record by the look's conditions, for views that show all lines and mark the hits. */
export function fits(shown: Shown, look: Look, tests: { term: Term; matcher: Matcher | null }[]): boolean {
  const levels = levelsOf(look.level)
  if (levels !== null && !levels.includes(shown.level ?? '')) return false
  return tests.every(({ term, matcher }) => {
    if (term.kind === 'where') {
      const { field, value, not, sign } = readWhere(term.value)
      const values = valuesOf(shown, field)
      if (sign === '~') return values.some((own) => globOf(value).test(own)) !== not
      if (sign) return values.some((own) => compares(field, own, sign, quantityOf(value)!)) !== not
      const has = value === '*' ? values.length > 0 : values.includes(value)
      return has !== not
    }
    const has = matcher?.test(shown.raw) ?? false
    return term.kind.startsWith('not') ? !has : has
  })
}
