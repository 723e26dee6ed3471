import type { Grant } from '../../core/access/grant.ts'
import { Problem } from '../../core/http/problem.ts'
import { respond } from '../../core/http/sliced.ts'
import { parseShallow } from '../../kit/limits/shallow-json.ts'
import { parseZone, UTC } from '../../log/time.ts'
import { EndlessError, textOf } from '../client/body.ts'
import { insideClients } from '../client/inside.ts'
import { isTool, loadProtocol, serverFor } from './protocol.ts'
import { type McpService, noteCall } from './service.ts'

const MOST_BYTES = 64 * 1024
const METHODS = 'POST, OPTIONS'
/** What the protocol's clients send, besides what every route allows. */
const HEADERS = 'Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id'

const HEADERS_OF_ANSWERS = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' }

/** The Model Context Protocol at `POST /mcp`: assistants read logs and configurations. */
export async function answer(service: McpService): Promise<Response> {
  const response = await service.guarded(async (request, grant) => {
    checkOrigin(request, service.corsOrigins)
    if (request.method === 'OPTIONS') return respond(null, { Allow: METHODS, ...HEADERS_OF_ANSWERS }, 204)
    if (request.method !== 'POST')
      throw new Problem(
        'method-not-allowed',
        'Assistants call tools here, with POST; see docs/integrations.md.',
        {
          headers: { Allow: METHODS },
        },
      )
    return speak(request, grant, service)
  })
  // A preflight says what other routes allow.
  if (response.headers.has('Access-Control-Allow-Methods')) {
    response.headers.set('Access-Control-Allow-Methods', 'POST')
    response.headers.append('Access-Control-Allow-Headers', HEADERS)
  }
  return response
}

/**
 * A web page can send a POST to any address that its browser reaches, and the protocol's handler answers every origin:
 * only pages of the service itself, and of origins that the operator names, may call tools.
 */
function checkOrigin({ url, headers }: Request, allowed: readonly string[]): void {
  const origin = headers.get('Origin')
  if (origin === null || allowed.includes('*') || allowed.includes(origin)) return
  const own = headers.get('Host') ?? new URL(url).host
  // A proxy may end TLS, so that the scheme differs.
  if (URL.canParse(origin) && new URL(origin).host === own.toLowerCase()) return
  throw new Problem(
    'foreign-origin',
    'Pages of this origin may not call tools here; the operator can allow it with --cors-origin.',
  )
}

/** Answers a message of the protocol. */
async function speak(request: Request, grant: Grant, service: McpService): Promise<Response> {
  const message = parsed(await bodyOf(request))
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return refusal(-32600, 'Send one JSON-RPC message, as an object; several at once are not understood.')
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } | null }
  const call = noteCall(request, method === 'tools/call' && isTool(params?.name) ? params.name : null)
  const inside = insideClients(request, (asked) => {
    const { pathname, search } = new URL(asked.url)
    call.reads.push(pathname + search)
    return service.fetch(asked)
  })
  const counter = service.registry?.counter('nodestate_mcp_calls', 'Calls of tools, by tool and outcome.')
  const { timezone, isFleet, clock, onError } = service
  const caller = {
    ...inside,
    isFleet,
    clock,
    zone: timezone === undefined ? UTC : (parseZone(timezone) ?? UTC),
    scopes: grant.scopes,
    onCall: (tool: string, outcome: string) => counter?.add(1, { tool, outcome }),
    onError,
  }
  const protocol = await loadProtocol()
  const handler = protocol.createMcpHandler(() => serverFor(caller, protocol), { onerror: () => {} })
  const { body, status, headers } = await handler.fetch(request, { parsedBody: message })
  const kept = new Headers(headers)
  for (const [name, value] of Object.entries(HEADERS_OF_ANSWERS)) kept.set(name, value)
  return new Response(body, { status, headers: kept })
}

/**
 * The body of a request as text. It is not read further than a message may be long, but as far as that it is, whatever its
 * length is said to be: a local worker loses its connection when a body is left unread.
 */
async function bodyOf(request: Request): Promise<string> {
  const tooLarge = () =>
    new Problem('request-too-large', `A message may have ${MOST_BYTES / 1024} KiB; send a smaller one.`)
  try {
    return request.body === null ? '' : await textOf(new Response(request.body), MOST_BYTES)
  } catch (error) {
    throw error instanceof EndlessError ? tooLarge() : error
  }
}

/** A message, or undefined if it is none. Deep nesting is refused, as in everything that others wrote. */
function parsed(text: string): unknown {
  try {
    return parseShallow(text)
  } catch {
    return undefined
  }
}

function refusal(code: number, message: string): Response {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
  return respond(body, { 'Content-Type': 'application/json', ...HEADERS_OF_ANSWERS }, 400)
}
