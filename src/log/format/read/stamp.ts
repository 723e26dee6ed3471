import { UTC, type Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'
import { isLetter } from './words.ts'
import { zoneNameAt } from './zone-names.ts'

/** Where a timestamp is, and when that is. One object is reused: a scan would make millions. */
export interface Stamp {
  at: number
  /** The offset after the timestamp and its zone. */
  end: number
  /** Ms since the epoch; NaN when no calendar has that day. */
  epoch: number
  /** A zone abbreviation that means several zones, such as `CST`; the time is then read in the log's zone. */
  ambiguous: string | null
}

const shared: Stamp = { at: 0, end: 0, epoch: Number.NaN, ambiguous: null }

/** A timestamp; the next one overwrites it. */
export function stampOf(at: number, end: number, epoch: number, ambiguous: string | null = null): Stamp {
  shared.at = at
  shared.end = end
  shared.epoch = epoch
  shared.ambiguous = ambiguous
  return shared
}

/**
 * Reads `YYYY-MM-DD hh:mm:ss` at bytes[at]: `/` or `.` for `-`, `T`, `_` or one space between, the hour padded with a
 * space (MariaDB), decimals after `.` or `,`, a zone right after (`Z`, `+02:00`, `+0200`) or after a space (` +0200`,
 * ` UTC`, ` CET`). Null when it is not one. The result is overwritten by the next call.
 */
export function readStamp(bytes: Uint8Array, at: number, to: number, zone: Zone): Stamp | null {
  if (!isStamp(bytes, at, to) && !isPaddedStamp(bytes, at, to)) return null
  return parseStamp(bytes, at, to, zone)
}

/** The same where `isStamp` is known to be true. */
export function parseStamp(bytes: Uint8Array, at: number, to: number, zone: Zone): Stamp {
  const end = decimalsEnd(bytes, at + 19, to)
  const ms = end > at + 19 ? decimals(bytes, at + 20, end) : 0
  const y = four(bytes, at)
  const mo = two(bytes, at + 5)
  const d = two(bytes, at + 8)
  const h = bytes[at + 11] === 0x20 ? bytes[at + 12]! - 0x30 : two(bytes, at + 11)
  const min = two(bytes, at + 14)
  const s = two(bytes, at + 17)
  const offset = readOffset(bytes, end, to)
  const day = dayOf(y, mo, d)
  const clock = clockOf(h, min, s, ms)
  const epoch = offset === null ? zone.toEpoch(day, clock) : UTC.toEpoch(day, clock) - offset
  return stampOf(at, offsetEnd, epoch, ambiguous)
}

/** Where such a time and its zone end, -1 if it is none. It does not compute the time. */
export function stampEnd(bytes: Uint8Array, at: number, to: number): number {
  if (!isStamp(bytes, at, to) && !isPaddedStamp(bytes, at, to)) return -1
  readOffset(bytes, decimalsEnd(bytes, at + 19, to), to)
  return offsetEnd
}

/** The offset after the decimals of a second at bytes[at], or `at` when there are none. */
function decimalsEnd(bytes: Uint8Array, at: number, to: number): number {
  if (at + 1 >= to || (bytes[at] !== 0x2e && bytes[at] !== 0x2c) || !isDigit(bytes[at + 1]!)) return at
  let end = at + 2
  while (end < to && isDigit(bytes[end]!)) end++
  return end
}

/** Decimals of a second in bytes[from, to) as ms; past nine they are below what a double holds. */
function decimals(bytes: Uint8Array, from: number, to: number): number {
  const end = Math.min(to, from + 9)
  let value = 0
  for (let at = from; at < end; at++) value = value * 10 + bytes[at]! - 0x30
  return value / POWERS[end - from]!
}

/** Whether bytes[at] begins `YYYY-MM-DD hh:mm:ss` (or with `/`, or `T`): digits where digits belong. */
export function isStamp(bytes: Uint8Array, at: number, to: number): boolean {
  if (to - at < 19) return false
  const dash = bytes[at + 4]
  const middle = bytes[at + 10]
  return (
    (dash === 0x2d || dash === 0x2f || dash === 0x2e) &&
    bytes[at + 7] === dash &&
    (middle === 0x20 || middle === 0x54 || middle === 0x5f) &&
    bytes[at + 13] === 0x3a &&
    bytes[at + 16] === 0x3a &&
    isDigit(bytes[at]!) &&
    isDigit(bytes[at + 1]!) &&
    isDigit(bytes[at + 2]!) &&
    isDigit(bytes[at + 3]!) &&
    isDigit(bytes[at + 5]!) &&
    isDigit(bytes[at + 6]!) &&
    isDigit(bytes[at + 8]!) &&
    isDigit(bytes[at + 9]!) &&
    isDigit(bytes[at + 11]!) &&
    isDigit(bytes[at + 12]!) &&
    isDigit(bytes[at + 14]!) &&
    isDigit(bytes[at + 15]!) &&
    isDigit(bytes[at + 17]!) &&
    isDigit(bytes[at + 18]!)
  )
}

/** Whether bytes[from] begins exactly 23 bytes of timestamp and a tab, as LinDB's lines do: four million lines a second. */
export function isExact(bytes: Uint8Array, from: number, to: number): boolean {
  return (
    to - from > 23 &&
    bytes[from + 23] === 0x09 &&
    bytes[from + 19] === 0x2e &&
    bytes[from + 4] === 0x2d &&
    bytes[from + 10] === 0x20 &&
    isDigit(bytes[from + 20]!) &&
    isDigit(bytes[from + 21]!) &&
    isDigit(bytes[from + 22]!) &&
    isStamp(bytes, from, to)
  )
}

/** The time of such a line. */
export function exactTime(bytes: Uint8Array, from: number, zone: Zone): number {
  return zone.toEpoch(
    dayOf(two(bytes, from) * 100 + two(bytes, from + 2), two(bytes, from + 5), two(bytes, from + 8)),
    clockOf(
      two(bytes, from + 11),
      two(bytes, from + 14),
      two(bytes, from + 17),
      (bytes[from + 20]! - 0x30) * 100 + two(bytes, from + 21),
    ),
  )
}

/** The same with a one-digit hour after a space, as MariaDB writes it: `2026-11-15  2:10:05`. */
export function isPaddedStamp(bytes: Uint8Array, at: number, to: number): boolean {
  return (
    to - at >= 19 &&
    bytes[at + 4] === 0x2d &&
    bytes[at + 7] === 0x2d &&
    bytes[at + 10] === 0x20 &&
    bytes[at + 11] === 0x20 &&
    bytes[at + 13] === 0x3a &&
    bytes[at + 16] === 0x3a &&
    PADDED_DIGITS.every((offset) => isDigit(bytes[at + offset]!))
  )
}

const PADDED_DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 12, 14, 15, 17, 18]

/** What divides n decimals of a second into ms. */
export const POWERS = [1, 0.01, 0.1, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000]

/**
 * A number since the epoch, its unit judged by its size: seconds until the year 5138, then ms, µs and ns.
 * NaN if it is not a number.
 */
export function readEpoch(bytes: Uint8Array, from: number, to: number): number {
  let text = ''
  for (let at = from; at < to && at - from < 32; at++) text += String.fromCharCode(bytes[at]!)
  if (!/^\d+(\.\d+)?(e\+?\d+)?$/i.test(text)) return Number.NaN
  const number = Number(text)
  const epoch =
    number < 1e11 ? number * 1000 : number < 1e14 ? number : number < 1e17 ? number / 1e3 : number / 1e6
  return epoch <= 8.64e15 ? epoch : Number.NaN
}

/** A time of day. One object is reused, as for a stamp. */
export interface Clock {
  h: number
  min: number
  s: number
  /** With a fraction. */
  ms: number
  /** The offset after it. */
  end: number
}

/** Reads `hh:mm:ss` with decimals at bytes[at]; null when it is none. */
export function readClock(bytes: Uint8Array, at: number, to: number): Clock | null {
  if (!isClock(bytes, at, to)) return null
  const end = decimalsEnd(bytes, at + 8, to)
  const ms = end > at + 8 ? decimals(bytes, at + 9, end) : 0
  clock.h = two(bytes, at)
  clock.min = two(bytes, at + 3)
  clock.s = two(bytes, at + 6)
  clock.ms = ms
  clock.end = end
  return clock
}

const clock: Clock = { h: 0, min: 0, s: 0, ms: 0, end: 0 }

/** Whether bytes[at] begins with `hh:mm:ss`. */
export function isClock(bytes: Uint8Array, at: number, to: number): boolean {
  return (
    to - at >= 8 &&
    bytes[at + 2] === 0x3a &&
    bytes[at + 5] === 0x3a &&
    isDigit(bytes[at]!) &&
    isDigit(bytes[at + 1]!) &&
    isDigit(bytes[at + 3]!) &&
    isDigit(bytes[at + 4]!) &&
    isDigit(bytes[at + 6]!) &&
    isDigit(bytes[at + 7]!)
  )
}

/** Whether a byte is a decimal digit. */
export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** Two digits as a number. */
export function two(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - 0x30) * 10 + bytes[at + 1]! - 0x30
}

function four(bytes: Uint8Array, at: number): number {
  return two(bytes, at) * 100 + two(bytes, at + 2)
}

let offsetEnd = 0
let ambiguous: string | null = null

/** Ms east of UTC of the zone at bytes[at], null when there is none; `offsetEnd` is the offset after it. */
export function readOffset(bytes: Uint8Array, at: number, to: number): number | null {
  offsetEnd = at
  ambiguous = null
  const start = at < to && bytes[at] === 0x20 ? at + 1 : at
  if (start >= to) return null
  const sign = bytes[start]!
  if (sign === 0x5a && !(start + 1 < to && isLetter(bytes[start + 1]!))) {
    offsetEnd = start + 1
    return 0
  }
  if (sign >= 0x41 && sign <= 0x5a) {
    const name = zoneNameAt(bytes, start, to)
    if (!name) return null
    offsetEnd = start + name.word.length
    if (name.offset === null) ambiguous = name.word
    return name.offset
  }
  if ((sign !== 0x2b && sign !== 0x2d) || start + 2 >= to) return null
  if (!isDigit(bytes[start + 1]!) || !isDigit(bytes[start + 2]!)) return null
  let minutes = two(bytes, start + 1) * 60
  let end = start + 3
  const colon = end < to && bytes[end] === 0x3a ? 1 : 0
  if (end + colon + 1 < to && isDigit(bytes[end + colon]!) && isDigit(bytes[end + colon + 1]!)) {
    minutes += two(bytes, end + colon)
    end += colon + 2
  }
  // ` -1234567` after a space is a message that begins with a number, not a zone.
  if (end < to && isDigit(bytes[end]!)) return null
  offsetEnd = end
  return sign === 0x2d ? -minutes * 60_000 : minutes * 60_000
}
