import { isClock, isDigit } from './read/stamp.ts'
import { isWordByte } from './read/words.ts'

/**
 * A part of a line, up to `to`; it begins where the one before ends. Other lines have there
 * - `same`: the same bytes; `digits`: other digits, if any; `date`, `clock`: those of another time; `clock` is `hh:mm:ss`
 *   and decimals
 * - `numbers`: numbers of other lengths, if any, except in names
 * - `until`: any text without blanks, quotes, backslashes and brackets up to the byte at `to`
 * - `string`: the rest of a string, with its quote; `isEnded` if an escaped line break is before it
 * - `word`: the word for a level, behind which the same byte follows for this level
 * - `severity`: any text without backslashes, in which the word before the first colon and two blanks is at `at`; the
 *   colon is at `to`, which is at most `reach` into the line
 * - `object`: the rest of the line, which ends in a brace
 */
export type Piece =
  | { as: 'same' | 'digits' | 'date' | 'clock' | 'numbers' | 'until' | 'object'; to: number }
  | { as: 'string'; to: number; isEnded?: boolean }
  | { as: 'word'; at: number; to: number; level: number; isRecord?: true }
  /** Lines with some words continue a record. */
  | { as: 'severity'; at: number; to: number; level: number; reach: number; isRecord: boolean }

/** How far into a time its clock may begin: behind `2026-11-15T` or `15/Nov/2026:`. */
const CLOCK_WITHIN_BYTES = 16

/** The pieces of the time at bytes[at]; null if it has no clock. */
export function timePieces(bytes: Uint8Array, at: number, to: number): [Piece, Piece] | null {
  for (let start = at; start <= at + CLOCK_WITHIN_BYTES; start++) {
    // In `2026:03:10:00`, none begins with the year.
    if (!isClock(bytes, start, to) || (start > at && isDigit(bytes[start - 1]!))) continue
    let end = start + 8
    if (bytes[end] === 0x2e || bytes[end] === 0x2c) while (end + 1 < to && isDigit(bytes[end + 1]!)) end++
    if (end > start + 8) end++
    return [
      { as: 'date', to: start },
      { as: 'clock', to: end },
    ]
  }
  return null
}

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
