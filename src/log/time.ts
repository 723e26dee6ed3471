import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { dayStarts, iso, offsetZone, UTC, type Zone } from './offset.ts'

export { UTC, type Zone } from './offset.ts'

const QUARTER = 900_000
const DAY = 86_400_000

/** A zone by IANA name, offset (`+02:00`, `-0730`, `+2`), `Z`, `UTC`, or `local` for the system's; else null. */
export function parseZone(name: string): Zone | null {
  const text = name.trim()
  const offset = offsetZone(text)
  if (offset !== null) return offset
  if (/^local$/i.test(text)) return parseZone(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text)) return null
  try {
    return namedZone(text)
  } catch {
    return null
  }
}

function namedZone(name: string): Zone {
  const offsetAt = offsets(name)
  const startOf = dayStarts()
  let quarter = Number.NaN
  let known = 0

  const offsetOf = (at: number): number => {
    const own = Math.floor(at / QUARTER)
    if (own === quarter) return known
    const start = resolve(own * QUARTER, offsetAt)
    // Offsets of odd minutes, as they all once were, may change in the middle of one.
    if (start !== resolve(own * QUARTER + QUARTER - 1, offsetAt)) return resolve(at, offsetAt)
    quarter = own
    known = start
    return start
  }

  return {
    name,
    toEpoch(day, clock) {
      const at = startOf(day) + clock
      return Number.isNaN(at) ? at : at - offsetOf(at)
    },
    offsetAt,
    format: (epoch) => iso(epoch, offsetAt(epoch)),
  }
}

/** Which offset a wall clock has: the one before a change if it occurs twice or never. */
function resolve(at: number, offsetAt: (epoch: number) => number): number {
  const before = offsetAt(at - DAY)
  const after = offsetAt(at + DAY)
  if (before === after && offsetAt(at - before) === before) return before
  for (const offset of [before, after]) if (offsetAt(at - offset) === offset) return offset
  return before
}

/** The zone's offset at an instant. Intl costs microseconds, so an offset is kept for its quarter of an hour. */
function offsets(name: string): (epoch: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const measured = (start: number) => {
    const parts: Record<string, string> = {}
    for (const { type, value } of format.formatToParts(start)) parts[type] = value
    const year = parts.era?.startsWith('B') ? 1 - Number(parts.year) : Number(parts.year)
    const date = new Date(0)
    date.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day))
    date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second))
    return date.getTime() - start
  }
  const known = new BoundedMap<number, number>(50_000)
  let lastQuarter = Number.NaN
  let last = 0
  return (epoch) => {
    const quarter = Math.floor(epoch / QUARTER)
    if (quarter === lastQuarter) return last
    last = known.use(quarter, () => measured(quarter * QUARTER))
    lastQuarter = quarter
    return last
  }
}
