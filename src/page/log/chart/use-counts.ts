import { useEffect, useRef } from 'preact/hooks'
import { type Histogram, ProblemError } from '../../../client.ts'
import { useLoaded } from '../../ui/use-loaded.ts'
import { chartQueryOf } from '../find/query.ts'
import type { Log } from '../use-log.ts'
import { totalsOf } from './totals.ts'

/** Records over time in a chart of this width: an estimate at once if the node has one, then the exact counts. */
export function useCounts({ client, look, ready, live, setTotals }: Log, width: number) {
  // Without the level: every level is counted, and those below the chosen one are not drawn.
  const query = chartQueryOf(look)
  const isLive = live === 'live'
  const key = JSON.stringify([query, isLive])
  const counted = useRef({ key: '', ms: 0 })
  const ask = async (signal: AbortSignal, show: (data: Histogram) => void) => {
    const start = performance.now()
    const buckets = Math.max(20, Math.min(240, Math.round(width / 7)))
    const count = (estimate?: boolean) => client.histogram({ ...query, buckets, estimate }, { signal })
    let found = await count(counted.current.key !== key || undefined)
    if (found.estimated) {
      show(found)
      found = await count()
    }
    counted.current = { key, ms: performance.now() - start }
    return found
  }
  // The lines come first, and counting comes after.
  const { data, error, busy, retry } = useLoaded(ask, key, ready && width > 0)
  const shown = error === null ? data : null
  useEffect(() => setTotals(shown && totalsOf(shown)), [shown])
  useEffect(() => {
    // A followed log is counted again if that costs the node little.
    if (!isLive || busy || error !== null || counted.current.ms > 500) return
    const timer = setTimeout(retry, 30_000)
    return () => clearTimeout(timer)
  }, [isLive, busy])
  const problem = error instanceof ProblemError && error.status === 404 ? null : error
  return { data: shown, busy, problem }
}
