import { byName, type RotatedFile } from './by-name.ts'
import { isRising } from './times.ts'

export function changesOf(order: readonly RotatedFile[]): number[] {
  return order.map(({ entry }) => entry.modified)
}

/**
 * Whether each file with text was changed after the one before it. An archive may have been made late, with a new time: if
 * all archives come first, they are compared only with each other. Files that were changed in
 * one tick of the clock are ordered by name, unless the other direction fits, too.
 */
export function isByChange(order: readonly RotatedFile[], other: readonly RotatedFile[]): boolean {
  return isChanged(order, -1) || (isChanged(order, 0) && !isChanged(other, 0))
}

export function isChanged(order: readonly RotatedFile[], tolerance: number): boolean {
  const full = order.filter(hasText)
  const kinds = [full.filter(({ compressed }) => compressed), full.filter(({ compressed }) => !compressed)]
  const groups = isArchivedFirst(order) ? kinds : [full]
  return groups.every((files) => isRising(changesOf(files), tolerance))
}

/** Whether no archive comes after a file that is not compressed: the older ones are compressed first. */
export function isArchivedFirst(order: readonly RotatedFile[]): boolean {
  return isRising(order.filter(hasText).map(({ compressed }) => (compressed ? 0 : 1)))
}

/** The time of an empty file says little: it may be older than the archive before it, or be the time of a truncation. */
export function hasText({ entry }: RotatedFile): boolean {
  return entry.size > 0
}

export function byChange(a: RotatedFile, b: RotatedFile): number {
  return a.entry.modified - b.entry.modified || byName(a, b)
}
