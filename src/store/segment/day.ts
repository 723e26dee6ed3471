/** The errors and warnings of a log in the last 24 hours, within a few KB: most minutes have none, and the rest are short. */
export interface DayCounts {
  /** The first minute since the epoch from which all are counted. */
  from: number
  /** How many minutes are one count: few, unless many logs have much to count. */
  step: number
  /** For each step with any: how many steps it is after the one before, its errors and its warnings. */
  text: string
}

export const DAY_MINUTES = 24 * 60
/** The steps that a shipper writes: the first that is short enough. */
export const DAY_STEPS = [1, 5, 15] as const

/** A number is written in digits of five bits, the lowest first; all but its last digit are in the second half. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const BITS = 5
const MORE = 1 << BITS
/** Six digits; a higher count is written as this. */
const MOST = 2 ** 30 - 1

/** Calls a function with each minute that has errors or warnings, in order. */
export type EachMinute = (add: (minute: number, errors: number, warnings: number) => void) => void

export function writeDay(from: number, step: number, each: EachMinute): DayCounts {
  let text = ''
  let last = Math.floor(from / step)
  let [at, errors, warnings] = [last, 0, 0]
  const end = () => {
    if (errors + warnings === 0) return
    text += digitsOf(at - last) + digitsOf(errors) + digitsOf(warnings)
    ;[last, errors, warnings] = [at, 0, 0]
  }
  each((minute, moreErrors, moreWarnings) => {
    const next = Math.floor(minute / step)
    if (next !== at) end()
    at = next
    errors = Math.min(MOST, errors + moreErrors)
    warnings = Math.min(MOST, warnings + moreWarnings)
  })
  end()
  return { from, step, text }
}

/** Calls a function with the first minute of each step that has errors or warnings. What is not written so ends it. */
export function readDay({ from, step, text }: DayCounts, add: Parameters<EachMinute>[0]): void {
  let at = Math.floor(from / step)
  let place = 0
  const number = () => {
    let value = 0
    for (let shift = 0; shift < 6 * BITS; shift += BITS) {
      const digit = DIGITS.indexOf(text.charAt(place++) || ' ')
      if (digit < 0) return -1
      value |= (digit % MORE) << shift
      if (digit < MORE) return value
    }
    return -1
  }
  while (place < text.length) {
    const [gap, errors, warnings] = [number(), number(), number()]
    if (gap < 0 || errors < 0 || warnings < 0) return
    at += gap
    add(at * step, errors, warnings)
  }
}

function digitsOf(value: number): string {
  let text = ''
  let rest = value
  for (; rest >= MORE; rest = Math.floor(rest / MORE)) text += DIGITS[MORE + (rest % MORE)]
  return text + DIGITS[rest]
}
