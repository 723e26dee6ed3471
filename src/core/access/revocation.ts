import { type Clock, every } from '../../kit/limits/clock.ts'
import { SlicedStream, slicesOf, streamLike, tapped } from '../../store/fast.ts'
import { respond, streamOf } from '../http/sliced.ts'
import type { Grant, Scope } from './grant.ts'

/** How often the token of an open answer is checked again, in milliseconds: it ends within five seconds. */
const CHECK_MS = 3000

/** The last event of a follow whose token no longer allows it. A client that reconnects gets the problem. */
const REVOKED = new TextEncoder().encode('event: revoked\ndata: {}\n\n')

/** By what an answer is allowed. */
export interface GrantedAnswer {
  need: Scope | 'token'
  grant: Grant
  grantNow(): Grant | Promise<Grant>
  clock: Clock
}

/**
 * The same answer, ending soon after its token stops allowing it: a stream of events with the event `revoked`, any other
 * body by being cut. `grantNow` throws for a token that is not valid any more.
 */
export function whileGranted(response: Response, { need, grant, grantNow, clock }: GrantedAnswer): Response {
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
  return respond(whileAllowed(body, isAllowed, isEvents, clock), response.headers, response.status)
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

/** Checks begin with the first read: a body may never be read. */
function whileAllowed(
  body: ReadableStream,
  isAllowed: () => Promise<boolean>,
  isEvents: boolean,
  clock: Clock,
) {
  let endChecks: (() => void) | undefined
  let isRevoked = false
  let isTold = false
  const isSliced = body instanceof SlicedStream
  const check = async () => {
    if (await isAllowed()) return
    endChecks?.()
    isRevoked = true
    // A follow may wait for its next piece for hours, so it is ended from outside.
    if (!isSliced) slices.cancel()
  }
  const take = (slice: Uint8Array | null) => {
    if (isRevoked) return revoked()
    if (slice === null) endChecks?.()
    return slice
  }
  const revoked = () => {
    slices.cancel()
    if (!isEvents) throw new Error('The token no longer allows this answer')
    const last = isTold ? null : REVOKED
    isTold = true
    return last
  }
  const fail = (error: unknown): never => {
    endChecks?.()
    throw error
  }
  const slices = tapped(slicesOf(body), take, fail)
  return streamLike(body, {
    next() {
      endChecks ??= every(clock, CHECK_MS, check)
      return isRevoked ? revoked() : slices.next()
    },
    release: slices.release,
    cancel() {
      endChecks?.()
      slices.cancel()
    },
  })
}
