import { COMMON_HEADERS } from '../../core/http/conditional.ts'
import { respond } from '../../core/http/sliced.ts'
import type { Store } from '../../store/store.ts'
import type { Clock } from '../limits/clock.ts'

/** How long one check of the store is cached, in milliseconds: probes of many load balancers share it. */
const LOOK_MS = 2000
/** How long requests wait for the same check. At the edge, one never settles once its request is cancelled. */
const PENDING_MS = 30_000

/** `GET /readyz`: whether the store answers. The problem of a store that does not is thrown. */
export function readiness(store: Store, clock: Clock): () => Promise<Response> {
  let look: Promise<void> | null = null
  let until = 0
  return async () => {
    if (look === null || clock.elapsed() >= until) {
      const own = firstEntry(store)
      look = own
      until = clock.elapsed() + PENDING_MS
      const over = () => {
        if (look === own) until = clock.elapsed() + LOOK_MS
      }
      own.then(over, over)
    }
    await look
    return respond('ready\n', { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS })
  }
}

async function firstEntry(store: Store): Promise<void> {
  for await (const _ of store.list('', { limit: 1, shallow: true })) return
}
