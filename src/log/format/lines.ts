import { lineEnd } from '../../kit/bytes.ts'
import type { LineFormat } from './format.ts'

export { lineEnd } from '../../kit/bytes.ts'

const LF = 10

/** The first record start in bytes[from, to) that follows a newline in it, or -1. */
export function nextStart(format: LineFormat, bytes: Uint8Array, from: number, to: number): number {
  for (let lf = bytes.indexOf(LF, from); lf >= 0 && lf + 1 < to; ) {
    const start = lf + 1
    lf = bytes.indexOf(LF, start)
    const end = lf < 0 || lf > to ? to : lf
    if (format.starts(bytes, start, end)) return start
  }
  return -1
}

/** The last record start in bytes[from, to) whose line ends in it, or -1; `from` counts as the start of a line. */
export function lastStart(format: LineFormat, bytes: Uint8Array, from: number, to: number): number {
  let end = bytes.lastIndexOf(LF, to - 1)
  while (end >= from) {
    const start = end === 0 ? 0 : Math.max(from, bytes.lastIndexOf(LF, end - 1) + 1)
    if (format.starts(bytes, start, end)) return start
    end = start - 1
  }
  return -1
}

/** The start of the record that holds `at` in bytes[from, to); `from` when none is found after it. */
export function startOf(
  format: LineFormat,
  { bytes, from, to }: { bytes: Uint8Array; from: number; to: number },
  at: number,
): number {
  let start = at === 0 ? 0 : bytes.lastIndexOf(LF, at - 1) + 1
  let end = lineEnd(bytes, at, to)
  while (start > from) {
    if (format.starts(bytes, start, end)) return start
    end = start - 1
    start = end === 0 ? 0 : bytes.lastIndexOf(LF, end - 1) + 1
  }
  return from
}

/** The end of the record that holds `at`: the next record start, or `to`. */
export function endOf(format: LineFormat, bytes: Uint8Array, at: number, to: number): number {
  const next = nextStart(format, bytes, at, to)
  return next < 0 ? to : next
}

/** How many lines bytes[from, to) has; a last one without a newline counts. */
export function countLines(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  let at = from
  while (at < to) {
    at = lineEnd(bytes, at, to) + 1
    count++
  }
  return count
}
