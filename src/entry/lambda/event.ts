import { methodNotAllowed } from '../../core/http/problem.ts'

/** An event of a function URL or of an API Gateway HTTP API (payload format 2.0), reduced to the parts used here. */
export interface LambdaEventV2 {
  rawPath: string
  rawQueryString: string
  headers?: Record<string, string | undefined> | undefined
  pathParameters?: Record<string, string | undefined> | null | undefined
  requestContext: { domainName?: string | undefined; stage?: string | undefined; http: { method: string } }
}

/** An event of an API Gateway REST API (payload format 1.0), reduced to the parts used here. */
export interface LambdaEventV1 {
  httpMethod: string
  path: string
  /** The route in the API: `/{proxy+}`. */
  resource?: string | undefined
  pathParameters?: Record<string, string | undefined> | null | undefined
  headers?: Record<string, string | undefined> | null | undefined
  multiValueHeaders?: Record<string, string[] | undefined> | null | undefined
  queryStringParameters?: Record<string, string | undefined> | null | undefined
  multiValueQueryStringParameters?: Record<string, string[] | undefined> | null | undefined
  requestContext: { domainName?: string | undefined; stage?: string | undefined; elb?: unknown }
}

/** An event of an Application Load Balancer: like a REST API's, with `requestContext.elb`. */
export type LambdaEvent = LambdaEventV2 | LambdaEventV1

export function isFromLoadBalancer(event: LambdaEvent): event is LambdaEventV1 {
  return 'httpMethod' in event && event.requestContext.elb !== undefined
}

/** The event as a request. Throws if it is not one. */
export function toRequest(event: LambdaEvent): Request {
  const { method, path, query, headers, host } = 'httpMethod' in event ? readV1(event) : readV2(event)
  // The Fetch standard has no such requests.
  if (/^(CONNECT|TRACE|TRACK)$/i.test(method)) methodNotAllowed()
  // A gateway may have decoded the path: `?` and `#` are ordinary characters in it.
  const target = (path || '/').replace(/[?#]/g, encodeURIComponent) + (query ? `?${query}` : '')
  return new Request(`https://${headers.get('Host') ?? host ?? 'localhost'}${target}`, { method, headers })
}

function readV2(event: LambdaEventV2) {
  const { http, stage = '$default', domainName } = event.requestContext
  const headers = new Headers(pairs(null, event.headers))
  const inStage = event.rawPath === `/${stage}` || event.rawPath.startsWith(`/${stage}/`)
  const path = withoutBase(inStage ? event.rawPath.slice(stage.length + 1) : event.rawPath, event)
  return { method: http.method, path, query: event.rawQueryString, headers, host: domainName }
}

/** The path of a REST API comes without its stage. */
function readV1(event: LambdaEventV1) {
  const headers = new Headers(pairs(event.multiValueHeaders, event.headers))
  // A load balancer passes the query on as it came; a gateway decodes it.
  const written = isFromLoadBalancer(event) ? (text: string) => text : encodeURIComponent
  const query = pairs(event.multiValueQueryStringParameters, event.queryStringParameters)
    .map(([name, value]) => `${written(name)}=${written(value)}`)
    .join('&')
  return {
    method: event.httpMethod,
    path: event.resource === '/' ? '/' : withoutBase(event.path, event),
    query,
    headers,
    host: event.requestContext.domainName,
  }
}

/**
 * The path behind the base path of a custom domain, and behind the fixed part of a route such as `/db-4/{proxy+}`: the
 * gateway passes it on as the parameter `proxy`. There it is decoded, so only its number of segments is used.
 */
function withoutBase(path: string, { pathParameters }: Pick<LambdaEventV1, 'pathParameters'>): string {
  const proxy = pathParameters?.proxy
  if (proxy === undefined) return path
  const count = proxy.replace(/\/$/, '').split('/').length
  const segments = path.replace(/\/$/, '').split('/').slice(1)
  const own = segments.slice(-count).join('/')
  return segments.length > count && decoded(own) === decoded(proxy.replace(/\/$/, '')) ? `/${own}` : path
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Names with their values: all of them if the event has them, otherwise the last of each. */
function pairs(
  many: Record<string, string[] | undefined> | null | undefined,
  single: Record<string, string | undefined> | null | undefined,
): [string, string][] {
  if (many)
    return Object.entries(many).flatMap(([name, values = []]) =>
      values.map((v) => [name, v] as [string, string]),
    )
  return Object.entries(single ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined)
}
