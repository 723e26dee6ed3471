import type { Find, LineFormat } from '../format/format.ts'
import { lineEnd } from '../format/lines.ts'
import type { Scanner } from './scanner.ts'
import { levelCode, levelOfCode, type Shapes } from './shapes.ts'

/** Lines that are found by how they are written (`LineFormat.shape`). */
export interface ShapedLines {
  /** Leads to the next line of the level, or of an unknown one. */
  find: Find
  /** The level of the line that was found; undefined if it has no known shape. */
  readonly level: number | undefined
  /** Whether the line that follows one with a shape has one, too, and begins a record. */
  begins(at: number): boolean
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
  const { to } = chunk
  const least = levelCode(level)
  const lines = {
    level: undefined as number | undefined,
    find(bytes: Uint8Array, from: number, to: number): number {
      for (let at = from; ; ) {
        const next = scanner.afterShaped(base, { from: at, to }, shapes.length, least)
        const isFound = next < to && scanner.said >= 0
        lines.level = isFound ? levelOfCode(scanner.said) : undefined
        if (isFound || next >= to) {
          shapes.fitted(next - at)
          return isFound ? next : -1
        }
        if (!shapes.isWorth(next - at)) return next
        const end = lineEnd(bytes, next, to)
        const pieces = format.shape!(bytes, next, end)
        if (!pieces || !shapes.learn({ bytes, from: next, to: end, pieces }, null)) return next
        at = next
      }
    },
    begins: (at: number) =>
      scanner.afterShaped(base, { from: at, to }, shapes.length, 0) === at && levelOfCode(scanner.said) >= -1,
  }
  return lines
}
