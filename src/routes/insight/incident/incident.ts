import { refusePeerRequest } from '../../../core/http/caller.ts'
import { COMMON_HEADERS } from '../../../core/http/conditional.ts'
import { respond } from '../../../core/http/sliced.ts'
import { redactText } from '../../../core/mask/redact.ts'
import type { Query } from '../../../core/query.ts'
import { type Inside, insideClients, insideRequest } from '../../../doors/client/inside.ts'
import { missingOf, notesOf } from '../../../doors/client/missing.ts'
import type { CompareQuery, LogComparison } from '../../../doors/client.ts'
import type { Clock } from '../../../kit/limits/clock.ts'
import { VERSION } from '../../../kit/version.ts'
import { parseZone, UTC } from '../../../log/time.ts'
import { collect } from './collect.ts'
import { documentOf } from './document.ts'
import { STYLE } from './style.ts'

/** What an incident is given of the app that it belongs to. */
export interface IncidentService {
  inside: Inside
  isFleet: boolean
  /** Whether there is a page that links can lead to. */
  hasPage: boolean
  /** The zone of log times that do not name one. @default UTC */
  timezone: string | undefined
  clock: Clock
}

const PATH = '/api/v1/log/incident'

/**
 * `GET /api/v1/log/incident`: a range of time as one HTML file to hand over. Everything in it is asked from the app itself,
 * with the token of the request, so that it holds what that may see, within the budgets of each resource.
 */
export async function showIncident(
  request: Request,
  { given }: Query,
  service: IncidentService,
): Promise<Response> {
  const { isFleet, clock, timezone } = service
  if (isFleet) refusePeerRequest(request)
  const { url, signal, method } = request
  const { origin, pathname, search } = new URL(url)
  const compared = await service.inside(
    insideRequest(request, new URL(`/api/v1/log/compare${search}`, origin), {
      method,
      headers: { Accept: request.headers.get('Accept') ?? '*/*' },
    }),
  )
  // What is wrong with the request is said as the comparison says it.
  if (!compared.ok) return compared
  const named = (name: string) => `attachment; filename="${name}.html"`
  if (method === 'HEAD') return respond(null, { ...HEADERS, 'Content-Disposition': named('incident') })
  const zone = timezone === undefined ? UTC : (parseZone(timezone) ?? UTC)
  const comparison = {
    ...((await compared.json()) as LogComparison),
    notes: notesOf(compared),
    missing: missingOf(compared),
  }
  const incident = await collect(queryOf(search, given), comparison, {
    ...insideClients(request, service.inside),
    isFleet,
    now: clock.now(),
    signal,
  })
  const base = origin + pathname.slice(0, -PATH.length)
  const html = await documentOf(incident, {
    now: clock.now(),
    version: VERSION,
    styleHash: await hashOf(STYLE),
    time: (ms) => zone.format(ms),
    zone: zone.name,
    link: (query) => `${base}${service.hasPage ? '/#' : '/api/v1/log/view?'}${withoutSecrets(query)}`,
  })
  const start = new Date(comparison.range.from).toISOString().replace(/[:.]|\d{3}Z/g, '')
  const told = ['X-Nodestate-Note', 'X-Nodestate-Missing'].flatMap((name) => {
    const value = compared.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return respond(html, {
    ...HEADERS,
    ...Object.fromEntries(told),
    'Content-Disposition': named(`incident-${start}Z`),
  })
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  ...COMMON_HEADERS,
  // It is downloaded; should a browser show it all the same, then without anything of this origin.
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** The parameters that were given, as the client takes them. */
function queryOf(search: string, given: readonly string[]): CompareQuery {
  const params = new URLSearchParams(search)
  const inClient = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const entries = given.map((name) => [inClient(name), params.getAll(name)])
  return Object.fromEntries(entries) as unknown as CompareQuery
}

/** A query string for a link, without the values that hold a secret. */
function withoutSecrets(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(
    ([name, value]) => redactText(value) === value && redactText(`${name}=${value}`) === `${name}=${value}`,
  )
  return new URLSearchParams(kept).toString()
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}
