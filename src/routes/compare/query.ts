import { rowsOf } from '../../core/parameter.ts'
import type { Query } from '../../core/query.ts'
import type { Difference } from '../../log/compare/findings.ts'
import type { Period } from '../../log/compare/sample.ts'
import { FLEET_PARAMETERS, PARAMETERS, type Values } from '../parameters/table.ts'

const KEPT = [...rowsOf(FLEET_PARAMETERS, 'difference'), ...rowsOf(PARAMETERS, 'difference')].filter(
  ({ name }) => !/^base-|^since$|^until$/.test(name),
)
/** The longest pattern that a view takes. */
const LONGEST = 2500

/** The query string of a view that shows the records of a difference; null if no view selects them. */
export function viewQuery(
  query: Query,
  { range, base, isByNode }: { range: Period; base: Period; isByNode: boolean },
  { kind, term, in: side, log, node }: Difference,
): string | null {
  const params = new URLSearchParams()
  // Where a log is silent on one node, others have its records.
  const isElsewhere = kind === 'silent' && isByNode
  const names: Partial<Record<string, readonly string[]>> = {
    node:
      node !== null && !isElsewhere ? [node] : side === 'base' && isByNode ? query['base-node'] : query.node,
    file: log ? [log.file] : (query.files ?? [query.file!]),
  }
  for (const { name } of KEPT) {
    const value = Object.hasOwn(names, name) ? names[name] : query[name as keyof Values]
    // A level or pattern that is found is one of those that were wanted.
    const isNarrowed = (name === 'level' && term.level) || (name === 'pattern' && term.pattern)
    if (value === undefined || value === false || isNarrowed) continue
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one))
  }
  // Several logs are read with their rotated files, so that one of them alone has to be, too.
  if (log?.rotated && !params.has('rotated')) params.append('rotated', 'true')
  const { from, to } = side === 'range' ? range : base
  params.append('since', new Date(from).toISOString())
  params.append('until', new Date(to).toISOString())
  if (term.level) params.append('level', term.level)
  if (term.where === '') return null
  if (term.where) params.append('where', term.where)
  if (term.pattern !== undefined) {
    if (term.pattern === '' || term.pattern.length > LONGEST) return null
    params.append('pattern', term.pattern)
  }
  return params.toString()
}
