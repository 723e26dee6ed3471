import type { Clock } from '../../kit/limits/clock.ts'
import { LogError } from '../error.ts'
import { detectFormat, type LineFormat, PLAIN } from '../format/detect.ts'
import { lineEnd, startOf } from '../format/lines.ts'
import type { Selection } from '../selection.ts'
import { UTC, type Zone } from '../time.ts'
import type { Series } from './series.ts'
import type { Text } from './text.ts'

/** How much of a file's head and tail is read to detect its format. */
export const SAMPLE = 16 * 1024
/** How much of an archive's head is read at most, if its first line is longer than that. */
const MAX_SAMPLE = 1024 * 1024

/**
 * The format of a log, judged by the newest file that is not empty. A file in no known format may be the rest of a record
 * that a rotation cut off, so the file before it decides; for a long one, if it has such records, too. In a log that is followed (with a `clock`), times without
 * a year or a date are read relative to now, because the modification time is soon outdated.
 */
export async function formatOf(series: Series, clock?: Clock): Promise<LineFormat> {
  let newest: Uint8Array[] | null = null
  for (let i = series.parts.length - 1; i >= 0; i--) {
    const part = series.parts[i]!
    const head = await headOf(part)
    if (head.length === 0) continue
    const size = part.compressed ? head.length : part.entry.size
    const tail =
      !part.compressed && size > SAMPLE ? await part.read(Math.max(SAMPLE, size - SAMPLE), size) : undefined
    const format = detectFormat(head, tail, { reference: clock ? () => clock.now() : part.entry.modified })
    if (newest) return newest.some((bytes) => hasTimes(format, bytes)) ? format : PLAIN
    if (format !== PLAIN) return format
    if (size >= SAMPLE) newest = tail ? [head, tail] : [head]
  }
  return PLAIN
}

/** Whether some line has a time in a format. */
function hasTimes(format: LineFormat, bytes: Uint8Array): boolean {
  return !timesIn(format, UTC, bytes).next().done
}

/** The first lines of a file. An archive has no tail that is cheap to read, so a longer first line is read as well. */
async function headOf(part: Text): Promise<Uint8Array> {
  for (let length = SAMPLE; ; length *= 8) {
    const head = await part.head(length)
    if (!part.compressed || head.length < length || head.includes(10) || length >= MAX_SAMPLE) return head
  }
}

/** Throws if a selection asks for what the lines of a log do not have. */
export function checkFormat(format: LineFormat, selection: Selection): void {
  if (selection.isPeriod && !format.timed)
    throw new LogError(
      'no-time',
      'No times were recognized in the lines of this file; leave since and until out, and use lines, size or q.',
    )
  if (selection.levels !== null && !format.leveled)
    throw new LogError(
      'no-level',
      'No levels were recognized in the lines of this file; leave level out, and use lines, size or q.',
    )
}

/** The times of the records in the first bytes of a file, whose last line may be cut off. */
export function* timesIn(format: LineFormat, zone: Zone, bytes: Uint8Array): Generator<number> {
  for (let at = 0; at < bytes.length; ) {
    const end = lineEnd(bytes, at, bytes.length)
    // A JSON record longer than these bytes has no closing brace here, but usually has its time near its beginning.
    const isCut = end === bytes.length && !format.starts(bytes, at, end)
    const reader = isCut && format.open ? format.open : format
    const time = reader.starts(bytes, at, end) ? reader.time(bytes, at, end, zone) : Number.NaN
    if (!Number.isNaN(time)) yield time
    at = end + 1
  }
}

/** The time of the first record that has one; NaN if none has. */
export function firstTime(format: LineFormat, zone: Zone, bytes: Uint8Array): number {
  for (const time of timesIn(format, zone, bytes)) return time
  return Number.NaN
}

/** The time of the last record in bytes[from, to) that has one; otherwise `before`. */
export function lastTime(
  format: LineFormat,
  zone: Zone,
  bytes: Uint8Array,
  [from, to, before = Number.NaN]: readonly [from: number, to: number, before?: number] = [0, bytes.length],
): number {
  for (let end = to; end > from; ) {
    const at = startOf(format, { bytes, from, to: end }, end - 1)
    const time = format.time(bytes, at, lineEnd(bytes, at, end), zone)
    if (!Number.isNaN(time)) return time
    end = at
  }
  return before
}

export async function isEmpty(series: Series): Promise<boolean> {
  return series.end === 0 && (await series.addresses.floor(-1)) === 0
}
