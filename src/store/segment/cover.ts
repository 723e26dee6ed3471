import { LARGEST_SEGMENT, type Segment } from './names.ts'

/** A part of a segment that goes into an answer. */
export interface Piece {
  segment: Segment
  from: number
  to: number
}

/** Segments by their start, one for each: the longest contains the shorter ones. */
export class SegmentMap {
  /** By their start. */
  readonly all: Segment[] = []

  add(segment: Segment): void {
    const at = this.#after(segment.start - 1)
    const same = this.all[at]
    if (same?.start !== segment.start) this.all.splice(at, 0, segment)
    else if (segment.end > same.end || (segment.end === same.end && same.young)) this.all[at] = segment
  }

  /** Removes a segment, if it is the one that is known for its start. */
  delete({ start, end, crc }: Segment): void {
    const at = this.#after(start - 1)
    const same = this.all[at]
    if (same?.start === start && same.end === end && same.crc === crc) this.all.splice(at, 1)
  }

  /**
   * Which segments give the bytes [from, to), each byte once. At each place the one that reaches furthest is taken, so
   * overlaps cost nothing. `hole` is where none is known: the place, what is known to end before it (0 without any),
   * and where the next known one starts.
   */
  cover(
    from: number,
    to: number,
  ): { pieces: Piece[]; hole: { at: number; from: number; to: number } | null } {
    const pieces: Piece[] = []
    const sorted = this.all
    let at = from
    let next = this.#after(from - LARGEST_SEGMENT - 1)
    let best: Segment | null = next > 0 ? sorted[next - 1]! : null
    let reached = best?.end ?? 0
    while (at < to) {
      for (; next < sorted.length && sorted[next]!.start <= at; next++) {
        const segment = sorted[next]!
        reached = Math.max(reached, segment.end)
        if (!best || segment.end > best.end) best = segment
      }
      if (!best || best.end <= at)
        return { pieces, hole: { at, from: reached, to: sorted[next]?.start ?? Number.POSITIVE_INFINITY } }
      const end = Math.min(best.end, to)
      pieces.push({ segment: best, from: at, to: end })
      at = end
    }
    return { pieces, hole: null }
  }

  /** The index of the first segment that starts after `start`. */
  #after(start: number): number {
    let low = 0
    let high = this.all.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.all[middle]!.start <= start) low = middle + 1
      else high = middle
    }
    return low
  }
}
