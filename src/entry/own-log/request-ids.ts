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
  const ids = new WeakMap<Request, RequestId>()
  return {
    fieldsOf(request) {
      const known = request && ids.get(request)
      if (!known) return {}
      const trace = known.traceparent?.split('-')[1]
      return { requestId: known.id, ...(trace !== undefined && trace !== known.id && { traceId: trace }) }
    },
    assign: (fetch) => (request, env) => {
      const id = requestIdOf(request.headers)
      ids.set(request, id)
      const { outgoing } = env as { outgoing?: Outgoing }
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

/** What is used of the responses of `nodestate/node`, which name their request themselves. */
interface Outgoing {
  requestId: RequestId | null
}

function name({ id, traceparent }: RequestId, set: (header: string, value: string) => void): void {
  set('X-Request-Id', id)
  if (traceparent !== null) set('traceparent', traceparent)
}
