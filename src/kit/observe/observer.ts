import { lengthOf, notesOf, respond, streamOf } from '../../core/http/sliced.ts'
import { slicesOf, streamLike, tapped } from '../../store/fast.ts'
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

/**
 * The same answer; `ended` gets the length of its body, null where unknown, and the reason if it failed. `sent` gets the
 * length so far, after each slice.
 */
export function watchBody(
  response: Response,
  ended: (bytes: number | null, failure: unknown) => void,
  sent: (bytes: number) => void = () => {},
) {
  const body = streamOf(response)
  if (body === undefined) {
    ended(lengthOf(response), null)
    return response
  }
  return respond(watchedStream(body, ended, sent), response.headers, response.status)
}

/** The same stream, reporting once when it ends, fails or is cancelled. */
function watchedStream(
  body: ReadableStream<Uint8Array>,
  ended: (bytes: number, failure: unknown) => void,
  sent: (bytes: number) => void,
) {
  let bytes = 0
  let isOver = false
  const end = (failure: unknown) => {
    if (!isOver) ended(bytes, failure)
    isOver = true
  }
  const take = (slice: Uint8Array | null) => {
    if (slice === null) {
      end(null)
      return null
    }
    bytes += slice.length
    sent(bytes)
    return slice
  }
  const fail = (error: unknown): never => {
    end(error)
    throw error
  }
  const slices = tapped(slicesOf(body), take, fail)
  const cancel = () => {
    end(null)
    slices.cancel()
  }
  return streamLike(body, { ...slices, cancel })
}
