import type { Send } from './connect.ts'
import { type ServerEvent, serverEvents } from './events.ts'
import { missingOf } from './missing.ts'
import { ProblemError } from './problem.ts'
import type { FollowEvent, FollowOptions, ViewQuery } from './types.ts'

/** A connection that lasted this long and ended cleanly was not lost. */
const ORDERLY_MS = 1_000

/** The selected tail, then what is appended; a lost connection is resumed after the last record. */
export async function* follow(
  send: Send,
  query: ViewQuery,
  call: FollowOptions = {},
): AsyncGenerator<FollowEvent, void, undefined> {
  let lastId = call.lastId ?? null
  const first = call.backoff ?? 500
  let pause = first
  while (!call.signal?.aborted) {
    const attempt = new AbortController()
    const stop = () => attempt.abort(call.signal?.reason)
    call.signal?.addEventListener('abort', stop, { once: true })
    let error: Error
    try {
      const response = await send({
        path: 'log/view',
        query: { ...query, follow: true, ...(call.json ? { format: 'ndjson' } : {}) },
        accept: 'text/event-stream',
        signal: attempt.signal,
        headers: lastId === null ? {} : { 'Last-Event-ID': lastId },
      })
      const opened = Date.now()
      yield { type: 'open', missing: missingOf(response) }
      for await (const event of watched(response, attempt, call.silence ?? 60_000)) {
        pause = first
        if (event.id !== null) lastId = event.id
        const seen = followEvent(event)
        if (seen !== null) yield seen
      }
      // Some runtimes end a follow cleanly after a while: reconnect without reporting a loss.
      if (Date.now() - opened > ORDERLY_MS) continue
      error = new Error('The connection was closed.')
    } catch (cause) {
      if (call.signal?.aborted) return
      error = cause instanceof Error ? cause : new Error(String(cause))
      if (error instanceof ProblemError && !passes(error)) throw error
    } finally {
      call.signal?.removeEventListener('abort', stop)
      attempt.abort()
    }
    const asked = error instanceof ProblemError && error.retryAfter !== null ? error.retryAfter * 1000 : 0
    // Jitter, so that the followers of a restarted node do not all return at once.
    const retryIn = Math.max(asked, pause * (0.75 + Math.random() / 2))
    yield { type: 'lost', error, retryIn }
    await sleep(retryIn, call.signal)
    pause = Math.min(pause * 2, 30_000)
  }
}

function followEvent(event: ServerEvent): FollowEvent | null {
  const { id, data } = event
  if (event.event === '') return data === null ? null : { type: 'record', id, data }
  if (event.event === 'rotated' || event.event === 'truncated' || event.event === 'gap') {
    return { type: event.event, id, data: data ?? '' }
  }
  return null
}

/** Whether trying again may help. */
function passes(problem: ProblemError): boolean {
  return problem.status === 429 || (problem.status >= 500 && problem.status !== 501)
}

/** The events of one connection. A silent one is aborted, because a dead peer never closes it. */
async function* watched(response: Response, attempt: AbortController, silence: number) {
  if (response.body === null) return
  let timer = setTimeout(() => attempt.abort(), silence)
  const awake = () => {
    clearTimeout(timer)
    timer = setTimeout(() => attempt.abort(), silence)
  }
  try {
    yield* serverEvents(response.body, awake)
  } finally {
    clearTimeout(timer)
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
