import { LARGEST_SEGMENT } from '../store/segment/names.ts'

export interface CutRules {
  /** Bytes of text. */
  segmentBytes: number
  /** How long text is young: after that it becomes a segment, however short. */
  segmentAgeMs: number
  /** How long a byte waits. */
  flushMs: number
  /** How long an unfinished line waits. */
  lineAgeMs: number
}

/** Text that waits to be shipped, or to become a segment, from `from` on; everything before `shipped` is in the bucket. */
export interface Waiting {
  /** Where the last segment ends; young text follows it up to `shipped`. */
  from: number
  shipped: number
  size: number
  /** How long the first unshipped byte has waited, and the first young one. */
  ageMs: number
  youngMs: number
  /** Ship all of it: the file was rotated, or the shipper is stopping. */
  everything: boolean
  /** The file is finished: all of it becomes a segment. */
  closing: boolean
}

/** How far the next write may reach, and whether its text stays young; null while nothing is due. */
export function dueNow(rules: CutRules, waiting: Waiting): { to: number; young: boolean } | null {
  const { from, shipped, size, ageMs, everything, closing } = waiting
  const full = from + Math.min(rules.segmentBytes, LARGEST_SEGMENT)
  if (size >= full) return { to: full, young: false }
  if (size > from && (closing || isOld(rules, waiting))) return { to: size, young: false }
  return size > shipped && (everything || ageMs >= rules.flushMs) ? { to: size, young: true } : null
}

function isOld(rules: CutRules, { from, shipped, youngMs }: Waiting): boolean {
  return shipped > from && youngMs >= rules.segmentAgeMs
}

/**
 * Where to cut the text from `from` to `reached`: after its last line end, unless there is none in the unshipped part.
 * Then a full segment is cut anywhere, and an unfinished line waits. Null while it waits.
 */
export function cutAt(rules: CutRules, text: Uint8Array, waiting: Waiting): number | null {
  const { from, shipped, size, ageMs, everything, closing } = waiting
  const reached = from + text.length
  const rest = reached < size
  if ((everything || closing) && !rest) return reached
  const newline = text.lastIndexOf(10)
  const end = from + newline + 1
  if (newline >= 0 && end > shipped) return end
  if (text.length >= Math.min(rules.segmentBytes, LARGEST_SEGMENT)) return reached
  if (ageMs >= rules.lineAgeMs) return reached
  return isOld(rules, waiting) ? shipped : null
}
