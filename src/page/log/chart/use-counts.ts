import { useEffect, useRef, useState } from 'preact/hooks'
import type { Completeness, Histogram, Missing } from '../../../client.ts'
import { ProblemError } from '../../../client.ts'
import { DAY } from '../../../log/histogram/steps.ts'
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

/** What the chart shows, and what was counted: of a log that spans years, the chart shows the last day. */
interface Counts {
  shown: Counted
  all: Counted
}

/** Records over time in a chart of this width: an estimate at once if the node has one, then the exact counts. */
export function useCounts({ client, look, ready, live, setTotals }: Log, width: number) {
  // Without the level: every level is counted, and those below the chosen one are not drawn.
  const query = chartQueryOf(look)
  const isLive = live === 'live'
  /** Whether the user wants to see all of a log that spans years. */
  const [whole, setWhole] = useState(false)
  const key = JSON.stringify([query, isLive, whole])
  const counted = useRef({ key: '', ms: 0 })
  const ask = async (signal: AbortSignal, show: (data: Counts) => void): Promise<Counts> => {
    const start = performance.now()
    const buckets = Math.max(20, Math.min(240, Math.round(width / 7)))
    const count = (more: object) => client.histogram({ ...query, buckets, ...more }, { signal })
    let all = await count({ estimate: counted.current.key !== key || undefined })
    if (all.estimated) {
      show({ shown: all, all })
      all = await count({})
    }
    const isOpen = look.since + look.until === ''
    const shown = isOpen && !whole && spansYears(all) ? await lastDay(all, count) : all
    counted.current = { key, ms: performance.now() - start }
    return { shown, all }
  }
  // The lines come first, and counting comes after.
  const { data, error, busy, retry } = useLoaded(ask, key, ready && width > 0)
  const found = error === null ? data : null
  useEffect(() => setTotals(found && totalsOf(found.all)), [found])
  useEffect(() => {
    // A followed log is counted again if that costs the node little.
    if (!isLive || busy || error !== null || counted.current.ms > 500) return
    const timer = setTimeout(retry, 30_000)
    return () => clearTimeout(timer)
  }, [isLive, busy])
  const problem = error instanceof ProblemError && error.status === 404 ? null : error
  // An estimate shows all years, whatever comes after it.
  const isOfDay = found !== null && !found.shown.estimated && spansYears(found.all)
  const part = isOfDay && look.since + look.until === '' ? !whole : null
  return { data: found?.shown ?? null, busy, problem, retry, part, setWhole }
}

function spansYears({ from, to }: Histogram): boolean {
  return to - from > 366 * DAY
}

/** The day up to the last record, found in ever smaller steps. */
async function lastDay(all: Counted, count: (more: object) => Promise<Counted>): Promise<Counted> {
  let found = all
  for (let round = 0; round < 4 && found.step > DAY / 24; round++) {
    const last = found.buckets.findLast(({ counts }) => counts.some((each) => each > 0))
    if (last === undefined) return all
    found = await count({ since: iso(last.time), until: iso(last.time + found.step) })
  }
  const last = found.buckets.findLast(({ counts }) => counts.some((each) => each > 0))
  if (last === undefined) return all
  const end = last.time + found.step
  return count({ since: iso(end - DAY), until: iso(end) })
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
