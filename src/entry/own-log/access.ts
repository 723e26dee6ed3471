import { origin } from './log-line.ts'
import type { OwnLog } from './own-log.ts'

/** What a server calls for each request. The second argument is the runtime's own. */
export type Fetch = (request: Request, env: object) => Response | Promise<Response>

const REQUEST = origin('entry/own-log/access.ts', 'Server', 'Request')
/** Longer targets are cut: 16 KiB of URL in each line would rotate the log away. */
const LONGEST = 1024
const SECRET_NAME = /(?:token|secret|passw(?:or)?d|key|credential|auth|signature)s?$/i

export interface AccessLogOptions {
  /** The single token, which no line may show. */
  token?: string | null
  /** The name of the token that a request came with. */
  nameOf?: (request: Request) => string | undefined
  /** More fields for the line of a request. */
  fieldsOf?: (request: Request) => Record<string, string>
}

/**
 * Logs each request at info: method, target, status, milliseconds until the head of the answer was ready.
 * If info is not logged, `fetch` is returned unchanged, and the log costs nothing.
 */
export function withAccessLog(
  fetch: Fetch,
  log: OwnLog,
  { token = null, nameOf = () => undefined, fieldsOf = () => ({}) }: AccessLogOptions = {},
): Fetch {
  if (!log.writes('info')) return fetch
  return (request, env) => {
    const start = performance.now()
    const done = (response: Response) => {
      const ms = Math.round((performance.now() - start) * 100) / 100
      const name = nameOf(request)
      const context = { ms, ...(name !== undefined && { client: name }), ...fieldsOf(request) }
      log.info(REQUEST, `${request.method} ${safeTarget(request.url, token)} ${response.status}`, context)
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
  if (target.includes('=')) target = withoutSecretValues(target)
  if (token !== null) target = withoutToken(target, token)
  return target.length > LONGEST ? `${target.slice(0, LONGEST)}…` : target
}

/** Each parameter separately, in one pass: a pattern over the whole URL took 400 ms for 15,000 question marks. */
function withoutSecretValues(target: string): string {
  const query = target.indexOf('?')
  if (query < 0) return target
  const parts = target.slice(query).split(/(?=[&#])/)
  const shown = parts.map((part) => {
    const equals = part.indexOf('=')
    if (equals < 0 || part.startsWith('#')) return part
    return SECRET_NAME.test(decodedOnce(part.slice(1, equals))) ? `${part.slice(0, equals)}=***` : part
  })
  return target.slice(0, query) + shown.join('')
}

/** How often a URL may be encoded on its way through proxies. */
const ENCODINGS = 3

/**
 * A token can hide behind percent-encoding: `%74oken`, lower and upper case, encoded twice. The text is decoded while
 * tracking the position of each byte, and the token is masked at its original position.
 */
function withoutToken(target: string, token: string): string {
  let masked = target.replaceAll(token, '***')
  for (let depth = 1; depth <= ENCODINGS && masked.includes('%'); depth++) {
    const { text, starts } = decoded(masked, depth)
    let at = text.lastIndexOf(token)
    while (at >= 0) {
      masked = `${masked.slice(0, starts[at])}***${masked.slice(starts[at + token.length])}`
      at = at < token.length ? -1 : text.lastIndexOf(token, at - token.length)
    }
  }
  return masked
}

/** The text after this many rounds of decoding, and the original position of each character and of the end. */
function decoded(original: string, rounds: number): { text: string; starts: number[] } {
  let text = original
  let starts = Array.from({ length: original.length + 1 }, (_, i) => i)
  for (let round = 0; round < rounds; round++) {
    let next = ''
    const places: number[] = []
    for (let i = 0; i < text.length; ) {
      const hex = text[i] === '%' ? /^[\da-f]{2}/i.exec(text.slice(i + 1, i + 3)) : null
      next += hex ? String.fromCharCode(Number.parseInt(hex[0], 16)) : text[i]
      places.push(starts[i]!)
      i += hex ? 3 : 1
    }
    places.push(starts[text.length]!)
    text = next
    starts = places
  }
  return { text, starts }
}

function decodedOnce(text: string): string {
  return text.includes('%') ? decoded(text, 1).text : text
}
