import { callSite } from './log-line.ts'
import type { OwnLog } from './own-log.ts'

/** What a server calls for each request. The second argument is the runtime's own. */
export type Fetch<E> = (request: Request, env: E) => Response | Promise<Response>

const REQUEST = callSite('Server', 'Request')
/** Longer targets are cut: 16 KiB of URL in each line would rotate the log away. */
const LONGEST = 1024
// No `?` in the name: a row of 15,000 of them would be read to its end from each, 400 ms of a blocked event loop.
const SECRET = /([?&][^=&#?]*(?:token|secret|passw(?:or)?d|key|credential|auth|signature)s?=)[^&#]*/gi

/**
 * Logs each request at info: method, target, status, milliseconds until the head of the answer was ready.
 * When info is not written, `fetch` comes back as it is, and the log costs nothing.
 */
export function withAccessLog<E>(fetch: Fetch<E>, log: OwnLog, token: string | null): Fetch<E> {
  if (!log.writes('info')) return fetch
  return (request, env) => {
    const start = performance.now()
    const done = (response: Response) => {
      const ms = Math.round((performance.now() - start) * 100) / 100
      log.info(REQUEST, `${request.method} ${safeTarget(request.url, token)} ${response.status}`, { ms })
      return response
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(done) : done(response)
  }
}

/** Path and query of a URL for the log: no token, no value of a parameter that names a secret, not too long. */
export function safeTarget(url: string, token: string | null): string {
  const slash = url.indexOf('/', url.indexOf('://') + 3)
  let target = slash < 0 ? '/' : url.slice(slash)
  if (target.includes('=')) target = target.replace(SECRET, '$1***')
  if (token !== null) {
    target = target.replaceAll(token, '***').replaceAll(encodeURIComponent(token), '***')
  }
  return target.length > LONGEST ? `${target.slice(0, LONGEST)}…` : target
}
