import { useEffect, useRef } from 'preact/hooks'
import type { Completeness, Histogram, Missing } from '../../../client.ts'
import { ProblemError } from '../../../client.ts'
import { useLoaded } from '../../ui/answered.tsx'
import { chartQueryOf } from '../find/query.ts'
import type { Log } from '../use-log.ts'
import { totalsOf } from './totals.ts'

/** A chart that says what it lacks. */
export type Counted = Histogram & Completeness

/** Logs and nodes that another try may count; a log without times is never in a chart. */
export function uncountedOf({ missing }: Counted): Missing[] {
  return missing.filter(({ reason }) => reason !== 'no-time')
}

/** Records over time in a chart of this width. */
export function useCounts({ client, look, ready, live, setTotals }: Log, width: number) {
  // Without the level: every level is counted, and those below the chosen one are not drawn.
  const query = chartQueryOf(look)
  const question = JSON.stringify(query)
  const isLive = live === 'live'
  const took = useRef(0)
  const ask = async (signal: AbortSignal) => {
    const start = performance.now()
    const buckets = Math.max(20, Math.min(240, Math.round(width / 7)))
    const shown = await client.histogram({ ...query, buckets }, { signal })
    took.current = performance.now() - start
    return { shown, question }
  }
  // The lines come first, and counting comes after.
  const { data, error, busy, retry } = useLoaded(ask, JSON.stringify([question, isLive]), ready && width > 0)
  const found = error === null ? data : null
  useEffect(() => setTotals(found && totalsOf(found.shown, found.question)), [found])
  useEffect(() => {
    // A followed log is counted again if that costs the node little.
    if (!isLive || busy || error !== null || took.current > 500) return
    const timer = setTimeout(retry, 30_000)
    return () => clearTimeout(timer)
  }, [isLive, busy])
  const problem = error instanceof ProblemError && error.status === 404 ? null : error
  return { data: found?.shown ?? null, busy, problem, retry }
}
