import { callOf } from '../../doors/mcp/service.ts'
import { idFields } from '../../kit/observe/request-id.ts'
import type { KnownTokens } from './known-tokens.ts'
import { origin } from './log-line.ts'
import type { OwnLog } from './own-log.ts'

/** What a server calls for each request. The second argument is the runtime's own. */
export type Fetch = (request: Request, env: object) => Response | Promise<Response>

const REQUEST = origin('entry/own-log/access.ts', 'Server', 'Request')
/** Longer targets are cut: 16 KiB of URL in each line would rotate the log away. */
const LONGEST = 1024
const SECRET_NAME = /(?:token|secret|passw(?:or)?d|key|credential|auth|signature)s?$/i

export interface AccessLogOptions {
  /** The tokens that no line may show. */
  tokens?: KnownTokens | null
  /** The name of the token that a request came with. */
  nameOf?: (request: Request) => string | undefined
}

/**
 * Logs each request at info: method, target, status, milliseconds until the head of the answer was ready.
 * If info is not logged, `fetch` is returned unchanged, and the log costs nothing.
 */
export function withAccessLog(
  fetch: Fetch,
  log: OwnLog,
  { tokens = null, nameOf = () => undefined }: AccessLogOptions = {},
): Fetch {
  if (!log.writes('info')) return fetch
  return (request, env) => {
    const start = performance.now()
    const done = (response: Response) => {
      const ms = Math.round((performance.now() - start) * 100) / 100
      const name = nameOf(request)
      const tool = callOf(request)?.tool
      const context = {
        ms,
        ...(name !== undefined && { client: name }),
        ...(tool && { tool }),
        ...idFields(request),
      }
      log.info(
        REQUEST,
        `${request.method} ${safeTarget(request.url, tokens, { own: bearerOf(request) })} ${response.status}`,
        context,
      )
      return response
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(done) : done(response)
  }
}

export interface TargetOptions {
  /** The token that the request came with, valid or not. */
  own?: string | undefined
  /** @default 1024 */
  longest?: number
}

/** Path and query of a URL, or of a path alone, for the log: no token, no value of a parameter that names a secret, not too long. */
export function safeTarget(
  url: string,
  tokens: KnownTokens | null,
  { own, longest = LONGEST }: TargetOptions = {},
): string {
  const slash = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  let target = slash < 0 ? '/' : url.slice(slash)
  const isSecret = (value: string) => value === own || tokens?.has(value) === true
  if (target.includes('?')) target = withoutSecretValues(target, isSecret)
  if (tokens !== null) target = withoutTokens(target, (text) => tokens.mask(text, own))
  return target.length > longest ? `${target.slice(0, longest)}…` : target
}

/** Each parameter separately, in one pass: a pattern over the whole URL took 400 ms for 15,000 question marks. */
function withoutSecretValues(target: string, isSecret: (value: string) => boolean): string {
  const query = target.indexOf('?')
  if (query < 0) return target
  const parts = target.slice(query).split(/(?=[&#])/)
  const shown = parts.map((part) => {
    const equals = part.indexOf('=')
    if (part.startsWith('#')) return part
    if (decodings(part.slice(equals < 0 ? 1 : equals + 1)).some(isSecret))
      return `${part.slice(0, Math.max(1, equals + 1))}***`
    if (equals < 0) return part
    return SECRET_NAME.test(decoded(part.slice(1, equals))) ? `${part.slice(0, equals)}=***` : part
  })
  return target.slice(0, query) + shown.join('')
}

/** The token that a request comes with. */
export function bearerOf({ headers }: Request): string | undefined {
  return /^Bearer +(\S+)/i.exec(headers.get('Authorization') ?? '')?.[1]
}

/** How often a URL may be encoded on its way through proxies. */
const ENCODINGS = 3

/** A token can hide behind percent-encoding: `%74oken`, in lower or upper case, twice. Then the decoded target is shown. */
function withoutTokens(target: string, mask: (text: string) => string): string {
  let masked = mask(target)
  for (let text = masked, depth = 0; depth < ENCODINGS && text.includes('%'); depth++) {
    text = decoded(text)
    const clean = mask(text)
    if (clean !== text) masked = text = clean
  }
  return masked
}

/** A text, and what it may have been before it was encoded. */
function decodings(text: string): string[] {
  const found = [text]
  for (let depth = 0; depth < ENCODINGS && found.at(-1)!.includes('%'); depth++)
    found.push(decoded(found.at(-1)!))
  return found
}

/** Decoded once, byte by byte: a target need not be valid UTF-8. */
function decoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
