import type { HistogramQuery, LevelFilter, LogQuery } from '../../../client.ts'
import { filesOf, isMerged, type Look, type Term } from '../../url.ts'

/** Encodings that can be chosen. */
export const ENCODINGS = ['latin1', 'utf-16le', 'utf-16be'] as const

export function queryOf(look: Look): LogQuery {
  const files = filesOf(look)
  const base = {
    file: files.length === 1 ? files[0]! : files,
    node: look.nodes.length === 0 ? undefined : look.nodes,
    // Several logs always come with their rotated files.
    rotated: (look.rotated && !isMerged(look)) || undefined,
    encoding: (ENCODINGS as readonly string[]).includes(look.encoding)
      ? (look.encoding as LogQuery['encoding'])
      : undefined,
    since: look.since || undefined,
    until: look.until || undefined,
    raw: true,
  }
  if (look.all) return base
  return { ...base, level: (look.level || undefined) as LevelFilter | undefined, ...conditions(look.terms) }
}

/** What fields and exports are about: the records that match, whatever else the list shows. */
export function fieldsQueryOf(look: Look): LogQuery {
  const { raw: _, ...query } = queryOf({ ...look, all: false })
  return query
}

/** What the chart counts: every level, so that the buttons can show how many records each has. */
export function chartQueryOf(look: Look): HistogramQuery {
  const { level, ...rest } = fieldsQueryOf(look)
  const by = (['file', 'node'] as const).find((each) => each === look.by)
  // Counted by source, levels cannot be told apart afterwards.
  return by === undefined ? rest : { ...rest, level, by }
}

function conditions(terms: Term[]): Pick<LogQuery, Term['kind']> {
  const out: { [kind in Exclude<Term['kind'], 'pattern'>]?: string[] } & { pattern?: string } = {}
  for (const { kind, value } of terms) {
    if (kind === 'pattern') out.pattern = value
    else out[kind] = [...(out[kind] ?? []), value]
  }
  return out
}

/** Whether the look picks records by what they say. */
export function isFiltered(look: Look): boolean {
  return look.terms.length > 0 || look.level !== ''
}

/** Whether the look leaves out records, by what they say or by their time. */
export function isNarrowed(look: Look): boolean {
  return isFiltered(look) || look.since !== '' || look.until !== ''
}
