import { addressOf, networkOf } from '../../core/http/caller.ts'
import { Problem, problemResponse } from '../../core/http/problem.ts'
import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Fetch } from '../own-log/access.ts'

/** How many sign-ins of one network may fail at once; after that, one each half second. */
const FREE = 10
const INTERVAL_MS = 500
/** No answer is held longer, so at most six of one network are. */
const LONGEST_MS = 3000
/** Held answers, and networks that are remembered, of the whole process. A forgotten one begins anew. */
const MOST_HELD = 256
const MOST_NETWORKS = 4096

export interface SignInClock {
  now(): number
  /** Resolves after `ms` milliseconds, or when the client leaves. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * Slows down failed sign-ins: answers to wrong tokens are held, by the network that they come from. A valid token is
 * answered at once, whatever else comes from its network: one client of a proxy cannot lock out the others.
 */
export function slowedSignIns(fetch: Fetch, clock: SignInClock = CLOCK): Fetch {
  /** When a network would have no failures left to its account, if it made no more. */
  const clean = new BoundedMap<string, number>(MOST_NETWORKS)
  let held = 0

  /** Milliseconds to hold the next failure of a network, or null if that would be too long. */
  const hold = (network: string): number | null => {
    const now = clock.now()
    const next = Math.max(clean.get(network) ?? 0, now) + INTERVAL_MS
    const wait = Math.max(0, next - now - FREE * INTERVAL_MS)
    if (wait > LONGEST_MS || (wait > 0 && held >= MOST_HELD)) return null
    clean.delete(network)
    clean.set(network, next)
    return wait
  }

  const answered = async (response: Response, request: Request, wait: number): Promise<Response> => {
    held++
    try {
      await clock.sleep(wait, request.signal)
    } finally {
      held--
    }
    return response
  }

  return (request, env) => {
    const judge = (response: Response): Response | Promise<Response> => {
      // Without a token, nobody has tried one.
      if (response.status !== 401 || !request.headers.has('Authorization')) return response
      const address = addressOf(env)
      const wait = hold(address === null ? '' : networkOf(address))
      if (wait === null) return refused(request, response)
      return wait === 0 ? response : answered(response, request, wait)
    }
    const answer = fetch(request, env)
    return answer instanceof Promise ? answer.then(judge) : judge(answer)
  }
}

function refused(request: Request, { headers }: Response): Response {
  const problem = new Problem(
    'too-many-failures',
    'Too many sign-ins from this address failed; check the token, and try again in a few seconds.',
    { headers: { 'Retry-After': String(LONGEST_MS / 1000) } },
  )
  const response = problemResponse(problem, request.headers.get('Accept'))
  for (const name of [
    'X-Request-Id',
    'traceparent',
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
  ]) {
    const value = headers.get(name)
    if (value !== null) response.headers.set(name, value)
  }
  return response
}

const CLOCK: SignInClock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      if (signal.aborted) done()
      else signal.addEventListener('abort', done, { once: true })
    }),
}
