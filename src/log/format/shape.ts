import { isClock, isDigit, isPaddedStamp } from './read/stamp.ts'
import { isWordByte } from './read/words.ts'

/**
 * A part of a line, up to `to`; it begins where the one before ends. Other lines have there
 * - `same`: the same bytes; `digits`: other digits, if any; `date`, `clock`: those of another time; `clock` is `hh:mm:ss`
 *   and decimals
 * - `epoch`: a number of another time, as long as this one
 * - `numbers`: numbers of other lengths, if any, except in names
 * - `until`: any text without blanks, quotes, backslashes and brackets up to the byte at `to`
 * - `text`: any ASCII text without backslashes and controls up to the byte at `to`
 * - `follows`: the same byte at `to`
 * - `string`: the rest of a string, with its quote
 * - `inner`: the same where quotes and backslashes are escaped, because it is in another string
 * - `escaped`: the rest of a string, with its quote and an escaped line break before it, perhaps behind a brace
 * - `silent`: the rest of the line, which has no level among its words
 * - `parted`: the rest of the line, which goes on in the next one
 * - `word`: the word for a level, behind which the same byte follows for this level
 * - `severity`: any text without backslashes, in which the word before the first colon and two blanks is at `at`; the
 *   colon is at `to`, which is at most `reach` into the line
 * - `object`: the rest of the line, which ends in a brace
 */
export type Piece =
  | { as: 'same' | 'digits' | 'date' | 'clock' | 'epoch' | 'numbers' | 'until' | 'text'; to: number }
  | { as: 'follows' | 'string' | 'inner' | 'silent' | 'parted' | 'object'; to: number }
  | { as: 'escaped'; to: number; isObject: boolean }
  | { as: 'word'; at: number; to: number; level: number; isRecord?: true }
  /** Lines with some words continue a record. */
  | { as: 'severity'; at: number; to: number; level: number; reach: number; isRecord: boolean }

/** How far into a time its clock may begin: behind `2026-11-15T` or `15/Nov/2026:`. */
const CLOCK_WITHIN_BYTES = 16

/** The pieces of the time at bytes[at]; null if it has no clock. */
export function timePieces(bytes: Uint8Array, at: number, to: number): [Piece, Piece] | null {
  const padded = isPaddedStamp(bytes, at, to) ? at + 11 : -1
  for (let start = at; start <= at + CLOCK_WITHIN_BYTES; start++) {
    // In `2026:03:10:00`, none begins with the year.
    const isStart = isClock(bytes, start, to) && (start === at || !isDigit(bytes[start - 1]!))
    if (!isStart && start !== padded) continue
    let end = start + 8
    if (end < bytes.length && (bytes[end] === 0x2e || bytes[end] === 0x2c)) {
      while (end + 1 < to && isDigit(bytes[end + 1]!)) end++
      // Digits behind the mark would be decimals.
      if (end === start + 8) return null
      end++
    }
    return [
      { as: 'date', to: start },
      { as: 'clock', to: end },
    ]
  }
  return null
}

/** The pieces of the number since the epoch in bytes[at, to); null if it is none. */
export function epochPieces(bytes: Uint8Array, at: number, to: number): Piece[] | null {
  let end = at
  while (end < to && (isDigit(bytes[end]!) || bytes[end] === 0x2e)) end++
  return end === to && end - at > EPOCH_DIGITS ? [{ as: 'epoch', to }] : null
}

/** A number of seconds has more digits than this. */
const EPOCH_DIGITS = 8

/** Where what may be a zone ends, behind a time whose clock ends at `at`: it must stay the same. */
export function zoneEnd(bytes: Uint8Array, at: number, to: number): number {
  let end = bytes[at] === 0x20 ? at + 1 : at
  while (end < to && (isWordByte(bytes[end]!) || isSign(bytes[end]!))) end++
  // Without a letter or a sign it is none.
  return isDigit(bytes[at + 1]!) && bytes[at] === 0x20 ? at : Math.min(end + 1, to)
}

/** Where the word at bytes[at] ends. */
export function wordEnd(bytes: Uint8Array, at: number, to: number): number {
  let end = at
  while (end < to && isWordByte(bytes[end]!)) end++
  return end
}

/** `+02:00` */
function isSign(byte: number): boolean {
  return byte === 0x2b || byte === 0x2d || byte === 0x3a
}
