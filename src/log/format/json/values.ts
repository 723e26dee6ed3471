import type { Zone } from '../../time.ts'
import { levelAt } from '../read/level.ts'
import { readNamed } from '../read/named.ts'
import { severityIn } from '../read/severities.ts'
import { isDigit, readEpoch, readStamp } from '../read/stamp.ts'
import { isOtelNumber } from './keys.ts'
import { ascii } from './member.ts'

/** A time as text, as a number since the epoch, or as MongoDB's and log4j's objects. */
export function timeOf(bytes: Uint8Array, from: number, to: number, zone: Zone): number {
  const first = bytes[from]!
  if (first === 0x22) {
    const stamp = readStamp(bytes, from + 1, to - 1, zone) ?? readNamed(bytes, from + 1, to - 1, zone)
    return stamp ? stamp.epoch : readEpoch(bytes, from + 1, to - 1)
  }
  if (isDigit(first)) return readEpoch(bytes, from, to)
  if (first !== 0x7b || to - from > 200) return Number.NaN
  try {
    return instantOf(JSON.parse(ascii(bytes, from, to)), zone)
  } catch {
    return Number.NaN
  }
}

function instantOf(object: Record<string, unknown>, zone: Zone): number {
  if (typeof object.epochSecond === 'number')
    return object.epochSecond * 1000 + Number(object.nanoOfSecond ?? 0) / 1e6
  // Google Cloud
  if (typeof object.seconds === 'number' || typeof object.seconds === 'string')
    return Number(object.seconds) * 1000 + Number(object.nanos ?? 0) / 1e6
  const date = object.$date
  if (date !== null && typeof date === 'object')
    return Number((date as Record<string, unknown>).$numberLong ?? Number.NaN)
  if (typeof date === 'number') return date
  const bytes = new TextEncoder().encode(String(date))
  return readStamp(bytes, 0, bytes.length, zone)?.epoch ?? Number.NaN
}

/** The level in a value of a member with this key, or -1. */
export function levelOf(key: string, bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0x22) {
    const word = levelAt(bytes, from + 1, to - 1)
    if (word >= 0) return word
    // PostgreSQL translates its severities.
    const severity = severityIn(bytes, from + 1, to - 1)
    if (severity !== undefined) return severity
    // journald writes its numbers as text.
    const isNumber = to - from === 3 && isDigit(bytes[from + 1]!)
    return isNumber ? numberLevel(bytes[from + 1]! - 0x30) : letterLevel(bytes[from + 1]!, to - from - 2)
  }
  const number = numberAt(bytes, from, to)
  if (number < 0) return -1
  return isOtelNumber(key) ? otelLevel(number) : numberLevel(number)
}

/** A whole number without a sign, or -1. */
function numberAt(bytes: Uint8Array, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) {
    if (!isDigit(bytes[at]!)) return -1
    number = number * 10 + bytes[at]! - 0x30
  }
  return to > from ? number : -1
}

/** MongoDB's `I`, `D2`; a letter alone, or with one digit. */
function letterLevel(byte: number, length: number): number {
  if (length < 1 || length > 2) return -1
  const at = 'DIWEF'.indexOf(String.fromCharCode(byte & ~32))
  return at
}

/** OpenTelemetry has four numbers for each of trace, debug, info, warn, error and fatal. */
function otelLevel(number: number): number {
  return number < 1 || number > 24 ? -1 : Math.max(0, Math.floor((number - 1) / 4) - 1)
}

/** Google's hundreds, pino's and bunyan's tens, or syslog's 0 (emergency) to 7 (debug). */
function numberLevel(number: number): number {
  if (number >= 100) return number < 200 ? 0 : number < 400 ? 1 : number < 500 ? 2 : number < 600 ? 3 : 4
  if (number >= 10) return number < 30 ? 0 : number < 40 ? 1 : number < 50 ? 2 : number < 60 ? 3 : 4
  return number <= 2 ? 4 : number === 3 ? 3 : number === 4 ? 2 : number <= 6 ? 1 : number === 7 ? 0 : -1
}
