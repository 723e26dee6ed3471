/** A number of records, which may be estimated from a sample. */
export interface Tally {
  /** How many there are, and the sum of the squares of what each record of the sample stands for. */
  count: number
  squares: number
}

export function tally(): Tally {
  return { count: 0, squares: 0 }
}

export function addTo(one: Tally, weight: number): void {
  one.count += weight
  one.squares += weight * weight
}

/** How many of each side are compared with each other: the lengths of time, or all records of a kind. */
export interface Exposure {
  range: number
  base: number
}

/**
 * How surely two counts differ in their rates: twice the logarithm of how much better two rates explain them than one.
 * 11 is one in a thousand. `unit` is what one record of the samples stands for, at least 1.
 */
export function evidence(count: number, base: number, exposure: Exposure, unit = 1): number {
  const all = count + base
  const share = exposure.range / (exposure.range + exposure.base)
  const part = (own: number, expected: number) => (own === 0 ? 0 : own * Math.log(own / expected))
  return (2 * (part(count, all * share) + part(base, all * (1 - share)))) / Math.max(1, unit)
}

/** What one record of a sample stands for, among these. */
export const unitOf = ({ count, squares }: Tally) => (count === 0 ? 1 : squares / count)

/** One in three thousand for a range that resembles its base, however many things are compared. */
const SURE = 13

/** The least evidence of a finding among so many things that are compared. */
export function leastEvidence(compared: number): number {
  return SURE + 2 * Math.log(Math.max(1, compared))
}

/** How often more something is in the range; infinite for what is new. */
export function ratio(count: number, base: number, { range, base: before }: Exposure): number {
  return base === 0 ? Number.POSITIVE_INFINITY : count / range / (base / before)
}
