import { respond } from './sliced.ts'

/** The headers that a page of another origin may read. */
const EXPOSED =
  'ETag, Link, Retry-After, Content-Range, Content-Disposition, X-Nodestate-Note, X-Nodestate-Missing, X-Nodestate-Settled'
const ALLOWED_HEADERS = 'Authorization, Accept, If-None-Match, If-Range, Range, Last-Event-ID'

/** CORS for these origins; `*` allows all. Null when there are none. */
export function corsFor(origins: readonly string[]) {
  if (origins.length === 0) return null
  const any = origins.includes('*')
  const named = new Set(origins)
  const allowed = (request: Request): string | null => {
    const origin = request.headers.get('Origin')
    if (origin === null) return null
    return any ? '*' : named.has(origin) ? origin : null
  }
  return {
    /** The answer to a preflight; null when the request is not one or its origin is not allowed. */
    preflight(request: Request): Response | null {
      if (request.method !== 'OPTIONS' || !request.headers.has('Access-Control-Request-Method')) return null
      const origin = allowed(request)
      if (origin === null) return null
      const headers = {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Methods': 'GET, HEAD',
        'Access-Control-Allow-Headers': ALLOWED_HEADERS,
        'Access-Control-Max-Age': '600',
        Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
        'X-Content-Type-Options': 'nosniff',
      }
      return respond(null, headers, 204)
    },
    /** Adds the headers that let an allowed origin read the answer. */
    apply(request: Request, response: Response): void {
      if (!any) response.headers.append('Vary', 'Origin')
      const origin = allowed(request)
      if (origin === null) return
      response.headers.set('Access-Control-Allow-Origin', origin)
      response.headers.set('Access-Control-Expose-Headers', EXPOSED)
    },
  }
}
