import { UTC } from '../../time.ts'
import { decode } from '../format.ts'
import { readNamed } from '../read/named.ts'
import { isDigit } from '../read/stamp.ts'
import { wordOf } from '../read/words.ts'

/** The fields of a common or combined access log that are read without parsing the line. */
export const ACCESS_MEMBERS: ReadonlySet<string> = new Set(
  'status client method path protocol bytes referrer agent duration'.split(' '),
)

/** `15/Nov/2026:03:10:00 +0100] ` */
const TIME_LENGTH = 28
/** How much of a line is its head, and how much of one is read at all. */
const HEAD_BYTES = 300
const MOST_BYTES = 60_000
const SPACE = 0x20
const QUOTE = 0x22

/** Where the last line that was read has its fields; one that it lacks, or that must be parsed, begins at -1. */
const found = {
  client: -1,
  clientEnd: -1,
  method: -1,
  methodEnd: -1,
  path: -1,
  pathEnd: -1,
  protocol: -1,
  size: -1,
  sizeEnd: -1,
  referrer: -1,
  referrerEnd: -1,
  agent: -1,
  agentEnd: -1,
  duration: -1,
  durationEnd: -1,
}

/**
 * One field of a usual line, as its row reads it; undefined if the line must be parsed to know, or does not have it. The
 * request begins with its quote at `request`.
 */
export function accessMember(
  name: string,
  bytes: Uint8Array,
  [from, request, to]: readonly [number, number, number],
): string | undefined {
  if (!readLine(bytes, from, request, to)) return undefined
  if (name === 'client') return part(bytes, found.client, found.clientEnd)
  if (name === 'method') return part(bytes, found.method, found.methodEnd)
  if (name === 'path') return part(bytes, found.path, found.pathEnd)
  if (name === 'protocol') return part(bytes, found.protocol, found.protocol + 8)
  if (name === 'bytes') return part(bytes, found.size, found.sizeEnd)
  if (name === 'referrer') return part(bytes, found.referrer, found.referrerEnd)
  if (name === 'agent') return part(bytes, found.agent, found.agentEnd)
  return name === 'duration' ? durationOf(part(bytes, found.duration, found.durationEnd)) : undefined
}

/** Words that repeat are made once; longer ones, and those that are not ASCII, are decoded. */
const LONGEST_WORD = 64

function part(bytes: Uint8Array, from: number, to: number): string | undefined {
  if (from < 0) return undefined
  if (to - from > LONGEST_WORD) return decode(bytes, from, to)
  for (let at = from; at < to; at++) if (bytes[at]! >= 0x80) return decode(bytes, from, to)
  return wordOf(bytes, from, to)
}

/** Seconds with a fraction, or microseconds without one, in ms. */
function durationOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ms = Number(text) * (text.includes('.') ? 1000 : 0.001)
  // Rounding to a nanosecond takes longer than all of the rest, and most logs have milliseconds.
  const whole = Math.round(ms)
  return String(Math.abs(ms - whole) < 4e-7 ? whole : Number(ms.toFixed(6)))
}

/** Finds the fields of a line; false if another reading than this one is possible. */
function readLine(bytes: Uint8Array, from: number, request: number, to: number): boolean {
  found.client = found.method = found.path = found.protocol = -1
  found.size = found.referrer = found.agent = found.duration = -1
  const end = bytes[to - 1] === 0x0d ? to - 1 : to
  if (request - from > HEAD_BYTES || end - from > MOST_BYTES || !isUsual(bytes, from, end)) return false
  const time = request - TIME_LENGTH
  return isTime(bytes, time, to) && readClient(bytes, from, time - 1) && readRequest(bytes, request, end)
}

/** `15/Nov/2026:03:10:00 +0100`, of a day that a calendar has. */
function isTime(bytes: Uint8Array, at: number, to: number): boolean {
  const isCapital = bytes[at + 3]! <= 0x5a && bytes[at + 4]! >= 0x61 && bytes[at + 5]! >= 0x61
  const sign = bytes[at + 21]
  if (!isCapital || (sign !== 0x2b && sign !== 0x2d)) return false
  for (const place of DIGITS) if (!isDigit(bytes[at + place]!)) return false
  return !Number.isNaN(readNamed(bytes, at, to, UTC)?.epoch ?? Number.NaN)
}

/** Where a time has digits, apart from its clock. */
const DIGITS = [0, 1, 7, 8, 9, 10, 22, 23, 24, 25]

/** No escapes, no backslashes, and no `rt=` or `request_time=`, wherever they are. */
function isUsual(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    if (byte < SPACE || byte === 0x5c || byte === 0x7f) return false
    if (byte !== 0x3d) continue
    const before = bytes[at - 1]
    if (before === 0x74 ? bytes[at - 2] === 0x72 : before === 0x65 && bytes[at - 2] === 0x6d) return false
  }
  return true
}

/** Exactly three words before the time: with more, the first may be a virtual host. */
function readClient(bytes: Uint8Array, from: number, to: number): boolean {
  const ends = [0, 0, 0]
  let words = 0
  for (let at = from; at < to; at++) {
    if (bytes[at]! >= 0x80) return false
    if (bytes[at] !== SPACE) continue
    if (words === 3 || at === (words === 0 ? from : ends[words - 1]! + 1)) return false
    ends[words++] = at
  }
  const clientEnd = ends[0]!
  if (words !== 3 || clientEnd - from > 260 || ends[1]! - clientEnd > 100 || ends[2]! - ends[1]! > 200)
    return false
  for (let at = from; at < clientEnd; at++) {
    const byte = bytes[at]!
    // An address with a port, or in brackets, has other characters around it.
    if (byte === 0x3a || byte === 0x28 || byte === 0x5b) return true
  }
  if (clientEnd - from === 1 && bytes[from] === 0x2d) return true
  found.client = from
  found.clientEnd = clientEnd
  return true
}

function readRequest(bytes: Uint8Array, request: number, to: number): boolean {
  const quote = bytes.indexOf(QUOTE, request + 1)
  const status = quote + 2
  if (quote < 0 || status + 3 > to || bytes[quote + 1] !== SPACE) return false
  if (!isDigit(bytes[status]!) || !isDigit(bytes[status + 1]!) || !isDigit(bytes[status + 2]!)) return false
  const behind = status + 3
  if (behind < to && bytes[behind] !== SPACE) return false
  readTarget(bytes, request + 1, quote)
  return behind >= to || readRest(bytes, behind, to)
}

/** `GET /path?query HTTP/1.1`, and nothing else. */
function readTarget(bytes: Uint8Array, from: number, to: number): void {
  let at = from
  while (at < to && bytes[at]! >= 0x41 && bytes[at]! <= 0x5a) at++
  const methodEnd = at
  const protocol = to - 8
  const isMethod = methodEnd - from >= 2 && methodEnd - from <= 31
  if (!isMethod || bytes[at] !== SPACE || bytes[at + 1] !== 0x2f || protocol <= at + 1) return
  if (bytes[protocol - 1] !== SPACE || !isProtocol(bytes, protocol)) return
  let pathEnd = -1
  for (let next = at + 1; next < protocol - 1; next++) {
    const byte = bytes[next]!
    if (byte === SPACE || byte >= 0x80) return
    if (byte === 0x3f && pathEnd < 0) pathEnd = next
  }
  found.method = from
  found.methodEnd = methodEnd
  found.path = at + 1
  found.pathEnd = pathEnd < 0 ? protocol - 1 : pathEnd
  found.protocol = protocol
}

function isProtocol(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x48 &&
    bytes[at + 1] === 0x54 &&
    bytes[at + 2] === 0x54 &&
    bytes[at + 3] === 0x50 &&
    bytes[at + 4] === 0x2f &&
    isDigit(bytes[at + 5]!) &&
    bytes[at + 6] === 0x2e &&
    isDigit(bytes[at + 7]!)
  )
}

/** ` 512`, ` "referrer" "agent"` and ` 0.123` or ` 123456`: what is there, in this order, up to the end of the line. */
function readRest(bytes: Uint8Array, from: number, to: number): boolean {
  const sizeEnd = digitsEnd(bytes, from + 1, to)
  if (sizeEnd === from + 1 || (sizeEnd < to && bytes[sizeEnd] !== SPACE)) return false
  const isPlain = sizeEnd - from - 1 <= 15 && (bytes[from + 1] !== 0x30 || sizeEnd === from + 2)
  if (!isPlain) return false
  found.size = from + 1
  found.sizeEnd = sizeEnd
  if (sizeEnd === to) return true
  const referrerEnd = quotedEnd(bytes, sizeEnd + 1, to)
  const agentEnd = referrerEnd < 0 ? -1 : quotedEnd(bytes, referrerEnd + 1, to)
  if (agentEnd < 0 || !readDuration(bytes, agentEnd, to)) return false
  setQuoted('referrer', bytes, sizeEnd + 2, referrerEnd - 1)
  setQuoted('agent', bytes, referrerEnd + 2, agentEnd - 1)
  return true
}

/** A dash or nothing is no value; what begins or ends with a blank is read with care. */
function setQuoted(name: 'referrer' | 'agent', bytes: Uint8Array, from: number, to: number): void {
  if (from === to || (to - from === 1 && bytes[from] === 0x2d)) return
  if (bytes[from] === SPACE || bytes[to - 1] === SPACE) return
  if (bytes[from]! >= 0x80 || bytes[to - 1]! >= 0x80) return
  found[name] = from
  found[`${name}End`] = to
}

/** Where a quoted text that is no number ends, behind its quote; -1 if there is none. */
function quotedEnd(bytes: Uint8Array, from: number, to: number): number {
  if (from >= to || bytes[from - 1] !== SPACE || bytes[from] !== QUOTE || isDigit(bytes[from + 1]!)) return -1
  const quote = bytes.indexOf(QUOTE, from + 1)
  return quote < 0 || quote >= to ? -1 : quote + 1
}

/** Whether the line ends here, or with one number, which is how long the request took. */
function readDuration(bytes: Uint8Array, from: number, to: number): boolean {
  if (from === to) return true
  const whole = digitsEnd(bytes, from + 1, to)
  if (bytes[from] !== SPACE || whole === from + 1) return false
  const end = bytes[whole] === 0x2e ? digitsEnd(bytes, whole + 1, to) : whole
  const decimals = end - whole - 1
  if (end !== to || (end > whole && (decimals < 1 || decimals > 9)) || whole - from > 16) return false
  found.duration = from + 1
  found.durationEnd = end
  return true
}

function digitsEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && isDigit(bytes[at]!)) at++
  return at
}
