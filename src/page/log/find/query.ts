import type { LogQuery } from '../../../client.ts'
import type { Look, Term } from '../../url.ts'

/** The API query for the look. */
export function queryOf(look: Look): LogQuery {
  const base = {
    file: look.file ?? '',
    rotated: look.rotated || undefined,
    since: look.since || undefined,
    until: look.until || undefined,
    ansi: true,
    raw: true,
  }
  if (look.all) return base
  return { ...base, level: look.level || undefined, ...conditions(conditionsOf(look)) }
}

/** What fields and exports are about: the records that match, whatever else the list shows. */
export function fieldsQueryOf(look: Look): LogQuery {
  const { ansi: _, raw: __, ...query } = queryOf({ ...look, all: false })
  return query
}

/** What the chart counts: every level, so that the buttons can show how many records each has. */
export function chartQueryOf(look: Look): LogQuery {
  const { level: _, ...query } = fieldsQueryOf(look)
  const only = chartTerm(look.chart)
  return only === null ? query : { ...query, ...conditions([...conditionsOf(look), only]) }
}

/** What the chart alone is narrowed to. */
export function chartTerm(text: string): Term | null {
  const colon = text.indexOf(':')
  const kind = text.slice(0, colon)
  return kind === 'where' || kind === 'q' ? { kind, value: text.slice(colon + 1) } : null
}

/** All conditions on a record's text and fields, the search field's first. */
export function conditionsOf(look: Look): Term[] {
  const field: Term[] = look.find === '' ? [] : [{ kind: look.regex ? 'regex' : 'q', value: look.find }]
  return [...field, ...look.terms]
}

function conditions(terms: Term[]): Pick<LogQuery, Term['kind']> {
  const out: Partial<Record<Term['kind'], string[]>> = {}
  for (const { kind, value } of terms) out[kind] = [...(out[kind] ?? []), value]
  return out
}

/** Whether the look picks records by what they say. */
export function isFiltered(look: Look): boolean {
  return conditionsOf(look).length > 0 || look.level !== ''
}

/** Whether the look leaves out records, by what they say or by their time. */
export function isNarrowed(look: Look): boolean {
  return isFiltered(look) || look.since !== '' || look.until !== ''
}
