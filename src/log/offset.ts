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

/** A zone by its offset (`+02:00`, `-0730`, `+2`), `Z` or `UTC`; else null. */
export function offsetZone(text: string): Zone | null {
  if (/^(z|utc|gmt)$/i.test(text)) return UTC
  const found = /^(?:UTC|GMT)?([+-])(\d\d?)(?::?([0-5]\d))?$/i.exec(text)
  if (!found) return null
  const hours = Number(found[2])
  if (hours > 18) return null
  const size = hours * HOUR + Number(found[3] ?? 0) * 60_000
  return size === 0 ? UTC : fixedZone(text, found[1] === '-' ? -size : size)
}

/** Coordinated universal time. */
export const UTC: Zone = fixedZone('UTC', 0)

function fixedZone(name: string, offset: number): Zone {
  const startOf = dayStarts()
  return {
    name,
    toEpoch: (day, clock) => startOf(day) + clock - offset,
    offsetAt: () => offset,
    format: (epoch) => iso(epoch, offset),
  }
}

/** The start of a day in ms as if in UTC. It is cached, since the next line is nearly always of the same day. */
export function dayStarts(): (day: number) => number {
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

/** The minute of the last time: the next one is nearly always in it, and the calendar costs most. */
let last = { minute: Number.NaN, text: '' }

/** ISO 8601 at an offset in ms, to the microsecond. */
export function iso(epoch: number, offset: number): string {
  // Rounded to a microsecond first, or 0.9999999 would be cut to the millisecond before.
  const whole = Math.floor(epoch + 0.0005)
  const local = whole + offset
  const minute = Math.floor(local / 60_000)
  if (minute !== last.minute) last = { minute, text: new Date(local).toISOString().slice(0, -7) }
  const millis = local - minute * 60_000
  const micros = Math.round((epoch - whole) * 1000)
  const seconds = (millis < 10_000 ? '0' : '') + (millis / 1000).toFixed(3)
  const head = last.text + seconds + (micros > 0 ? String(micros).padStart(3, '0') : '')
  if (offset === 0) return `${head}Z`
  const size = Math.floor(Math.abs(offset) / 60_000)
  const hh = String(Math.floor(size / 60)).padStart(2, '0')
  return `${head}${offset < 0 ? '-' : '+'}${hh}:${String(size % 60).padStart(2, '0')}`
}
