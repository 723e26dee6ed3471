const HOUR = 3_600_000

/** A day of the calendar as one number, for `toEpoch`. Month and day count from 1. */
export function dayOf(year: number, month: number, day: number): number {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? year * 10_000 + month * 100 + day : Number.NaN
}

/**
 * A time of day in ms, for `toEpoch`; `ms` may have a fraction. NaN for what no clock shows (24:00, second 61; second 60
 * is the next minute's 0).
 */
export function clockOf(h: number, min: number, s: number, ms: number): number {
  return h > 23 || min > 59 || s > 60 ? Number.NaN : h * HOUR + min * 60_000 + s * 1000 + ms
}

/** Decimals of a second as ms with a fraction; past nine they are below what a double holds. */
export function milliseconds(decimals: string): number {
  const digits = decimals.slice(0, 9)
  return digits === '' ? 0 : Number(digits) / 10 ** (digits.length - 3)
}
