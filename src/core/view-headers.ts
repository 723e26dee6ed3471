import { type Cursor, encodeCursor } from '../log/text/cursor.ts'
import { acceptedTypes } from './http/accept.ts'
import { COMMON_HEADERS } from './http/conditional.ts'
import { bad } from './http/params.ts'
import type { Query } from './query.ts'

/** Clients that accept JSON lines or events get another answer. */
export const VARY = { Vary: 'Accept' } as const
export const TEXT_HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  ...COMMON_HEADERS,
  ...VARY,
} as const

const TYPES = {
  text: TEXT_HEADERS['Content-Type'],
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
} as const

export type Format = keyof typeof TYPES

/** How the names of exports end. */
export const ENDINGS = { text: 'txt', ndjson: 'ndjson', csv: 'csv' } as const

/** How a view is sent, and the headers that follow from it. */
export function formatOf(request: Request, query: Query) {
  const format: Format = query.format ?? acceptedFormat(request) ?? 'text'
  if (format === 'csv' && query.follow)
    throw bad('format', 'is csv together with follow; a follow is text or ndjson, so give one of these')
  if (format === 'csv' && query.context !== undefined)
    throw bad('context', 'was given together with format=csv; take text or ndjson, or leave it out')
  if (format !== 'csv' && query.columns !== undefined)
    throw bad('columns', 'was given without format=csv; add that, or leave it out')
  return { format, common: { ...TEXT_HEADERS, 'Content-Type': TYPES[format] } }
}

/** The format of records that the Accept header names: JSON lines, or else a table; null if it names neither. */
export function acceptedFormat(request: Request): 'ndjson' | 'csv' | null {
  const accept = request.headers.get('Accept')
  if (!accept || !/ndjson|csv/i.test(accept)) return null
  const types = acceptedTypes(accept)
  if (types.has(TYPES.ndjson)) return 'ndjson'
  return types.has('text/csv') ? 'csv' : null
}

/** The Link header of a view: relative references that repeat the request, so that a client only has to follow them. */
export function linkHeader(query: string, prev: Cursor | null, next: Cursor): string {
  return linksTo(query, prev && encodeCursor(prev), encodeCursor(next))
}

export function linksTo(query: string, before: string | null, after: string): string {
  const next = `<?${query}&after=${after}>; rel="next"`
  return before === null ? next : `<?${query}&before=${before}>; rel="prev", ${next}`
}
