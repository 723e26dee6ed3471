import { byCodePoint, type Entry } from '../../store/store.ts'
import { isRotated, type LogName } from './names.ts'

export interface RotatedFile extends LogName {
  entry: Entry
}

/** Behind a date numbers rise; without one, the highest is the oldest. The active file comes last. */
export const byName = orderOf(1)
/** The same with numbers in the other direction. */
export const byNameReversed = orderOf(-1)

function orderOf(direction: 1 | -1) {
  return (a: RotatedFile, b: RotatedFile): number =>
    Number(isActive(a)) - Number(isActive(b)) ||
    byCodePoint(a.date, b.date) ||
    direction * (a.date === '' ? b.index - a.index : a.index - b.index) ||
    a.entry.modified - b.entry.modified ||
    Number(b.compressed) - Number(a.compressed) ||
    byCodePoint(a.entry.key, b.entry.key)
}

/** Whether a name is that of a log's newest file: it has no date and no number. */
export function isActive(member: LogName): boolean {
  return !isRotated(member)
}
