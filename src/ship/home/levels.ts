import { inTime } from '../../limits/clock.ts'
import { LogError } from '../../log/error.ts'
import { LEVELS } from '../../log/format/detect.ts'
import { histogramOf, histogramRange } from '../../log/histogram/histogram.ts'
import { pickSources, type Source } from '../../log/merge/source.ts'
import { levelsFrom, Selection } from '../../log/selection.ts'
import type { ViewContext } from '../../log/view/context.ts'
import { COUNTED_MINUTES, type LogCounts, MINUTE_MS, MOST_COUNTED } from '../../segment/ship-json.ts'
import { StoreError } from '../../store/store.ts'

/** How long one round of counting may hold up a heartbeat. What is not counted by then is in the next one. */
const PATIENCE_MS = 5000
/** Records may be written late: this much before the last count is counted again. */
const AGAIN_MS = 2 * MINUTE_MS
const WARN = LEVELS.indexOf('warn')

interface Counted {
  /** Changes when the log is written. */
  state: string
  at: number
  counts: LogCounts
}

/**
 * Counts the errors and warnings of a node's logs by the minute, so that a fleet need not read the logs for it. Returns a
 * function that gives what was counted, of the logs that were written last; those that have changed are counted first.
 */
export function levelCounter(context: ViewContext): () => Promise<Record<string, LogCounts>> {
  const counted = new Map<string, Counted>()
  let running: Promise<void> | null = null

  async function count(): Promise<void> {
    try {
      const { files, clock } = context
      const { entries } = await files.list()
      const states = new Map(entries.map(({ key, etag }) => [key, etag]))
      const { sources } = await pickSources({ node: null, context }, ['*'])
      const names = new Set(sources.map(({ file }) => file))
      for (const name of counted.keys()) if (!names.has(name)) counted.delete(name)
      for (const source of sources) {
        const state = source.files.map((file) => states.get(file)).join()
        const known = counted.get(source.file)
        if (known?.state === state && clock.now() - known.at < COUNTED_MINUTES * MINUTE_MS) continue
        const counts = await countOf(source, known)
        if (counts) counted.set(source.file, { state, at: clock.now(), counts })
      }
    } catch {
      // Counts are a hint: logs are shipped without them, whatever fails.
    }
  }
  return async () => {
    running ??= count().finally(() => {
      running = null
    })
    await inTime(context.clock, PATIENCE_MS, running)
    const newest = [...counted].sort(([, a], [, b]) => (b.counts.lastLine ?? 0) - (a.counts.lastLine ?? 0))
    return Object.fromEntries(newest.slice(0, MOST_COUNTED).map(([name, { counts }]) => [name, counts]))
  }
}

/** The counts of the last hour; null if the log has no times, or cannot be read now. */
async function countOf({ file, context }: Source, known: Counted | undefined): Promise<LogCounts | null> {
  const now = context.clock.now()
  const hour = minuteOf(now) - COUNTED_MINUTES + 1
  const from = Math.max(hour, known ? minuteOf(known.at - AGAIN_MS) : hour)
  const selection = new Selection({ since: from * MINUTE_MS })
  const wanted = { file, rotated: true, selection, buckets: 1000 }
  let lastLine = known?.counts.lastLine ?? null
  try {
    const range = await histogramRange(context, wanted)
    if (range) lastLine = range.to - 1
    const kept = Object.entries(known?.counts.minutes ?? {}).filter(
      ([minute]) => Number(minute) >= hour && Number(minute) < from,
    )
    const minutes: LogCounts['minutes'] = Object.fromEntries(kept)
    if (!range || range.to <= range.from) return { lastLine, minutes }
    const step = { step: MINUTE_MS, origin: 0 }
    // A record with a time to come, or a clock that is behind: such times are not counted.
    const until = (minuteOf(now) + 1) * MINUTE_MS
    const counted = selection.with({ until, levels: levelsFrom(WARN) })
    const chart = await histogramOf(context, { ...wanted, ...step, selection: counted }, () => false)
    if (!chart) return { lastLine, minutes }
    for (const { time, counts } of chart.buckets) {
      const [warnings, errors] = [counts[WARN]!, counts.slice(WARN + 1, LEVELS.length)]
      const count = [errors.reduce((sum, each) => sum + each, 0), warnings] as const
      if (count[0] + count[1] > 0) minutes[minuteOf(time)] = count
    }
    return { lastLine, minutes }
  } catch (error) {
    if (error instanceof LogError && error.code === 'no-level') return { lastLine, minutes: {} }
    if (error instanceof LogError || error instanceof StoreError) return null
    throw error
  }
}

const minuteOf = (time: number) => Math.floor(time / MINUTE_MS)
