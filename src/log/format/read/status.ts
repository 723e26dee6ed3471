import { isDigit } from './stamp.ts'

/**
 * Where a message has its HTTP status: after the quoted request that it begins with, or as a word, counted from 0 and
 * separated by this byte.
 */
export type StatusPlace = 'quoted' | { word: number; separator: number }

/** The HTTP status in the message at bytes[from, to); 0 if there is none. */
export function statusAt(place: StatusPlace, bytes: Uint8Array, from: number, to: number): number {
  const at = place === 'quoted' ? requestEnd(bytes, from, to) : wordStart(place, bytes, from, to)
  return at >= 0 && isStatus(bytes, at, to) ? numberAt(bytes, at) : 0
}

/** What a line with a status of this level, which is a warning or more, holds. */
export function statusMark(place: StatusPlace, level: number): RegExp {
  const before = place === 'quoted' ? '".' : String.fromCharCode(place.separator)
  return new RegExp(`${before}${firstDigits(level)}[0-9][0-9]`)
}

/** What a status of this level, which is a warning or more, can begin with. */
export function firstDigits(level: number): string {
  return level > 2 ? '5' : '[45]'
}

/** Where the word after a quoted request begins, or -1. A quote in the request is escaped, or no status follows it. */
function requestEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] !== 0x22) return -1
  for (let at = from + 1; at < to; at++) {
    if (bytes[at] === 0x5c) at++
    else if (bytes[at] === 0x22 && (isStatus(bytes, at + 2, to) || isMissing(bytes, at + 2, to)))
      return at + 2
  }
  return -1
}

function wordStart(
  { word, separator }: Exclude<StatusPlace, 'quoted'>,
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  let left = word
  for (let at = from; at < to; at++) {
    if (left === 0) return at
    if (bytes[at] === separator) left--
  }
  return -1
}

/** Three digits, and then no more. */
export function isStatus(bytes: Uint8Array, at: number, to: number): boolean {
  if (at + 3 > to || !isDigit(bytes[at]!) || !isDigit(bytes[at + 1]!) || !isDigit(bytes[at + 2]!))
    return false
  return at + 3 === to || bytes[at + 3]! <= 0x20
}

/** `-` in its place. */
function isMissing(bytes: Uint8Array, at: number, to: number): boolean {
  return at < to && bytes[at] === 0x2d && (at + 1 === to || bytes[at + 1] === 0x20)
}

function numberAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - 0x30) * 100 + (bytes[at + 1]! - 0x30) * 10 + bytes[at + 2]! - 0x30
}
