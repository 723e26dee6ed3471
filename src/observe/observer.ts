import { notesOf } from '../http/sliced.ts'
import { watchBody } from '../http/watch-body.ts'
import type { Metrics } from './metrics.ts'
import { endSpan, startSpan, type Tracer } from './tracer.ts'

/** Reports the start of a request; the returned function wraps its response. */
export type Observer = (request: Request, route: string) => (response: Response) => Response

export function observerOf(metrics: Metrics | undefined, tracer: Tracer | undefined): Observer {
  return (request, route) => {
    const watch = metrics?.request(request, route)
    const span = tracer && startSpan(tracer, request, route)
    return (response) => {
      const { status } = response
      watch?.answered(status, notesOf(response))
      const ended = (bytes: number | null, failure: unknown) => {
        watch?.ended(bytes)
        if (span) endSpan(span, status, failure)
      }
      // The body of an answer to HEAD is never read, so it would never end.
      if (request.method !== 'HEAD') return watchBody(response, ended)
      ended(0, null)
      return response
    }
  }
}
