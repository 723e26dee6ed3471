import { offsetZone, type Zone } from './offset.ts'
import { clockOf, dayOf, milliseconds } from './wall-clock.ts'

const HOUR = 3_600_000
const DAY = 86_400_000
// The range of a Date; an age beyond it is a typing error.
const EARLIEST = -8.64e15

/**
 * An instant as people write it, in ms since the epoch, or null when it is none of these:
 * ISO 8601 with a zone (`T` or space, any number of decimals, date only), the same without a zone in `zone`,
 * a time of day (`02:10`: today, or yesterday where that would be in the future), also with its day (`yesterday 14:00`),
 * an age (`15m`, `1h 30m`, `7d ago`, `-2h`, `now-2h`, `2 hours ago`) counted back from `now`, or the Unix epoch in seconds
 * (10 digits, decimals allowed) or milliseconds (13 digits).
 */
export function parseInstant(text: string, options: InstantOptions): number | null {
  const { zone, now } = options
  const input = text.trim()
  if (input.length === 0 || input.length > 64) return null
  const age = parseAge(input)
  if (age !== null) return now - age < EARLIEST ? null : now - age
  if (/^\d{13}$/.test(input)) return Number(input)
  if (/^\d{10}(\.\d{1,9})?$/.test(input)) return Math.round(Number(input) * 1e6) / 1e3
  if (/^now$/i.test(input)) return now
  return dated(input, zone) ?? timeOfDay(input, options) ?? namedDay(input, options)
}

export interface InstantOptions {
  /** The zone of a time that does not name one. */
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

/**
 * A length of time such as `15m`, `90s`, `1h30m`, `1.5h`, `2d` in ms, or null. Each unit at most once, and in small
 * letters: other tools read `1M` as a month.
 */
export function parseDuration(text: string): number | null {
  if (!/^(\d{1,9}(\.\d{1,9})?(ms|min|s|m|h|d|w))+$/.test(text)) return null
  let total = 0
  const seen = new Set<string>()
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([a-z]+)/g)) {
    const name = unit === 'min' ? 'm' : unit!
    if (seen.has(name)) return null
    seen.add(name)
    total += Number(amount) * UNITS[name]!
  }
  return total
}

const WORDS = / *(millisecond|second|sec|minute|min|hour|hr|day|week)s?\b[ ,]*/gi
/** What people write inside a length: `1h 30m`, `1 h`, `1 hour and 30 minutes`. */
const BETWEEN = /(?<=[a-z])[ ,]*(?:and +)?(?=\d)|(?<=\d) +(?=[a-z])/g
const LETTERS: Record<string, string> = { millisecond: 'ms', minute: 'm', min: 'm' }

/** A length of time before now: `15m`, and as people write it `15m ago`, `-15m`, `now-15m`, `15 minutes ago`. */
function parseAge(text: string): number | null {
  const [, length = text] = /^(?:now)? ?- ?(.+)$/i.exec(text) ?? /^(.+?) +ago$/i.exec(text) ?? []
  const short = length.replace(
    WORDS,
    (_, word: string) => LETTERS[word.toLowerCase()] ?? word[0]!.toLowerCase(),
  )
  return parseDuration(short.replace(BETWEEN, ''))
}

// The space before an offset is a `+` that a client forgot to encode: a query string turns it into a space.
const DATED =
  /^(\d{4})-(\d\d)-(\d\d)(?:(?:[Tt]| +)(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?(?: ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)| (\d\d:\d\d))?)?$/

function dated(text: string, zone: Zone): number | null {
  const found = DATED.exec(text)
  if (!found) return null
  const [, y, mo, d, h = '0', min = '0', s = '0', decimals = '', named, bare] = found
  const offset = named ?? (bare === undefined ? undefined : `+${bare}`)
  const where = offset === undefined ? zone : offsetZone(offset)
  if (!where) return null
  const epoch = where.toEpoch(dayOf(+y!, +mo!, +d!), clockOf(+h, +min, +s, milliseconds(decimals)))
  return Number.isNaN(epoch) ? null : epoch
}

const CLOCK = /^(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?$/

function timeOfDay(text: string, { zone, now, after }: InstantOptions): number | null {
  const start = after ?? now
  for (const days of after === undefined ? [0, -1] : [0, 1]) {
    const epoch = clockOn(text, days, start, zone)
    if (epoch === null) return null
    if (after === undefined ? epoch <= now : epoch >= after) return epoch
  }
  return null
}

/** `today`, `yesterday`, `yesterday 14:00`. */
function namedDay(text: string, { zone, now }: InstantOptions): number | null {
  const found = /^(today|yesterday)(?:(?:,| at)? +(\S+))?$/i.exec(text)
  return found && clockOn(found[2] ?? '0:00', found[1]!.toLowerCase() === 'today' ? 0 : -1, now, zone)
}

/**
 * The instant of a time of day, `days` after the day of `start`; null if it is none. Days are counted by wall clock:
 * yesterday is 23 or 25 hours ago on two days of the year.
 */
function clockOn(text: string, days: number, start: number, zone: Zone): number | null {
  const found = CLOCK.exec(text)
  if (!found) return null
  const [, h, min, s = '0', decimals = ''] = found
  const wall = new Date(start + zone.offsetAt(start))
  const day = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate() + days))
  const date = dayOf(day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate())
  const epoch = zone.toEpoch(date, clockOf(+h!, +min!, +s, milliseconds(decimals)))
  return Number.isNaN(epoch) ? null : epoch
}

/** Whether clocks in a zone show an abbreviation, such as `CST` in Chicago, in winter or in summer. */
export function usesAbbreviation(zone: Zone, word: string): boolean {
  if (!zone.name.includes('/')) return zone.name === word
  // Intl has the abbreviations of a region only in the English of that region.
  return ['en-US', 'en-GB', 'en-IN', 'en-AU'].some((language) => {
    const format = new Intl.DateTimeFormat(language, { timeZone: zone.name, timeZoneName: 'short' })
    return [0, 6].some((month) =>
      format.formatToParts(Date.UTC(2026, month)).some(({ value }) => value === word),
    )
  })
}
