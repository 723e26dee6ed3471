import { yieldToEventLoop } from '../../work/yield.ts'
import { countLines, lastStart, lineEnd, nextStart } from '../format/lines.ts'
import type { Series } from '../text/series.ts'
import { type Filter, matches } from './filter.ts'
import type { CountBy } from './sink.ts'
import type { Fit } from './span.ts'

/** A record that was found, and where. */
export interface Kept {
  bytes: Uint8Array
  start: number
  end: number
}

/** The most recent records of a stretch that fit, and where the stretch begins. */
export interface Recent {
  kept: Kept[]
  /** Records before it are not decided. */
  from: number
  /** Whether older ones were found and let go. */
  dropped: boolean
}

const CHUNK = 1024 * 1024
const MOST = 32 * 1024 * 1024
const TURN = 8

/**
 * Goes through [from, to) once, from its start on, and keeps the most recent records that fit: for a compressed file,
 * which can't be read backwards. Null when no record starts where it could be seen.
 */
export async function scanOnce(
  series: Series,
  from: number,
  to: number,
  isStart: boolean,
  filter: Filter,
  fit: Fit,
  countBy: CountBy,
  now: () => number,
): Promise<Recent | null> {
  const { format } = filter
  const queue: { record: Kept; lines: number }[] = []
  let size = 0
  let lines = 0
  let dropped = false
  let at = from
  let begin = from
  let fresh = !isStart
  let length = CHUNK
  let turn = now()
  while (at < to) {
    if (now() - turn >= TURN) {
      await yieldToEventLoop()
      turn = now()
    }
    const bytes = await series.read(at, Math.min(at + length, to))
    let first = 0
    if (fresh && !format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))) {
      first = nextStart(format, bytes, 0, bytes.length)
      if (first < 0) return null
      begin = at + first
    }
    const whole = at + bytes.length >= to
    let last = whole ? bytes.length : lastStart(format, bytes, first, bytes.length)
    if (last <= first) {
      if (length < MOST && !whole) {
        length *= 4
        continue
      }
      last = bytes.length
    }
    const ranges = matches(bytes, first, last, at, filter, false)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i]!
      const end = ranges[i + 1]!
      const count = countBy === 'records' ? 1 : fit.lines === null ? 0 : countLines(bytes, start, end)
      queue.push({
        record: { bytes: bytes.slice(start, end), start: at + start, end: at + end },
        lines: count,
      })
      size += end - start
      lines += count
      // The newest stays, even if it alone is too long: then it is cut.
      while (queue.length > 1 && (size > fit.size || lines > (fit.lines ?? Number.POSITIVE_INFINITY))) {
        const gone = queue.shift()!
        size -= gone.record.bytes.length
        lines -= gone.lines
        dropped = true
      }
    }
    at += last
    fresh = false
    length = CHUNK
  }
  return { kept: queue.map(({ record }) => record), from: begin, dropped }
}
