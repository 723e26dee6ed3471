import { type RequestId, requestIdOf } from '../../observe/request-id.ts'
import type { Fetch } from './access.ts'

/** The ids of the requests that are being answered. */
export interface RequestIds {
  /** The fields of a log line about a request. */
  fieldsOf(request: Request | undefined): Record<string, string>
  /** Gives each request its id, and each answer the headers that name it. */
  assign(fetch: Fetch): Fetch
}

/** Keeps the ids of requests for as long as the requests live. */
export function requestIds(): RequestIds {
  return {
    fieldsOf(request) {
      const known = (request as Named | undefined)?.[ID]
      if (!known) return {}
      const trace = known.traceparent?.split('-')[1]
      return { requestId: known.id, ...(trace !== undefined && trace !== known.id && { traceId: trace }) }
    },
    assign: (fetch) => (request, env) => {
      const { incoming, outgoing } = env as Bindings
      const id = requestIdOf(
        incoming ? (name) => incoming.headers[name] : (name) => request.headers.get(name),
      )
      ;(request as Named)[ID] = id
      if (outgoing) {
        outgoing.requestId = id
        return fetch(request, env)
      }
      const done = (response: Response) => {
        name(id, (header, value) => response.headers.set(header, value))
        return response
      }
      const response = fetch(request, env)
      return response instanceof Promise ? response.then(done) : done(response)
    },
  }
}

/** The id is kept on the request itself, which is cheaper than a WeakMap. */
const ID = Symbol('id')

interface Named {
  [ID]?: RequestId
}

/** What is used of the bindings of `nodestate/node`, whose responses name their request themselves. */
interface Bindings {
  incoming?: { headers: Record<string, string | undefined> }
  outgoing?: { requestId: RequestId | null }
}

function name({ id, traceparent }: RequestId, set: (header: string, value: string) => void): void {
  set('X-Request-Id', id)
  if (traceparent !== null) set('traceparent', traceparent)
}
