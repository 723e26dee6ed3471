import { UTC, type Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'
import { isDigit, readClock, type Stamp, stampOf, two } from './stamp.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const NUMBERS = new Map(
  MONTHS.map((name, i) => [keyOf(name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)), i + 1]),
)

/** `15 Nov 2026 02:10:00.123` (Redis) or `15/Nov/2026:02:10:00 +0000` (access logs) at bytes[at], or null. */
export function readNamed(bytes: Uint8Array, at: number, to: number, zone: Zone): Stamp | null {
  const separator = bytes[at + 2]
  if ((separator !== 0x20 && separator !== 0x2f) || bytes[at + 6] !== separator || to - at < 20) return null
  const month = monthAt(bytes, at + 3)
  const clock = readClock(bytes, at + 12, to)
  if (month === 0 || !clock) return null
  const { h, min, s, ms, end } = clock
  const year = two(bytes, at + 7) * 100 + two(bytes, at + 9)
  const offset = separator === 0x2f ? offsetAt(bytes, end, to) : null
  const day = dayOf(year, month, dayAt(bytes, at))
  const epoch = (offset === null ? zone : UTC).toEpoch(day, clockOf(h, min, s, ms))
  return stampOf(at, offset === null ? end : end + 6, epoch - (offset ?? 0))
}

/** `Nov 15 02:10:00`, as syslog has it, or null. */
export function readYearless(
  bytes: Uint8Array,
  at: number,
  to: number,
  instantOf: (month: number, day: number, clock: number) => number,
): Stamp | null {
  const month = to - at < 15 ? 0 : monthAt(bytes, at)
  if (month === 0 || bytes[at + 3] !== 0x20) return null
  const day = dayAt(bytes, at + 4)
  const clock = bytes[at + 6] === 0x20 ? readClock(bytes, at + 7, to) : null
  if (!clock || day === 0) return null
  const { h, min, s, ms, end } = clock
  return stampOf(at, end, instantOf(month, day, clockOf(h, min, s, ms)))
}

function monthAt(bytes: Uint8Array, at: number): number {
  return NUMBERS.get(keyOf(bytes[at]! | 32, bytes[at + 1]! | 32, bytes[at + 2]! | 32)) ?? 0
}

/** Three letters as a number: strings would cost more than the rest of the line. */
function keyOf(one: number, two: number, three: number): number {
  return (one << 16) | (two << 8) | three
}

function dayAt(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at + 1]!)) return 0
  return isDigit(bytes[at]!) ? two(bytes, at) : bytes[at] === 0x20 ? bytes[at + 1]! - 0x30 : 0
}

function offsetAt(bytes: Uint8Array, at: number, to: number): number | null {
  const sign = bytes[at + 1]
  if (to - at < 6 || bytes[at] !== 0x20 || (sign !== 0x2b && sign !== 0x2d)) return null
  const size = (two(bytes, at + 2) * 60 + two(bytes, at + 4)) * 60_000
  return sign === 0x2d ? -size : size
}

/** A TAI64N label is as many seconds ahead of its time: TAI was when Unix time began, as `tai64nlocal` has it. */
const TAI_AHEAD = 10

/** `@400000006af998d716cad0e4`, as multilog writes it: seconds since 1970 TAI plus 2^62, then nanoseconds. */
export function readTai64n(bytes: Uint8Array, at: number, to: number): Stamp | null {
  if (to - at < 25 || bytes[at] !== 0x40 || bytes[at + 1] !== 0x34) return null
  const label = String.fromCharCode(...bytes.subarray(at + 1, at + 25))
  if (!/^4[0-9a-f]{23}$/.test(label)) return null
  const seconds = Number.parseInt(label.slice(1, 16), 16) - TAI_AHEAD
  const nanos = Number.parseInt(label.slice(16), 16)
  if (seconds > 8.64e12 || nanos >= 1e9) return null
  return stampOf(at, at + 25, seconds * 1000 + nanos / 1e6)
}
