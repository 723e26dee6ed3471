import { Problem, problemResponse } from '../../core/http/problem.ts'
import { assignId } from '../../kit/observe/request-id.ts'
import type { Fetch } from '../own-log/access.ts'
import { address } from '../settings/kinds.ts'
import { isLoopback, type Settings } from '../settings.ts'

/** Probes are answered under any name: they show nothing. */
const PROBES = /^[^/]*\/\/[^/]*\/(healthz|readyz)(\?|$)/

/** Whether requests need a token or a client certificate. */
export function isGuarded({
  token,
  tokens,
  tlsClientCa,
}: Pick<Settings, 'token' | 'tokens' | 'tlsClientCa'>): boolean {
  return token !== null || tokens !== null || tlsClientCa !== null
}

/** Whether everybody on this machine may read everything, which includes every web page in a browser on it. */
export function isOpenOnLoopback({ host, insecure, allowHost, ...settings }: Settings): boolean {
  return isLoopback(host) && !isGuarded(settings) && !insecure && allowHost.length === 0
}

/**
 * Answers only requests for a local name. A web page may let its own name point to 127.0.0.1, and its scripts then
 * count as the same origin as this service (DNS rebinding): the Host header tells them apart.
 */
export function forLocalHosts(fetch: Fetch, own: string): Fetch {
  let last = ''
  return (request, env) => {
    const { incoming } = env as { incoming?: { headers: { host?: string } } }
    const host = incoming ? incoming.headers.host : (request.headers.get('Host') ?? undefined)
    // HTTP/1.0 needs no host, and browsers always send one.
    if (host === undefined || host === last || PROBES.test(request.url)) return fetch(request, env)
    if (!isLocalHost(host, own)) return refused(request, env)
    last = host
    return fetch(request, env)
  }
}

/** `localhost`, a name below it, an address, or the machine's own name; with or without a port. */
export function isLocalHost(host: string, own: string): boolean {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  if (name === 'localhost' || name.endsWith('.localhost') || name === own.toLowerCase()) return true
  return address.parse(name.replace(/^\[(.*)\]$/, '$1')) !== null
}

function refused(request: Request, env: object): Response {
  const problem = new Problem(
    'unknown-host',
    'This service answers only local names; use localhost or an address, or allow this name with --allow-host NAME.',
  )
  const response = problemResponse(problem, request.headers.get('Accept'))
  assignId(request, env)?.(response)
  return response
}
