import { characterStart } from '../text/bytes.ts'
import type { Series } from '../text/series.ts'

/** How much fits into an answer: bytes, and lines if a number was given; whichever limit is reached first. */
export interface Fit {
  size: number
  lines: number | null
}

const LF = 10
const FIRST_READ = 64 * 1024
const LARGEST_READ = 2 * 1024 * 1024
/** How much more than the lines seen so far suggest is read for the rest: one line too few costs another read. */
const MARGIN = 1.25

/**
 * Where the last lines of [lo, hi) that fit start. A line longer than `size` is cut at a character start, so the page
 * before it has the rest.
 */
export async function lastThatFit(
  series: Series,
  lo: number,
  hi: number,
  fit: Fit,
): Promise<{ from: number; splitsLine?: boolean }> {
  const bottom = Math.max(lo, hi - fit.size)
  if (fit.lines === 0 || bottom >= hi) return { from: hi }
  // Count from the end first: a few lines are found without reading, or decompressing, where `size` would begin.
  // The byte before it is read, too, which says whether a line starts there.
  const lines = fit.lines === null ? null : await lastLines(series, Math.max(lo, bottom - 1), hi, fit.lines)
  if (lines !== null) return { from: lines }
  const from = await series.addresses.floor(bottom)
  if (from >= hi) return { from: hi }
  if (from <= lo || series.addresses.isStart(from)) return { from }
  // A final newline starts no line.
  const start = await firstLines(series, from - 1, hi - 1, 1)
  return start === null ? { from: await characterIn(series, from, hi), splitsLine: true } : { from: start }
}

/** Where the first lines of [lo, hi) that fit end. A line longer than `size` is cut between characters. */
export async function firstThatFit(series: Series, lo: number, hi: number, fit: Fit): Promise<number> {
  if (fit.lines === 0 || fit.size === 0) return lo
  const to = Math.min(hi, lo + fit.size)
  const end = to === hi ? hi : await lastLineEnd(series, lo, to)
  return fit.lines === null ? end : ((await firstLines(series, lo, end, fit.lines)) ?? end)
}

/** The first character start in [from, hi), or `from` if there is none. */
async function characterIn(series: Series, from: number, hi: number): Promise<number> {
  const bytes = await series.read(from, Math.min(from + 4, hi))
  const start = from + characterStart(bytes, 0)
  return start < hi ? start : from
}

/** After the last newline in [lo, to); otherwise the last character end. */
async function lastLineEnd(series: Series, lo: number, to: number): Promise<number> {
  const end = await lastLines(series, lo, to + 1, 1)
  if (end !== null) return end
  const from = Math.max(lo, to - 4)
  const bytes = await series.read(from, Math.min(to + 1, series.end))
  let cut = to - from
  while (cut > 0 && cut < bytes.length && (bytes[cut]! & 0xc0) === 0x80) cut--
  return cut > 0 && (bytes[cut]! & 0xc0) !== 0x80 ? from + cut : to
}

/** Where the last `count` lines of [lo, hi) start, or null when there are fewer. A final newline starts no line. */
async function lastLines(series: Series, lo: number, hi: number, count: number): Promise<number | null> {
  let left = count
  for (let at = hi - 1, step = FIRST_READ; at > lo; step = nextStep(hi - 1 - at, count - left, left)) {
    const from = await series.addresses.floor(Math.max(lo, at - step))
    if (from >= at) return null
    const bytes = await series.read(from, at)
    for (let i = bytes.lastIndexOf(LF); i >= 0; i = i === 0 ? -1 : bytes.lastIndexOf(LF, i - 1)) {
      left--
      if (left === 0) return from + i + 1
    }
    at = from
  }
  return null
}

/** How much to read next, estimated from the bytes and lines read so far: over a network, one read should be enough. */
function nextStep(bytes: number, lines: number, left: number): number {
  const wanted = lines === 0 ? 4 * bytes : Math.ceil((MARGIN * left * bytes) / lines)
  return Math.min(Math.max(wanted, FIRST_READ), LARGEST_READ)
}

/** Where the first `count` lines of [lo, hi) end, or null when fewer do. */
async function firstLines(series: Series, lo: number, hi: number, count: number): Promise<number | null> {
  let left = count
  for (let at = lo, step = FIRST_READ; at < hi; step = Math.min(step * 4, LARGEST_READ)) {
    const bytes = await series.read(at, Math.min(at + step, hi))
    for (let i = bytes.indexOf(LF); i >= 0; i = bytes.indexOf(LF, i + 1)) {
      left--
      if (left === 0) return at + i + 1
    }
    at += bytes.length
  }
  return null
}
