/** In autumn, local times step back by an hour. */
export const CLOCK_CHANGE_MS = 3_600_000

/** Whether no number is lower than the one before it by more than the tolerance; -1 means that each is higher. */
export function isRising(numbers: readonly number[], tolerance = 0): boolean {
  return numbers.every((number, i) => i === 0 || numbers[i - 1]! - number <= tolerance)
}

/**
 * Puts files that were shipped after newer ones where their first records belong; the newest stays the newest. It is a
 * guess where times are missing (NaN), equal, or contradict the order.
 */
export function insertByTime<T>(
  order: readonly T[],
  late: readonly T[],
  timeOf: (file: T) => number,
): { order: T[]; certain: boolean } {
  let certain = isRising(order.map(timeOf))
  const inserted = [...order]
  for (const file of late) {
    const time = timeOf(file)
    const next = inserted.findIndex((other) => timeOf(other) > time)
    if (next < 0 || inserted.some((other) => timeOf(other) === time)) certain = false
    inserted.splice(next < 0 ? Math.max(0, inserted.length - 1) : next, 0, file)
  }
  return { order: inserted, certain }
}

/** The times of the records in a file, in milliseconds. */
export interface FirstAndLast {
  /** Of the first record; null when it has none. */
  time: number | null
  /** Of the last record; absent where it was not needed or is not known. */
  last?: number
}

/** Whether the records of a file are in the time of another one. */
export function isWithin(one: FirstAndLast | undefined, other: FirstAndLast | undefined): boolean {
  const [first, last] = [one?.time ?? Number.NaN, one?.last ?? Number.NaN]
  return first >= (other?.time ?? Number.NaN) && last <= (other?.last ?? Number.NaN)
}

/** Lines that several threads write at once may be out of order by this much. */
export const DISORDER_MS = 100

/** Whether the records of a file are known to go on after the next one begins. */
export function overlap(spans: readonly (FirstAndLast | undefined)[]): boolean {
  return spans.some(
    (span, i) => (span?.last ?? Number.NaN) > (spans[i + 1]?.time ?? Number.NaN) + DISORDER_MS,
  )
}
