import { acceptedTypes } from '../../http/accept.ts'
import { COMMON_HEADERS } from '../../http/conditional.ts'

/** Clients that accept JSON lines or events get another answer. */
export const VARY = { Vary: 'Accept' } as const
/** The type of log text. */
export const TEXT_TYPE = 'text/plain; charset=utf-8'
/** The headers of every answer with log text. */
export const TEXT_HEADERS = { 'Content-Type': TEXT_TYPE, ...COMMON_HEADERS, ...VARY } as const

/** Whether the Accept header requests records as JSON lines. */
export function wantsNdjson(request: Request): boolean {
  const accept = request.headers.get('Accept')
  return accept?.includes('ndjson') === true && acceptedTypes(accept).has('application/x-ndjson')
}
