import { bytesResponse, streamOf } from '../http/sliced.ts'
import { SlicedStream } from '../store/fast.ts'
import type { Grant, Scope } from './grant.ts'

/** How often the token of an open answer is checked again, in milliseconds: it ends within five seconds. */
const CHECK_MS = 3000

/** The last event of a follow whose token no longer allows it. A client that reconnects gets the problem. */
const REVOKED = new TextEncoder().encode('event: revoked\ndata: {}\n\n')

/** Why an answer was cut. */
class RevokedError extends Error {
  constructor() {
    super('The token no longer allows this answer')
    this.name = 'RevokedError'
  }
}

/**
 * The same answer, ending soon after its token stops allowing it: a stream of events with the event `revoked`, any other
 * body by being cut. `grantNow` throws for a token that is not valid any more.
 */
export function whileGranted(
  response: Response,
  need: Scope | 'token',
  grant: Grant,
  grantNow: () => Promise<Grant>,
): Response {
  const body = streamOf(response)
  if (body === undefined) return response
  const isAllowed = async () => {
    try {
      return covers(await grantNow(), grant, need)
    } catch {
      return false
    }
  }
  const isEvents = response.headers.get('Content-Type')?.startsWith('text/event-stream') === true
  const watched =
    body instanceof SlicedStream
      ? whileAllowed(body, isAllowed)
      : piecesWhileAllowed(body, isAllowed, isEvents)
  return bytesResponse(watched, response.headers, response.status)
}

/** Whether a grant still allows what another one did. */
function covers(now: Grant, before: Grant, need: Scope | 'token'): boolean {
  if (now === before) return true
  const includes = (patterns: readonly string[] | null, others: readonly string[] | null) =>
    patterns === null || others?.every((pattern) => patterns.includes(pattern)) === true
  return (
    (need === 'token' || now.scopes.has(need)) &&
    includes(now.files, before.files) &&
    includes(now.nodes, before.nodes)
  )
}

type IsAllowed = () => Promise<boolean>

/** Checks until it is stopped, and calls `revoke` once. Started by the first read: nobody may ever read a body. */
function watch(isAllowed: IsAllowed, revoke: () => void): () => void {
  const timer = setInterval(async () => {
    if (await isAllowed()) return
    clearInterval(timer)
    revoke()
  }, CHECK_MS)
  return () => clearInterval(timer)
}

function whileAllowed(body: SlicedStream, isAllowed: IsAllowed): SlicedStream {
  let isRevoked = false
  let stop: (() => void) | null = null
  const take = (slice: Uint8Array | null) => {
    if (slice === null) stop?.()
    return slice
  }
  const fail = (error: unknown): never => {
    stop?.()
    throw error
  }
  return new SlicedStream({
    next() {
      stop ??= watch(isAllowed, () => {
        isRevoked = true
      })
      if (isRevoked) {
        body.cancel()
        throw new RevokedError()
      }
      const slice = body.next()
      return slice instanceof Promise ? slice.then(take, fail) : take(slice)
    },
    release: (slice) => body.release(slice),
    cancel() {
      stop?.()
      body.cancel()
    },
  })
}

/** A follow may wait for its next piece for hours, so it is ended from outside. */
function piecesWhileAllowed(
  body: ReadableStream<Uint8Array>,
  isAllowed: IsAllowed,
  isEvents: boolean,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOver = false
  let stop: (() => void) | null = null
  const end = () => {
    isOver = true
    stop?.()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        stop ??= watch(isAllowed, () => {
          if (isOver) return
          isOver = true
          reader.cancel().catch(() => {})
          if (!isEvents) return controller.error(new RevokedError())
          controller.enqueue(REVOKED)
          controller.close()
        })
        try {
          const { done, value } = await reader.read()
          if (isOver) return
          if (!done) return controller.enqueue(value)
          end()
          controller.close()
        } catch (error) {
          if (isOver) return
          end()
          throw error
        }
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
