import { useEffect, useRef, useState } from 'preact/hooks'
import { DAY } from '../../../../log/histogram/steps.ts'
import type { Completeness, Histogram, Missing } from '../../../client.ts'
import { ProblemError } from '../../../client.ts'
import { useLoaded } from '../../ui/use-loaded.ts'
import { chartQueryOf } from '../find/query.ts'
import type { Log } from '../use-log.ts'
import { totalsOf } from './totals.ts'

/** A chart that says what it lacks. */
export type Counted = Histogram & Completeness

/** Logs and nodes that another try may count; a log without times is never in a chart. */
export function uncountedOf({ missing }: Counted): Missing[] {
  return missing.filter(({ reason }) => reason !== 'no-time')
}

/** Records over time in a chart of this width. Of a log that spans years, the chart shows the last day. */
export function useCounts({ client, look, ready, live, setTotals }: Log, width: number) {
  // Without the level: every level is counted, and those below the chosen one are not drawn.
  const query = chartQueryOf(look)
  const question = JSON.stringify(query)
  const isLive = live === 'live'
  const isOpen = look.since + look.until === ''
  /** Whether the user wants to see all of a log that spans years. */
  const [whole, setWhole] = useState(false)
  const took = useRef(0)
  const ask = async (signal: AbortSignal) => {
    const start = performance.now()
    const buckets = Math.max(20, Math.min(240, Math.round(width / 7)))
    const count = (more: object) => client.histogram({ ...query, buckets, ...more }, { signal })
    const all = await count({})
    const shown = isOpen && !whole && spansYears(all) ? await lastDay(all, count) : all
    took.current = performance.now() - start
    return { shown, all, question }
  }
  // The lines come first, and counting comes after.
  const key = JSON.stringify([question, isLive, whole])
  const { data, error, busy, retry } = useLoaded(ask, key, ready && width > 0)
  const found = error === null ? data : null
  useEffect(() => setTotals(found && totalsOf(found.all, found.question)), [found])
  useEffect(() => {
    // A followed log is counted again if that costs the node little.
    if (!isLive || busy || error !== null || took.current > 500) return
    const timer = setTimeout(retry, 30_000)
    return () => clearTimeout(timer)
  }, [isLive, busy])
  const problem = error instanceof ProblemError && error.status === 404 ? null : error
  const part = isOpen && found !== null && spansYears(found.all) ? !whole : null
  return { data: found?.shown ?? null, busy, problem, retry, part, setWhole }
}

function spansYears({ from, to }: Histogram): boolean {
  return to - from > 366 * DAY
}

/** The day up to the last record, found in ever smaller steps. */
async function lastDay(all: Counted, count: (more: object) => Promise<Counted>): Promise<Counted> {
  const end = ({ buckets, step }: Counted) => {
    const last = buckets.findLast(({ counts }) => counts.some((each) => each > 0))
    return last === undefined ? null : last.time + step
  }
  let found = all
  let to = end(all)
  for (let round = 0; round < 4 && found.step > DAY / 24 && to !== null; round++) {
    found = await count({ since: iso(to - found.step), until: iso(to) })
    to = end(found)
  }
  return to === null ? all : count({ since: iso(to - DAY), until: iso(to) })
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
