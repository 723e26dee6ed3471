/** The id of a request, from its headers or generated. */
export interface RequestId {
  id: string
  traceparent: string | null
}

const ID = /^[\w.:+/=@-]{1,128}$/
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/

/**
 * `X-Request-Id` if it is harmless in a log line, otherwise the trace id of a W3C `traceparent`, otherwise a new one.
 * Both headers go out again as they came in. `header` gives the value of one, by its name in lower case.
 */
export function requestIdOf(header: (name: string) => string | null | undefined): RequestId {
  const given = header('x-request-id') ?? null
  const parent = header('traceparent') ?? null
  const trace = parent === null ? null : TRACEPARENT.exec(parent)
  const valid = trace !== null && !/^0+$/.test(trace[1]!) && !parent!.startsWith('ff')
  const traceparent = valid ? parent : null
  if (given !== null && ID.test(given)) return { id: given, traceparent }
  return { id: valid ? trace[1]! : crypto.randomUUID(), traceparent }
}

/** The id is kept on the request itself, which is cheaper than a WeakMap. */
const KEPT = Symbol('id')

interface Named {
  [KEPT]?: RequestId
}

/** The parts of the bindings of `nodestate/node` used here, whose responses name their request themselves. */
interface Bindings {
  incoming?: { headers: Record<string, string | undefined> }
  outgoing?: { requestId?: RequestId | null }
}

/**
 * Gives a request its id. Returns what adds it to the answer, or null where that is not needed: the server does it, or
 * the request already has an id.
 */
export function assignId(request: Request, bindings: unknown): ((response: Response) => void) | null {
  if ((request as Named)[KEPT]) return null
  const { incoming, outgoing } = (bindings ?? {}) as Bindings
  const id = requestIdOf(incoming ? (name) => incoming.headers[name] : (name) => request.headers.get(name))
  ;(request as Named)[KEPT] = id
  if (outgoing && 'requestId' in outgoing) {
    outgoing.requestId = id
    return null
  }
  return ({ headers }) => {
    headers.set('X-Request-Id', id.id)
    if (id.traceparent !== null) headers.set('traceparent', id.traceparent)
  }
}

/** Gives a request that belongs to another one the same id. */
export function shareId(request: Request, other: Request): void {
  const known = (request as Named)[KEPT]
  if (known) (other as Named)[KEPT] = known
}

/** The id that a request was given; empty if it was given none. */
export function idOf(request: Request): string {
  return (request as Named)[KEPT]?.id ?? ''
}

/** The fields of a log line about a request. */
export function idFields(request: Request | undefined): Record<string, string> {
  const known = (request as Named | undefined)?.[KEPT]
  if (!known) return {}
  const trace = known.traceparent?.split('-')[1]
  return { requestId: known.id, ...(trace !== undefined && trace !== known.id && { traceId: trace }) }
}
