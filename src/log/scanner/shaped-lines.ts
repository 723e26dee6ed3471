import type { Find, LineFormat } from '../format/format.ts'
import { lineEnd } from '../format/lines.ts'
import { FOUND_NUMBERS, type Scanner } from './scanner.ts'
import { levelCode, levelOfCode, NO_LEVEL, type Shapes } from './shapes.ts'

/** Lines that are found by how they are written (`LineFormat.shape`). */
export interface ShapedLines {
  /** Leads to the next line of the level, or of an unknown one. */
  find: Find
  /** The level of the line that was found; undefined if it has no known shape. */
  readonly level: number | undefined
  /** Where a line with a level ends, and how far its record is known to reach. */
  readonly headEnd: number
  readonly end: number
  /** Whether the record certainly ends there. */
  readonly isWhole: boolean
}

/**
 * Lines of a level or a higher one, by their shapes; null if lines have too many shapes, or if marks are found faster:
 * where such lines are rare, marks are, unless lines of other levels have them.
 */
export function shapedLines(
  chunk: { bytes: Uint8Array; from: number; to: number },
  format: LineFormat,
  { scanner, shapes, level }: { scanner: Scanner; shapes: Shapes; level: number },
): ShapedLines | null {
  const base = shapes.isUseful && (shapes.isFast || shapes.isDense) ? scanner.hold(chunk) : null
  if (base === null) return null
  const { bytes, from, to } = chunk
  const least = levelCode(level)
  let found: Int32Array = new Int32Array(0)
  let next = 0
  /** The end of the lines that were examined: the line that begins there fits no shape. */
  let stop = from - 1
  /** Whether the line at `stop` belongs to a record that is not wanted, unless it begins a record of its own. */
  let isPassed = false
  const lines = { level: undefined as number | undefined, headEnd: 0, end: 0, isWhole: false }
  const look = (at: number) => {
    stop = scanner.afterShaped(base, { from: at, to }, shapes.length, least)
    shapes.fitted(stop - at)
    found = scanner.found
    next = 0
    isPassed = scanner.said > NO_LEVEL && scanner.said < least
  }
  const learn = (end: number): boolean => {
    const pieces = shapes.isWorth() ? format.shape!(bytes, stop, end) : null
    return pieces !== null && shapes.learn({ bytes, from: stop, to: end, pieces }, null)
  }
  /** The next line that begins a record. */
  const afterRest = (end: number): number => {
    let start = end + 1
    for (let last = end; start < to; start = last + 1) {
      shapes.passed()
      last = lineEnd(bytes, start, to)
      if (format.starts(bytes, start, last)) break
    }
    return start
  }
  const take = () => {
    const after = found[next + 1]! - base
    lines.level = levelOfCode(found[next + 3]!)
    lines.headEnd = bytes[after - 1] === LF ? after - 1 : after
    lines.end = found[next + 2]! - base
    lines.isWhole = next + FOUND_NUMBERS < found.length || stop >= to || lines.end < stop
    next += FOUND_NUMBERS
    return found[next - FOUND_NUMBERS]! - base
  }
  const find = (_: Uint8Array, from: number): number => {
    if (next >= found.length && from > stop) look(from)
    for (;;) {
      if (next < found.length) return take()
      lines.level = undefined
      if (stop >= to) return -1
      const end = lineEnd(bytes, stop, to)
      if (isPassed && !format.starts(bytes, stop, end)) look(afterRest(end))
      else if (learn(end)) look(stop)
      else return stop
    }
  }
  return Object.assign(lines, { find })
}

const LF = 10
