import type { LineFormat } from '../format/detect.ts'
import { MAX_RECORD } from '../search/scan.ts'
import { firstTimeOf, type Timed } from '../seek/seek.ts'
import { firstTime, lastTime } from '../text/format.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'

/** How much of a file's head and tail is read for its first and last time. */
export const EDGE = 64 * 1024

/** The requested range, or from the log's first record to its last; null if no record has a time. */
export async function rangeOf(
  log: Timed,
  { since, until }: { since: number | null; until: number | null },
  now: number,
): Promise<{ from: number; to: number } | null> {
  const first = since ?? (await firstTimeOfLog(log))
  const { series, format, zone } = log
  const last = await lastTimeOfLog(series, format, zone)
  if (first === null || last === null) return null
  // A clock that stepped back must not turn the range around.
  const end = Math.max(last, since === null ? first : last) + 1
  // A window that ends in the future ends where the log does, or now.
  return { from: first, to: Math.floor(until === null ? end : Math.min(until, Math.max(end, now))) }
}

async function firstTimeOfLog(log: Timed): Promise<number | null> {
  const { series, format, zone, parallel = 1 } = log
  for (const part of series.parts) {
    const head = await part.head(EDGE)
    const time = firstTime(format, zone, head)
    if (!Number.isNaN(time)) return time
    const behind = part.compressed || head.length === 0 ? null : await firstTimeOf(part, { ...log, parallel })
    if (behind !== null) return behind
  }
  return null
}

async function lastTimeOfLog(series: Series, format: LineFormat, zone: Zone): Promise<number | null> {
  for (let length = EDGE; ; length *= 8) {
    const from = await series.addresses.floor(series.end - length)
    const bytes = await series.read(from, series.end)
    const time = lastTime(format, zone, bytes)
    if (!Number.isNaN(time)) return time
    if (series.addresses.isStart(from) || length > MAX_RECORD) return null
  }
}
