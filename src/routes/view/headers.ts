import { acceptedTypes } from '../../http/accept.ts'
import { COMMON_HEADERS } from '../../http/conditional.ts'

/** Clients that accept JSON lines or events get another answer. */
export const VARY = { Vary: 'Accept' } as const
export const TEXT_TYPE = 'text/plain; charset=utf-8'
export const TEXT_HEADERS = { 'Content-Type': TEXT_TYPE, ...COMMON_HEADERS, ...VARY } as const

/**
 * Proxies and middleware must pass a follow on as it comes. nginx buffers unless told otherwise; `no-transform` stops a
 * compressor that would hold back short writes, such as hono/compress; and a follow has a unique ETag, because
 * hono/etag reads an answer without one to its end, which never comes.
 */
export const FOLLOW_HEADERS = {
  ...COMMON_HEADERS,
  ...VARY,
  'Cache-Control': `${COMMON_HEADERS['Cache-Control']}, no-transform`,
  'X-Accel-Buffering': 'no',
} as const

/** Whether the Accept header requests records as JSON lines. */
export function wantsNdjson(request: Request): boolean {
  const accept = request.headers.get('Accept')
  return accept?.includes('ndjson') === true && acceptedTypes(accept).has('application/x-ndjson')
}
