import { BoundedMap } from '../limits/bounded-map.ts'
/**
 * A time zone that turns wall clocks into instants, millions of times a second.
 *
 * A wall-clock time that occurs twice (clocks set back) is the first of the two instants; one that never occurs
 * (clocks set forward) is counted from before the gap, so 02:30 in a gap from 02:00 to 03:00 is 03:30.
 */
export interface Zone {
  /** The name it was made from: an IANA name, an offset, `UTC`. */
  readonly name: string
  /** The instant of a wall clock, made by `dayOf` and `clockOf`, in ms since the epoch; NaN if there is no such day. */
  toEpoch(day: number, clock: number): number
  /** Milliseconds east of UTC at an instant. */
  offsetAt(epoch: number): number
  /** ISO 8601 in this zone: `2026-11-15T02:10:00.123Z` in UTC, otherwise with the offset of that instant. */
  format(epoch: number): string
}

const HOUR = 3_600_000
const DAY = 86_400_000

/** A zone by IANA name, offset (`+02:00`, `-0730`, `+2`), `Z`, `UTC`, or `local` for the system's; else null. */
export function parseZone(name: string): Zone | null {
  const text = name.trim()
  if (/^(z|utc|gmt)$/i.test(text)) return UTC
  if (/^local$/i.test(text)) return parseZone(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC
  const offset = parseOffset(text)
  if (offset !== null) return offset === 0 ? UTC : fixedZone(text, offset)
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text)) return null
  try {
    return namedZone(text)
  } catch {
    return null
  }
}

/** Coordinated universal time. */
export const UTC: Zone = fixedZone('UTC', 0)

function parseOffset(text: string): number | null {
  const found = /^(?:UTC|GMT)?([+-])(\d\d?)(?::?([0-5]\d))?$/i.exec(text)
  if (!found) return null
  const hours = Number(found[2])
  if (hours > 18) return null
  const size = hours * HOUR + Number(found[3] ?? 0) * 60_000
  return found[1] === '-' ? -size : size
}

function fixedZone(name: string, offset: number): Zone {
  const startOf = dayStarts()
  return {
    name,
    toEpoch: (day, clock) => startOf(day) + clock - offset,
    offsetAt: () => offset,
    format: (epoch) => iso(epoch, offset),
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

/** The start of a day in ms as if in UTC. It is cached, since the next line is nearly always of the same day. */
function dayStarts(): (day: number) => number {
  let known = Number.NaN
  let start = Number.NaN
  return (day) => {
    if (day === known) return start
    const month = Math.floor(day / 100) % 100
    const date = new Date(0)
    date.setUTCFullYear(Math.floor(day / 10_000), month - 1, day % 100)
    start = date.getUTCMonth() === month - 1 && date.getUTCDate() === day % 100 ? date.getTime() : Number.NaN
    known = day
    return start
  }
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

function iso(epoch: number, offset: number): string {
  // Rounded to a microsecond first, or 0.9999999 would be cut to the millisecond before.
  const whole = Math.floor(epoch + 0.0005)
  const text = new Date(whole + offset).toISOString()
  const micros = Math.round((epoch - whole) * 1000)
  const head = text.slice(0, -1) + (micros > 0 ? String(micros).padStart(3, '0') : '')
  if (offset === 0) return `${head}Z`
  const size = Math.floor(Math.abs(offset) / 60_000)
  const hh = String(Math.floor(size / 60)).padStart(2, '0')
  return `${head}${offset < 0 ? '-' : '+'}${hh}:${String(size % 60).padStart(2, '0')}`
}
