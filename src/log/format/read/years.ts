import type { Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'

/** An instant near a file's last record: the time of its last change, or now while it is followed. */
export type Reference = () => number

/** Finds the year of a day without one: `at` returns the instant in a given year. */
export type Years = (month: number, date: number, at: (year: number) => number) => number

/**
 * Gives days without a year the latest year that is not a day after the reference. Lines of one day come together, so
 * its year is kept, unless the time of day decides: to find it takes as long as the rest of a line.
 */
export function yearsBefore(reference: Reference): Years {
  let known = { month: 0, date: 0, year: 0 }
  return (month, date, at) => {
    if (month === known.month && date === known.date) return at(known.year)
    const limit = reference() + DAY
    const newest = new Date(limit).getUTCFullYear() + 1
    // 29 February may be four years back, or eight around 1900 and 2100.
    for (let year = newest; year > newest - 10; year--) {
      const epoch = at(year)
      if (!(epoch <= limit)) continue
      // At no time of that day is it after the limit, or the same day of the next year before it.
      if (epoch + DAY <= limit && epoch + 363 * DAY > limit) known = { month, date, year }
      return epoch
    }
    return Number.NaN
  }
}

const DAY = 86_400_000

/** How far a line's clock may be ahead of the file's time of change. */
const SKEW = 60_000

/** The instant of a time of day without a date: the last one that is not after the reference. */
export function clockBefore(reference: number, zone: Zone, ms: number): number {
  const wall = new Date(reference + zone.offsetAt(reference))
  for (const days of [0, -1]) {
    const date = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate() + days))
    const [h, min] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60]
    const day = dayOf(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
    const epoch = zone.toEpoch(day, clockOf(h, min, Math.floor(ms / 1000) % 60, ms % 1000))
    if (epoch <= reference + SKEW) return epoch
  }
  return Number.NaN
}
