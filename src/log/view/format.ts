import { LogError } from '../error.ts'
import { detectFormat, type LineFormat, PLAIN } from '../format/detect.ts'
import type { Series } from '../text/series.ts'

/** How much of a file's head and tail is read to detect its format. */
export const SAMPLE = 16 * 1024

/**
 * The format of a log, judged by the newest file that is not empty. A short file in no known format may be the rest of a
 * record that a rotation cut off, so the file before it decides. In a log that is followed (`live`), times without a
 * year or a date are read relative to now, because the modification time is soon outdated.
 */
export async function formatOf(series: Series, live = false): Promise<LineFormat> {
  for (let i = series.parts.length - 1; i >= 0; i--) {
    const part = series.parts[i]!
    const head = await part.head(SAMPLE)
    if (head.length === 0) continue
    const size = part.compressed ? head.length : part.entry.size
    const tail = size > SAMPLE ? await part.read(Math.max(SAMPLE, size - SAMPLE), size) : undefined
    const format = detectFormat(head, tail, { reference: live ? Date.now : part.entry.modified })
    if (format !== PLAIN || size >= SAMPLE) return format
  }
  return PLAIN
}

/** The parts of a request that not every format can answer. */
interface Asked {
  since: number | null
  until: number | null
  level: number | null
}

/** Throws a LogError if a format cannot answer the request. */
export function checkFormat(format: LineFormat, asked: Asked): void {
  if ((asked.since !== null || asked.until !== null) && !format.timed) throw noTime()
  if (asked.level !== null && !format.leveled) throw noLevel()
}

/** Whether a log is empty. */
export async function isEmpty(series: Series): Promise<boolean> {
  return series.end === 0 && (await series.floor(-1)) === 0
}

function noTime(): LogError {
  return new LogError(
    'no-time',
    'No times were recognized in the lines of this file; leave since and until out, and use lines, size or q.',
  )
}

function noLevel(): LogError {
  return new LogError(
    'no-level',
    'No levels were recognized in the lines of this file; leave level out, and use lines, size or q.',
  )
}
