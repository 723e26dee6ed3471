import { LARGEST_SEGMENT } from '../store/segment/names.ts'

export interface CutRules {
  /** Bytes of text. */
  segmentBytes: number
  /** How long a byte waits. */
  segmentAgeMs: number
  /** How long an unfinished line waits. */
  lineAgeMs: number
}

/** Text that waits to be shipped, from `from` on; everything before `shipped` is in the bucket. */
export interface Waiting {
  /** Where the segment starts; before `shipped` while it is a part. */
  from: number
  shipped: number
  size: number
  /** How long the first unshipped byte has waited. */
  ageMs: number
  /** Ship all of it: the file was rotated, or the shipper is stopping. */
  everything: boolean
}

/** How far the next segment may reach; null while nothing is due. */
export function reach(rules: CutRules, { from, shipped, size, ageMs, everything }: Waiting): number | null {
  if (size <= shipped) return null
  const full = from + Math.min(rules.segmentBytes, LARGEST_SEGMENT)
  if (size >= full) return full
  return everything || ageMs >= rules.segmentAgeMs ? size : null
}

/**
 * Where to cut the text from `from` to `reached`: after its last line end, unless there is none in the unshipped part.
 * Then a full segment is cut anywhere, and an unfinished line waits. Null while it waits.
 */
export function cutAt(
  rules: CutRules,
  text: Uint8Array,
  { from, shipped, size, ageMs, everything }: Waiting,
): number | null {
  const reached = from + text.length
  const rest = reached < size
  if (everything && !rest) return reached
  const newline = text.lastIndexOf(10)
  const end = from + newline + 1
  if (newline >= 0 && end > shipped) return end
  if (text.length >= Math.min(rules.segmentBytes, LARGEST_SEGMENT)) return reached
  return ageMs >= rules.lineAgeMs ? reached : null
}
