import { type Clock, sleep, systemClock } from '../../kit/limits/clock.ts'
import type { Send } from './connect.ts'
import { type ServerEvent, serverEvents } from './events.ts'
import { missingOf, notesOf } from './missing.ts'
import { ProblemError } from './problem.ts'
import type { Follow, FollowEvent, FollowOptions, LogRecord, ViewQuery } from './types.ts'

/** The longest pause that a node may ask for. */
const LONGEST_PAUSE_MS = 3_600_000
/** A connection that lasted this long and ended cleanly was not lost. */
const ORDERLY_MS = 1_000

/** The selected tail, then what is appended; a lost connection is resumed after the last record. */
export async function* follow(
  send: Send,
  query: ViewQuery,
  call: FollowOptions = {},
): Follow<string | LogRecord> {
  const { clock = systemClock, random = Math.random } = call
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
      const opened = clock.elapsed()
      yield { type: 'open', notes: notesOf(response), missing: missingOf(response) }
      for await (const event of watched(response, attempt, clock, call.silence)) {
        pause = first
        if (event.id !== null) lastId = event.id
        const seen = followEvent(event, call.json === true)
        if (seen !== null) yield seen
      }
      // Some runtimes end a follow cleanly after a while: reconnect without reporting a loss.
      if (clock.elapsed() - opened > ORDERLY_MS) continue
      error = new Error('The connection was closed.')
    } catch (cause) {
      if (call.signal?.aborted) return
      error = cause instanceof Error ? cause : new Error(String(cause))
      if (error instanceof ProblemError && !passes(error)) throw error
    } finally {
      call.signal?.removeEventListener('abort', stop)
      attempt.abort()
    }
    const seconds = error instanceof ProblemError ? (error.retryAfter ?? 0) : 0
    const asked = Math.min(seconds * 1000, LONGEST_PAUSE_MS)
    // Jitter, so that the followers of a restarted node do not all return at once.
    const retryIn = Math.max(asked, pause * (0.75 + random() / 2))
    yield { type: 'lost', error, retryIn }
    // The signal ends the loop.
    await sleep(clock, retryIn, call.signal).catch(() => {})
    pause = Math.min(pause * 2, 30_000)
  }
}

function followEvent(event: ServerEvent, isParsed: boolean): FollowEvent<string | LogRecord> | null {
  const { id, data } = event
  if (event.event === '' && data === null) return null
  if (event.event === '') return { type: 'record', id, data: isParsed ? recordOf(data!) : data! }
  if (event.event === 'rotated' || event.event === 'truncated' || event.event === 'gap') {
    return { type: event.event, id, data: data ?? '' }
  }
  return null
}

function recordOf(text: string): LogRecord {
  try {
    return JSON.parse(text) as LogRecord
  } catch {
    // The record must not be skipped, as it would be by going on after it.
    throw new ProblemError({
      status: 501,
      code: 'unsupported',
      title: 'No records',
      detail: 'This node sends text where records were requested; follow without `json`.',
    })
  }
}

/** Whether trying again may help. */
function passes(problem: ProblemError): boolean {
  return problem.status === 429 || (problem.status >= 500 && problem.status !== 501)
}

/** The events of one connection. A silent one is aborted, because a dead peer never closes it. */
async function* watched(response: Response, attempt: AbortController, clock: Clock, silence = 60_000) {
  if (response.body === null) return
  let cancel = () => {}
  const awake = () => {
    cancel()
    cancel = clock.after(silence, () => attempt.abort())
  }
  awake()
  try {
    yield* serverEvents(response.body, awake)
  } finally {
    cancel()
  }
}
