import { rowsOf } from '../../core/parameter.ts'
import type { Query } from '../../core/query.ts'
import { FLEET_PARAMETERS, PARAMETERS, type Values } from './table.ts'

const VIEW = [...rowsOf(FLEET_PARAMETERS, 'view'), ...rowsOf(PARAMETERS, 'view')]
const KEPT = VIEW.filter((row) => row.role !== 'cursor')
const FILTERS = VIEW.filter((row) => row.role === 'filter')

/**
 * The parameters of a view as a query string that is safe in a header, for links to other pages of the same view:
 * those that were given, without cursors, in the order of the table.
 */
export function keptQuery(query: Query): string {
  const pairs: string[] = []
  for (const { name } of KEPT) {
    const value = name === 'file' ? (query.files ?? query.file) : query[name as keyof Values]
    if (value === undefined || value === false) continue
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${name}=${encodeURIComponent(String(one))}`)
  }
  return pairs.join('&')
}

/** The filters of a request but for its times, which depend on the clock and the zone of who reads them. */
export function filterQuery(query: Query): string {
  const pairs = FILTERS.filter(({ name }) => name !== 'since' && name !== 'until').flatMap(({ name }) =>
    [query[name as keyof Values] ?? []].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`),
  )
  return pairs.join('&')
}

/** What is decided by the service that merges, whoever reads the logs. */
const OF_MERGE: ReadonlySet<string> = new Set([
  ...['node', 'file', 'rotated', 'size', 'lines', 'first', 'before', 'after'],
  ...['format', 'columns', 'ansi', 'raw', 'download', 'follow', 'by', 'of', 'sort', 'limit'],
])

/**
 * Which records of a log were requested, as a query for the node that has the log; null if that cannot be said in one:
 * its times are whole milliseconds.
 */
export function handedQuery(query: Query, { since, until }: Record<'since' | 'until', number | null>) {
  const isSaid = (name: string) => OF_MERGE.has(name) || FILTERS.some((row) => row.name === name)
  const times = Object.entries({ since, until }).filter(([, time]) => time !== null)
  if (!query.given.every(isSaid) || !times.every(([, time]) => Number.isInteger(time))) return null
  const filters = filterQuery(query)
  const said = times.map(([name, time]) => `${name}=${new Date(time!).toISOString()}`)
  return [...said, ...(filters === '' ? [] : [filters])].join('&')
}

/** Which records of a log were requested, as text: every filter as given. */
export function filterKey(query: Query): string {
  return JSON.stringify(FILTERS.map(({ name }) => query[name as keyof Values] ?? null))
}
