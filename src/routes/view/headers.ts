import { acceptedTypes } from '../../http/accept.ts'
import { COMMON_HEADERS } from '../../http/conditional.ts'
import { type Cursor, encodeCursor } from '../../log/text/cursor.ts'
import type { Query } from '../parameters/read.ts'

/** Clients that accept JSON lines or events get another answer. */
export const VARY = { Vary: 'Accept' } as const
export const TEXT_HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  ...COMMON_HEADERS,
  ...VARY,
} as const

/** Whether a view is sent as JSON lines, and the headers that follow from it. */
export function formatOf(request: Request, query: Query) {
  const isJson = query.format === undefined ? wantsNdjson(request) : query.format === 'ndjson'
  return {
    isJson,
    common: isJson ? { ...TEXT_HEADERS, 'Content-Type': 'application/x-ndjson' } : TEXT_HEADERS,
  }
}

/** Whether the Accept header requests records as JSON lines. */
export function wantsNdjson(request: Request): boolean {
  const accept = request.headers.get('Accept')
  return accept?.includes('ndjson') === true && acceptedTypes(accept).has('application/x-ndjson')
}

/** The Link header of a view: relative references that repeat the request, so that a client only has to follow them. */
export function linkHeader(query: string, prev: Cursor | null, next: Cursor): string {
  return linksTo(query, prev && encodeCursor(prev), encodeCursor(next))
}

export function linksTo(query: string, before: string | null, after: string): string {
  const next = `<?${query}&after=${after}>; rel="next"`
  return before === null ? next : `<?${query}&before=${before}>; rel="prev", ${next}`
}
