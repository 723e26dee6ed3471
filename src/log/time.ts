import { BoundedMap } from '../limits/bounded-map.ts'
import { dayStarts, iso, offsetZone, UTC, type Zone } from './offset.ts'

export { UTC, type Zone } from './offset.ts'

const HOUR = 3_600_000
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
  let cachedHour = Number.NaN
  let cachedOffset = 0
  // Only the hours around a change of offset get here; each minute of them is worked out once.
  const minutes = new BoundedMap<number, number>(10_000)

  const offsetOf = (at: number): number => {
    const hour = Math.floor(at / HOUR)
    if (hour === cachedHour) return cachedOffset
    const start = resolve(hour * HOUR, offsetAt)
    if (start === resolve(hour * HOUR + HOUR - 1, offsetAt)) {
      cachedHour = hour
      cachedOffset = start
      return start
    }
    const minute = Math.floor(at / 60_000)
    let offset = minutes.get(minute)
    if (offset === undefined) {
      offset = resolve(minute * 60_000, offsetAt)
      minutes.set(minute, offset)
    }
    return offset
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
  const known = new BoundedMap<number, number>(50_000)
  let lastQuarter = Number.NaN
  let last = 0
  return (epoch) => {
    const quarter = Math.floor(epoch / 900_000)
    if (quarter === lastQuarter) return last
    let offset = known.get(quarter)
    if (offset === undefined) {
      const start = quarter * 900_000
      const parts: Record<string, string> = {}
      for (const { type, value } of format.formatToParts(start)) parts[type] = value
      const year = parts.era?.startsWith('B') ? 1 - Number(parts.year) : Number(parts.year)
      const date = new Date(0)
      date.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day))
      date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second))
      offset = date.getTime() - start
      known.set(quarter, offset)
    }
    lastQuarter = quarter
    last = offset
    return offset
  }
}
