/**
 * A time zone that turns wall clocks into instants, millions of times a second.
 *
 * A wall clock that happens twice (clocks set back) is the first of the two instants; one that never happens
 * (clocks set forward) counts from before the gap, so 02:30 in a gap from 02:00 to 03:00 is 03:30.
 */
export interface Zone {
  /** The name it was made from: an IANA name, an offset, `UTC`. */
  readonly name: string
  /**
   * The instant of a wall clock in ms since the epoch; `ms` may have a fraction. Month and day count from 1;
   * NaN for what no calendar has (30 February, 24:00, second 61; second 60 is the next minute's 0).
   */
  toEpoch(year: number, month: number, day: number, h: number, min: number, s: number, ms: number): number
  /** Milliseconds east of UTC at an instant. */
  offsetAt(epoch: number): number
  /** ISO 8601 in this zone: `2026-11-15T02:10:00.123Z` in UTC, else with the offset of that instant. */
  format(epoch: number): string
}

const HOUR = 3_600_000
const DAY = 86_400_000
// What a Date can hold; an age that leads beyond it is a typing error.
const EARLIEST = -8.64e15

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

/** Whether clocks in a zone show an abbreviation, such as `CST` in Chicago, in winter or in summer. */
export function usesAbbreviation(zone: Zone, word: string): boolean {
  if (!zone.name.includes('/')) return zone.name === word
  // Intl knows the abbreviations of a region by the English of that region.
  return ['en-US', 'en-GB', 'en-IN', 'en-AU'].some((language) => {
    const format = new Intl.DateTimeFormat(language, { timeZone: zone.name, timeZoneName: 'short' })
    return [0, 6].some((month) =>
      format.formatToParts(Date.UTC(2026, month)).some(({ value }) => value === word),
    )
  })
}

/**
 * An instant as people write it, in ms since the epoch, or null when it is none of these:
 * ISO 8601 with a zone (`T` or space, any number of decimals, date only), the same without a zone in `zone`,
 * a time of day (`02:10`: today, or yesterday where that would be in the future), an age (`15m`, `1h30m`, `2d`)
 * counted back from `now`, or the Unix epoch in seconds (10 digits, decimals allowed) or milliseconds (13 digits).
 */
export function parseInstant(text: string, options: InstantOptions): number | null {
  const { zone, now } = options
  const input = text.trim()
  if (input.length === 0 || input.length > 64) return null
  const age = parseDuration(input)
  if (age !== null) return now - age < EARLIEST ? null : now - age
  if (/^\d{13}$/.test(input)) return Number(input)
  if (/^\d{10}(\.\d{1,9})?$/.test(input)) return Math.round(Number(input) * 1e6) / 1e3
  if (/^now$/i.test(input)) return now
  return dated(input, zone) ?? timeOfDay(input, options)
}

/** What an instant is read by. */
export interface InstantOptions {
  /** The zone of a time that names none. */
  zone: Zone
  /** Ms since the epoch. */
  now: number
  /** With it, a time of day is the first one at or after this instant: the end of a window that begins here. */
  after?: number | undefined
}

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
}

/** A length of time such as `15m`, `90s`, `1h30m`, `1.5h`, `2d` in ms, or null. Each unit at most once. */
export function parseDuration(text: string): number | null {
  if (!/^(\d{1,9}(\.\d{1,9})?(ms|min|s|m|h|d|w))+$/i.test(text)) return null
  let total = 0
  const seen = new Set<string>()
  for (const [, amount, unit] of text.toLowerCase().matchAll(/([\d.]+)([a-z]+)/g)) {
    const name = unit === 'min' ? 'm' : unit!
    if (seen.has(name)) return null
    seen.add(name)
    total += Number(amount) * UNITS[name]!
  }
  return total
}

// The space before an offset is a `+` that a client forgot to encode: a query string turns it into a space.
const DATED =
  /^(\d{4})-(\d\d)-(\d\d)(?:(?:[Tt]| +)(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?(?: ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)| (\d\d:\d\d))?)?$/

function dated(text: string, zone: Zone): number | null {
  const found = DATED.exec(text)
  if (!found) return null
  const [, y, mo, d, h = '0', min = '0', s = '0', decimals = '', named, bare] = found
  const offset = named ?? (bare === undefined ? undefined : `+${bare}`)
  const where = offset === undefined ? zone : parseZone(offset)
  if (!where) return null
  const epoch = where.toEpoch(+y!, +mo!, +d!, +h, +min, +s, milliseconds(decimals))
  return Number.isNaN(epoch) ? null : epoch
}

function timeOfDay(text: string, { zone, now, after }: InstantOptions): number | null {
  const found = /^(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?$/.exec(text)
  if (!found) return null
  const [, h, min, s = '0', decimals = ''] = found
  // Days are counted on the wall: yesterday is 23 or 25 hours ago on two days of the year.
  const start = after ?? now
  const wall = new Date(start + zone.offsetAt(start))
  for (const days of after === undefined ? [0, -1] : [0, 1]) {
    const day = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate() + days))
    const epoch = zone.toEpoch(
      day.getUTCFullYear(),
      day.getUTCMonth() + 1,
      day.getUTCDate(),
      +h!,
      +min!,
      +s,
      milliseconds(decimals),
    )
    if (Number.isNaN(epoch)) return null
    if (after === undefined ? epoch <= now : epoch >= after) return epoch
  }
  return null
}

/** Decimals of a second as ms with a fraction; past nine they are below what a double holds. */
export function milliseconds(decimals: string): number {
  const digits = decimals.slice(0, 9)
  return digits === '' ? 0 : Number(digits) / 10 ** (digits.length - 3)
}

function parseOffset(text: string): number | null {
  const found = /^(?:UTC|GMT)?([+-])(\d\d?)(?::?([0-5]\d))?$/i.exec(text)
  if (!found) return null
  const hours = Number(found[2])
  if (hours > 18) return null
  const size = hours * HOUR + Number(found[3] ?? 0) * 60_000
  return found[1] === '-' ? -size : size
}

function fixedZone(name: string, offset: number): Zone {
  const wall = wallClock()
  return {
    name,
    toEpoch: (year, month, day, h, min, s, ms) => wall(year, month, day, h, min, s, ms) - offset,
    offsetAt: () => offset,
    format: (epoch) => iso(epoch, offset),
  }
}

function namedZone(name: string): Zone {
  const offsetAt = offsets(name)
  const wall = wallClock()
  let cachedHour = Number.NaN
  let cachedOffset = 0
  // Only the hours around a change of offset get here; each minute of them is worked out once.
  const minutes = new Map<number, number>()

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
      if (minutes.size > 10_000) minutes.clear()
      minutes.set(minute, offset)
    }
    return offset
  }

  return {
    name,
    toEpoch(year, month, day, h, min, s, ms) {
      const at = wall(year, month, day, h, min, s, ms)
      return Number.isNaN(at) ? at : at - offsetOf(at)
    },
    offsetAt,
    format: (epoch) => iso(epoch, offsetAt(epoch)),
  }
}

/** Which offset a wall clock has: the one before a change where it happens twice or never. */
function resolve(at: number, offsetAt: (epoch: number) => number): number {
  const before = offsetAt(at - DAY)
  const after = offsetAt(at + DAY)
  if (before === after && offsetAt(at - before) === before) return before
  for (const offset of [before, after]) if (offsetAt(at - offset) === offset) return offset
  return before
}

/** Wall clock to ms as if it were UTC; a day's start is kept, since the next line is nearly always of the same day. */
function wallClock() {
  let key = Number.NaN
  let start = Number.NaN
  return (y: number, mo: number, d: number, h: number, min: number, s: number, ms: number): number => {
    const day = y * 10_000 + mo * 100 + d
    if (day !== key) {
      const date = new Date(0)
      date.setUTCFullYear(y, mo - 1, d)
      const real = date.getUTCMonth() === mo - 1 && date.getUTCDate() === d
      start = real ? date.getTime() : Number.NaN
      key = day
    }
    if (h > 23 || min > 59 || s > 60) return Number.NaN
    return start + h * HOUR + min * 60_000 + s * 1000 + ms
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
  const known = new Map<number, number>()
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
      if (known.size > 50_000) known.clear()
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
