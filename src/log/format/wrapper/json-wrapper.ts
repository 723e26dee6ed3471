import { findKey, type IsWanted } from '../json/member.ts'
import { timeOf } from '../json/values.ts'
import { charactersEnd } from '../read/words.ts'
import type { Piece } from '../shape.ts'
import { escapedMarks } from './escaped-marks.ts'
import type { Wrapped, Wrapper } from './wrapped.ts'

const line: Wrapped = { bytes: new Uint8Array(0), from: 0, to: 0, partial: false, timeFrom: 0, timeTo: 0 }

/** Docker's json-file: `{"log":"…\n","stream":"stdout","time":"…"}`. A long line comes in several, the last with `\n`. */
export const docker: Wrapper = jsonWrapper('docker', ['time'], true)

/** Fluent Bit's JSON lines: `{"date":1794708600.123,"log":"…"}`. */
export const fluentBit: Wrapper = jsonWrapper('fluent-bit', ['date', '@timestamp'], false)

function jsonWrapper(name: string, times: readonly string[], ended: boolean): Wrapper {
  let logFrom = -1
  let logTo = -1
  // The first text and the first time, in one pass: the text is most of a line.
  const isSecond: IsWanted = (key, _bytes, from, to) => {
    if (key === 'log' && logFrom < 0) {
      logFrom = from
      logTo = to
    } else if (line.timeFrom < 0 && times.includes(key)) {
      line.timeFrom = from
      line.timeTo = to
    }
    return logFrom >= 0 && line.timeFrom >= 0
  }
  /** Finds the inner line and the time; false if they are not there. */
  const find = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (to - from < 12 || bytes[from] !== 0x7b) return false
    logFrom = -1
    line.timeFrom = -1
    return findKey(bytes, from, to, isSecond) && bytes[logFrom] === 0x22
  }
  const hasEnd = (bytes: Uint8Array) => bytes[logTo - 2] === 0x6e && isEscaped(bytes, logFrom + 1, logTo - 2)
  const isPartial = (bytes: Uint8Array) => ended && !hasEnd(bytes) && isFollowedByStream(bytes, logTo - 1)
  return {
    name,
    read(bytes, from, to) {
      if (!find(bytes, from, to)) return null
      line.partial = isPartial(bytes)
      place(bytes, logFrom + 1, hasEnd(bytes) ? logTo - 3 : logTo - 1)
      return line
    },
    ...(ended && {
      shape(_, inner: Piece[], bytes: Uint8Array) {
        const pieces = hasEnd(bytes) ? writtenPieces(inner, bytes, logFrom + 1) : null
        return pieces && dockerPieces(pieces, bytes, [logFrom + 1, logTo])
      },
    }),
    isPartial: (bytes, from, to) => find(bytes, from, to) && isPartial(bytes),
    marks(inner) {
      const own = inner.map(escapedMarks)
      return own.every((marks) => marks !== null)
        ? [...own.flat(), ...ESCAPES, ...(ended ? UNENDED : [])]
        : null
    },
    time: timeOf,
  }
}

/** The pieces of a wrapped line around those of the line inside it: the time follows that, and is a string. */
function dockerPieces(inner: Piece[], bytes: Uint8Array, [from, to]: [number, number]): Piece[] | null {
  const { timeFrom, timeTo } = line
  if (timeFrom < to || bytes[timeFrom] !== 0x22) return null
  const isObject = inner.at(-1)!.as === 'object'
  // Behind a brace, the line ends.
  if (isObject) inner.pop()
  return [
    { as: 'same', to: from },
    ...inner,
    { as: 'escaped', to, isObject },
    { as: 'same', to: timeFrom + 1 },
    { as: 'string', to: timeTo },
  ]
}

/** The pieces of the last line that was read, where they are in the file; null if its escapes are not all of one letter. */
function writtenPieces(inner: readonly Piece[], bytes: Uint8Array, from: number): Piece[] | null {
  if (line.bytes !== bytes && line.bytes !== scratch) return null
  let at = from
  let plain = line.from
  const written = (to: number) => {
    for (; plain < to; plain++) at += bytes[at] === 0x5c ? 2 : 1
    return at
  }
  const pieces: Piece[] = []
  for (const piece of inner) {
    if (piece.as === 'silent') return null
    if (piece.as === 'word' || piece.as === 'severity') {
      const start = written(piece.at)
      pieces.push({ ...piece, at: start, to: written(piece.to) })
    } else
      pieces.push({
        ...piece,
        as: piece.as === 'string' ? 'inner' : piece.as,
        to: written(piece.to),
      } as Piece)
  }
  return pieces
}

/** As Docker writes it. In JSON that others wrote anew, a line without its end is not a part of one. */
const STREAM = [...',"stream":"'].map((char) => char.charCodeAt(0))

function isFollowedByStream(bytes: Uint8Array, quote: number): boolean {
  for (let i = 0; i < STREAM.length; i++) if (bytes[quote + 1 + i] !== STREAM[i]) return false
  return true
}

/** What is in lines in which a character may be spelled otherwise. */
const ESCAPES = [/\\u/, /\\\//]
/** What is in lines that the next one continues, because they do not end in `\n`: a text may be in two of them. */
const UNENDED = [/[^n]","stream":"/, /[^\\].","stream":"/, /\\\\n","stream":"/]

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let before = at
  while (before > from && bytes[before - 1] === 0x5c) before--
  return (at - before) % 2 === 1
}

/** Unescapes the inner line; most have no escapes and are used in place. */
function place(bytes: Uint8Array, from: number, to: number): void {
  const backslash = bytes.subarray(from, to).indexOf(0x5c)
  if (backslash < 0) {
    line.bytes = bytes
    line.from = from
    line.to = to
    return
  }
  const length = plainlyUnescaped(bytes, from, to)
  line.bytes = length < 0 ? unescaped(bytes, from, to) : scratch
  line.from = 0
  line.to = length < 0 ? line.bytes.length : length
}

/** Where lines are unescaped to. One that is longer gets more of it for once. */
const SCRATCH = new Uint8Array(64 * 1024)
let scratch = SCRATCH

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** What `\\n` and the other escapes of one letter stand for, by that letter; 0 if it is none. */
const SHORT_ESCAPES = new Uint8Array(256)
for (const [letter, char] of Object.entries({
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
}))
  SHORT_ESCAPES[letter.charCodeAt(0)] = char.charCodeAt(0)

/**
 * Unescapes UTF-8 with escapes of one letter, byte by byte: JSON.parse takes three times as long. The text is in `scratch`, up
 * to the length that this returns; -1 for other text.
 */
function plainlyUnescaped(bytes: Uint8Array, from: number, to: number): number {
  scratch = to - from >= SCRATCH.length ? new Uint8Array(to - from + 1) : SCRATCH
  const out = scratch
  let view: DataView | null = null
  let length = 0
  for (let at = from; at < to; at++) {
    let byte = bytes[at]!
    if (byte < 0x20) return -1
    if (byte >= 0x80) {
      view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const end = charactersEnd(view, at, to)
      if (end === at) return -1
      while (at < end - 1) out[length++] = bytes[at++]!
      byte = bytes[at]!
    } else if (byte === 0x5c) {
      at++
      byte = at < to ? SHORT_ESCAPES[bytes[at]!]! : 0
      if (byte === 0) return -1
    }
    out[length++] = byte
  }
  // A sentinel: searches for the end of the line stop here.
  out[length] = 0x0a
  return length
}

function unescaped(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const text = decoder.decode(bytes.subarray(from, to))
  try {
    return encoder.encode(JSON.parse(`"${text}"`))
  } catch {
    return bytes.subarray(from, to)
  }
}
