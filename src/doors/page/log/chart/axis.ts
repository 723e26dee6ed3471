import { DAY, MINUTE, SECOND, STEPS } from '../../../../log/histogram/steps.ts'
import { wallAt } from '../record/record.ts'

interface Tick {
  at: number
  label: string
}

/** At most `most` labels between two moments, on full steps of the wall clock. */
export function timeTicks(from: number, to: number, options: { zone: number; most: number }): Tick[] {
  const { zone, most } = options
  if (!(to > from) || most < 1) return []
  const step =
    STEPS.find((each) => (to - from) / each <= most) ??
    STEPS.at(-1)! * Math.ceil((to - from) / (STEPS.at(-1)! * most))
  const years = isOfYears(wallAt(from, zone), wallAt(to, zone))
  const shift = zone * MINUTE
  const ticks: Tick[] = []
  for (let at = Math.ceil((from + shift) / step) * step - shift; at <= to; at += step)
    ticks.push({ at, label: tickLabel(wallAt(at, zone), step, years) })
  return ticks
}

/** Whether two wall times are in different years. */
export function isOfYears(from: string, to: string): boolean {
  return from.slice(0, 4) !== to.slice(0, 4)
}

/** As much of the time as the step calls for; midnight is a date, with its year where there are several. */
function tickLabel(wall: string, step: number, years: boolean): string {
  if (years && step >= 28 * DAY) return wall.slice(0, 7)
  if (step >= DAY || wall.slice(11, 23) === '00:00:00.000') return wall.slice(years ? 0 : 5, 10)
  if (step >= MINUTE) return wall.slice(11, 16)
  return step >= SECOND ? wall.slice(11, 19) : wall.slice(14, 23)
}

/** The next round number: 10, 15, 20, 30, 40 … */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  for (const factor of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (factor * power >= value) return factor * power
  return value
}
