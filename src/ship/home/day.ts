import { DAY_MINUTES, type EachMinute } from '../../store/segment/day.ts'

/** The errors and warnings of a log in the last 24 hours by the minute: 12 KB, and nothing as long as there are none. */
export class CountedDay {
  /** The first minute from which all are counted. */
  from: number
  /** Two numbers for each minute of a day; beyond the last one that was counted, they are from the day before. */
  #counts: Uint32Array | null = null
  #to = 0

  constructor(from: number) {
    this.from = from
  }

  set(minute: number, errors: number, warnings: number): void {
    if (errors + warnings === 0) return
    this.#counts ??= new Uint32Array(2 * DAY_MINUTES)
    this.#counts.set([errors, warnings], 2 * (minute % DAY_MINUTES))
  }

  /** Begins to count the minutes from one to another. */
  begin(from: number, to: number): void {
    this.#to = Math.max(this.#to, to)
    for (let minute = Math.max(from, to - DAY_MINUTES + 1); minute <= to; minute++)
      this.#counts?.fill(0, 2 * (minute % DAY_MINUTES), 2 * (minute % DAY_MINUTES) + 2)
  }

  /** Forgets everything, as if counting began with this minute. */
  clear(from: number): void {
    this.from = from
    this.#counts = null
  }

  /** Calls a function with each minute from one to another, a day at most, that has errors or warnings. */
  each(from: number, to: number, add: Parameters<EachMinute>[0]): void {
    for (let minute = from; this.#counts && minute <= Math.min(to, this.#to); minute++) {
      const [errors, warnings] = this.#counts.subarray(2 * (minute % DAY_MINUTES))
      if (errors! + warnings! > 0) add(minute, errors!, warnings!)
    }
  }
}
