import { inTime } from '../../kit/limits/clock.ts'
import { LogError } from '../../log/error.ts'
import { LEVELS } from '../../log/format/detect.ts'
import { histogramOf, histogramRange } from '../../log/histogram/histogram.ts'
import { pickSources, type Source } from '../../log/merge/source.ts'
import { levelsFrom, Selection } from '../../log/selection.ts'
import type { ViewContext } from '../../log/view/context.ts'
import { DAY_MINUTES, DAY_STEPS, writeDay } from '../../store/segment/day.ts'
import { COUNTED_MINUTES, type LogCounts, MINUTE_MS, MOST_COUNTED } from '../../store/segment/ship-json.ts'
import { StoreError } from '../../store/store.ts'
import { CountedDay } from './day.ts'

/** How long one round of counting may hold up a heartbeat. What is not counted by then is in the next one. */
const PATIENCE_MS = 5000
/** How long a round may count what was written before the last hour; a count that has begun is ended. */
const PAST_MS = 1000
/** Records may be written late: this much before the last count is counted again. */
const AGAIN_MS = 2 * MINUTE_MS
/** If less than this cannot be counted at once, the hours before it never are. */
const LEAST_SPAN = 15
/** Bytes of a heartbeat for the last day of all logs, unless they need more in the longest steps. */
const DAY_BYTES = 32 * 1024
const WARN = LEVELS.indexOf('warn')

interface Counted {
  /** Changes when the log is written. */
  state: string
  at: number
  lastLine: number | null
  day: CountedDay
  /** How many minutes before those that are counted are tried at once. */
  span: number
}

/**
 * Counts the errors and warnings of a node's logs by the minute, so that a fleet need not read the logs for it. Returns a
 * function that gives what was counted, of the logs that were written last. The last hour is counted first, of the logs
 * that have changed; the day before it when there is time.
 */
export function levelCounter(context: ViewContext): () => Promise<Record<string, LogCounts>> {
  const counted = new Map<string, Counted>()
  const { clock } = context
  let running: Promise<void> | null = null
  const newest = () =>
    [...counted].sort(([, a], [, b]) => (b.lastLine ?? 0) - (a.lastLine ?? 0)).slice(0, MOST_COUNTED)

  async function count(): Promise<void> {
    try {
      const { entries } = await context.files.list()
      const states = new Map(entries.map(({ key, etag }) => [key, etag]))
      const { sources } = await pickSources({ node: null, context }, ['*'])
      const names = new Set(sources.map(({ file }) => file))
      for (const name of counted.keys()) if (!names.has(name)) counted.delete(name)
      for (const source of sources) {
        const state = source.files.map((file) => states.get(file)).join()
        const known = counted.get(source.file)
        if (known?.state === state && clock.now() - known.at < COUNTED_MINUTES * MINUTE_MS) continue
        const next = await countNew(source, known)
        if (next) counted.set(source.file, { ...next, state })
      }
      const shown = new Map(newest())
      // Days of logs that nobody is told about take no memory.
      for (const [name, each] of counted) if (!shown.has(name)) each.day.clear(minuteOf(each.at))
      await countPast(sources, shown)
    } catch {
      // Counts are a hint: logs are shipped without them, whatever fails.
    }
  }
  return async () => {
    running ??= count().finally(() => {
      running = null
    })
    await inTime(clock, PATIENCE_MS, running)
    return countsOf(newest(), minuteOf(clock.now()))
  }
}

/** What a heartbeat says of logs, in the shortest steps for which there is room. */
function countsOf(logs: readonly [string, Counted][], now: number): Record<string, LogCounts> {
  const since = now - DAY_MINUTES + 1
  let days: Required<LogCounts>['day'][] = []
  for (const step of DAY_STEPS) {
    days = logs.map(([, { day }]) =>
      writeDay(Math.max(since, day.from), step, (add) => day.each(since, now, add)),
    )
    if (days.reduce((sum, { text }) => sum + text.length, 0) <= DAY_BYTES) break
  }
  const counts = logs.map(([name, { lastLine, day }], i): [string, LogCounts] => {
    const minutes: LogCounts['minutes'] = {}
    day.each(now - COUNTED_MINUTES + 1, now, (minute, ...count) => {
      minutes[minute] = count
    })
    return [name, { lastLine, minutes, day: days[i]! }]
  })
  return Object.fromEntries(counts)
}

/** Counts what was written since a log was last counted, or in the last hour; null if it has no times, or cannot be read now. */
async function countNew(source: Source, known: Counted | undefined): Promise<Omit<Counted, 'state'> | null> {
  const { file, context } = source
  const at = context.clock.now()
  const now = minuteOf(at)
  const from = known
    ? Math.max(now - DAY_MINUTES + 1, minuteOf(known.at - AGAIN_MS))
    : now - COUNTED_MINUTES + 1
  const wanted = {
    file,
    rotated: true,
    selection: new Selection({ since: from * MINUTE_MS }),
    buckets: 1000,
  }
  const day = known?.day ?? new CountedDay(from)
  const next = { at, day, lastLine: known?.lastLine ?? null, span: known?.span ?? DAY_MINUTES }
  try {
    const range = await histogramRange(context, wanted)
    if (range) next.lastLine = range.to - 1
    // A record with a time to come, or a clock that is behind: such times are not counted.
    if (!range || range.to <= range.from) day.begin(from, now)
    else if (!(await countMinutes(source, day, from, now))) day.from = now
    return next
  } catch (error) {
    if (error instanceof LogError && error.code === 'no-level') {
      day.from = 0
      return next
    }
    if (error instanceof LogError || error instanceof StoreError) return null
    throw error
  }
}

/** Counts the hours before those that are counted, log by log, for a second. */
async function countPast(sources: readonly Source[], shown: ReadonlyMap<string, Counted>): Promise<void> {
  const start = sources[0]?.context.clock.elapsed() ?? 0
  for (const source of sources) {
    const known = shown.get(source.file)
    const { clock } = source.context
    while (known && known.span >= LEAST_SPAN && clock.elapsed() - start < PAST_MS) {
      const first = minuteOf(clock.now()) - DAY_MINUTES + 1
      const { day } = known
      if (day.from <= first) break
      const from = Math.max(first, day.from - known.span)
      const isCounted = await countMinutes(source, day, from, day.from - 1).catch(() => false)
      if (isCounted) day.from = from
      else known.span /= 4
    }
  }
}

/** Counts the minutes from one to another. False if the budget ran out, so that some may be missing. */
async function countMinutes(
  { file, context }: Source,
  day: CountedDay,
  from: number,
  to: number,
): Promise<boolean> {
  const levels = levelsFrom(WARN)
  const selection = new Selection({ since: from * MINUTE_MS, until: (to + 1) * MINUTE_MS, levels })
  const wanted = { file, rotated: true, selection, buckets: 1000, step: MINUTE_MS, origin: 0 }
  const chart = await histogramOf(context, wanted, () => false)
  day.begin(from, to)
  for (const { time, counts } of chart?.buckets ?? []) {
    const errors = counts.slice(WARN + 1, LEVELS.length).reduce((sum, each) => sum + each, 0)
    day.set(minuteOf(time), errors, counts[WARN]!)
  }
  return chart?.complete === true
}

const minuteOf = (time: number) => Math.floor(time / MINUTE_MS)
