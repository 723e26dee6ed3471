import { each } from '../../limits/each.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import type { Probes, TimeSample } from './probes.ts'

/**
 * The position of an instant in a log: every record before `from` is earlier, every record at or after `to` is not, and
 * those between must be checked individually. In a log ordered by time both are the same.
 */
export interface Border {
  from: number
  to: number
  /** False if the log was found to be out of order, so that time alone does not locate a record. */
  ordered: boolean
}

/** Bisection ends at this many bytes. They are examined, with a margin on both sides. */
export const NEAR = 256 * 1024
/** The margin, and how far apart the samples beyond it are. Over a network, fewer and larger reads are quicker. */
const MARGIN = 384 * 1024
const REMOTE_MARGIN = 1024 * 1024
/** How far around the border to search for a clock that stepped back. */
const FAR = 8 * 1024 * 1024
/** A larger part of a file that is out of order makes all of it count as unordered. */
const MAX_DISORDER = 64 * 1024 * 1024
/** Text without times, such as a long trace, is read through up to this size. */
const MAX_BLANK = 16 * 1024 * 1024
const READ = 1024 * 1024

/** The part of a file that holds the border, between an early record and a late one. */
export interface SearchRange {
  /** Offsets; null at the ends of the file. */
  early: TimeSample | null
  late: TimeSample | null
  /** The part between the two that has no times. */
  blank: { from: number; to: number; isHole: boolean } | null
}

/** Finds the exact border in a range; null if the file is not in a usable order, `spent` if the budget ran out. */
export async function borderIn(
  probes: Probes,
  instant: number,
  range: SearchRange,
): Promise<Border | null | 'spent'> {
  const size = await probes.text.size()
  const margin = probes.options.parallel > 4 ? REMOTE_MARGIN : MARGIN
  let from = range.early?.start ?? 0
  let to = range.late?.start ?? size
  let isDisordered = false
  for (;;) {
    const lower = Math.max(0, from - FAR)
    const upper = Math.min(size, to + FAR)
    const places: number[] = []
    for (let at = from - margin; at > lower; at -= margin) places.push(at)
    for (let at = to + margin; at < upper; at += margin) places.push(at)
    const [first, isDone] = await Promise.all([
      isDisordered ? null : examine(probes, instant, { from, to, margin, blank: range.blank }),
      probes.look(places),
    ])
    if (first === 'spent' || !isDone) return 'spent'
    const wider = disorderAround(probes.known(0, size), instant, { from, to, lower, upper })
    if (wider) {
      isDisordered = true
      from = wider.from ?? 0
      to = wider.to ?? size
      if (to - from > MAX_DISORDER) return null
      continue
    }
    if (isDisordered) return { from, to, ordered: false }
    if (first !== 'wider') return first
    // Out of order up to the edge of what was examined: as far as the samples next to it.
    isDisordered = true
    from = probes.known(lower, from - margin).findLast(({ time }) => time < instant)?.start ?? 0
    to = probes.known(to + margin, upper).find(({ time }) => time >= instant)?.start ?? size
  }
}

/** The part that must be checked record by record because samples around the range are out of order; otherwise null. */
function disorderAround(
  samples: readonly TimeSample[],
  instant: number,
  { from, to, lower: near, upper: far }: { from: number; to: number; lower: number; upper: number },
): { from: number | null; to: number | null } | null {
  const timed = samples.filter(({ time }) => !Number.isNaN(time))
  let first = -1
  let last = -1
  for (let i = 0; i < timed.length; i++) {
    const { start, time } = timed[i]!
    const isMisplaced = start < from ? time >= instant : start > to && time < instant
    const isBack = i > 0 && start > near && start < far && time < timed[i - 1]!.time
    if (!isMisplaced && !isBack) continue
    if (first < 0) first = isBack ? i - 1 : i
    last = i
  }
  if (first < 0) return null
  const lower = Math.min(from, first > 0 ? timed[first - 1]!.start : from)
  const upper = Math.max(to, timed[last + 1]?.start ?? to)
  const reachesStart = first === 0 && timed[0]!.start <= from
  const reachesEnd = last === timed.length - 1 && timed[last]!.start >= to
  // Already inside the part that is checked record by record.
  if (lower === from && upper === to && !reachesStart && !reachesEnd) return null
  return { from: reachesStart ? null : lower, to: reachesEnd ? null : upper }
}

interface Examined {
  from: number
  to: number
  margin: number
  blank: SearchRange['blank']
}

/** Checks every record near the range for where the early ones end and the late ones begin. */
async function examine(
  probes: Probes,
  instant: number,
  { from: rangeFrom, to: rangeTo, margin, blank }: Examined,
): Promise<Border | 'wider' | 'spent'> {
  const { budget } = probes.options
  const size = await probes.text.size()
  const from = Math.max(0, rangeFrom - margin)
  const to = Math.min(size, rangeTo + margin)
  // A hole is skipped. So is text without times, if there is too much of it to be read.
  const isSkipped = blank !== null && (blank.isHole || blank.to - blank.from > MAX_BLANK)
  const parts = isSkipped ? [[from, blank.from] as const, [blank.to, to] as const] : [[from, to] as const]
  const seen = earlyAndLate(probes, instant)
  for (const [start, end] of parts) {
    const bytes = await readAll(probes, start, end)
    if (bytes === null) return 'spent'
    for (let at = 0; at < bytes.length; ) {
      if (!(await budget.step())) return 'spent'
      at = seen.look(bytes, start, at)
    }
  }
  const { firstLate, early } = seen
  const earlyEnd = early === null ? from : Number.isNaN(early) ? to : early
  if (firstLate === null) return { from: size, to: size, ordered: true }
  if (earlyEnd <= firstLate) {
    // What is skipped unread may hold anything, unless it is a hole.
    if (isSkipped && !blank.isHole)
      return { from: Math.min(earlyEnd, blank.from), to: firstLate, ordered: true }
    return { from: firstLate, to: firstLate, ordered: true }
  }
  const isInside =
    (from === 0 || firstLate > from + margin / 2) && (to === size || earlyEnd < to - margin / 2)
  return isInside ? { from: firstLate, to: earlyEnd, ordered: false } : 'wider'
}

/** How much is examined between two turns of the event loop. */
const EXAMINED = 256 * 1024

/** Walks over records in order and remembers the first late one and the end of the last early one. */
function earlyAndLate({ options: { format, zone } }: Probes, instant: number) {
  let isEarly = false
  const seen = {
    firstLate: null as number | null,
    /** Where the last early record ends: null before the first, NaN until the next record starts. */
    early: null as number | null,
    /** Checks some records of bytes, which start at `base`; returns where to continue. */
    look(bytes: Uint8Array, base: number, from: number): number {
      const isFileStart = base === 0 && from === 0
      let start =
        isFileStart && format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))
          ? 0
          : nextStart(format, bytes, from, bytes.length)
      for (const stop = from + EXAMINED; start >= 0; ) {
        if (start >= stop) return start - 1
        const end = lineEnd(bytes, start, bytes.length)
        if (seen.early !== null && Number.isNaN(seen.early)) seen.early = base + start
        const time = format.time(bytes, start, end, zone)
        // A record without a time counts with the one before it.
        if (!Number.isNaN(time)) isEarly = time < instant
        if (isEarly) seen.early = Number.NaN
        else if (!Number.isNaN(time)) seen.firstLate ??= base + start
        start = nextStart(format, bytes, end, bytes.length)
      }
      return bytes.length
    },
  }
  return seen
}

/** The bytes [from, to), read in parallel pieces; null when the budget runs out. */
async function readAll(probes: Probes, from: number, to: number): Promise<Uint8Array | null> {
  const { budget, parallel } = probes.options
  const { text } = probes
  if (to - from <= READ) {
    if (!(await budget.step())) return null
    budget.spend(Math.max(0, to - from))
    return text.read(from, to)
  }
  const all = new Uint8Array(to - from)
  const starts = Array.from({ length: Math.ceil((to - from) / READ) }, (_, i) => from + i * READ)
  const isComplete = await each(starts, parallel, async (at) => {
    if (!(await budget.step())) return false
    const end = Math.min(to, at + READ)
    budget.spend(end - at)
    const into = all.subarray(at - from, end - from)
    // A store may return memory of its own.
    const bytes = await text.read(at, end, { into })
    if (bytes.buffer !== into.buffer) into.set(bytes)
  })
  return isComplete ? all : null
}
