import { LogError } from '../error.ts'

/** How many bytes a fingerprint covers at most: a tenth of a microsecond to hash. */
export const PRINT = 64

/** A region of a file that was seen, and the hash of its bytes. An empty region says nothing. */
export interface Fingerprint {
  offset: number
  length: number
  hash: number
}

/**
 * A place in a log that survives rotation: the file it points into by name and, if the store has one, by identity;
 * inodes are reused, so the fingerprint always decides.
 */
export interface Cursor {
  name: string
  id: string | null
  /** Bytes of text before the place. */
  offset: number
  print: Fingerprint
  /** Whether the place splits a record that was found and cut, so that its rest belongs to the answer, too. @default false */
  splitsRecord?: boolean
}

const LF = 10
const TAB = 9
const SPACE = 32
/** The fingerprint of nothing, which every file has. */
export const NO_PRINT: Fingerprint = { offset: 0, length: 0, hash: 0 }

/** Whether a place is the start of whatever file is there, as after a gap that was reported. */
export function isStartPlace({ id, offset, print }: Cursor): boolean {
  return id === null && offset === 0 && print.length === 0
}

/** Whether the first bytes of a file distinguish it from others: a line, or enough of one. */
export function isDistinctive(bytes: Uint8Array): boolean {
  return bytes.length >= PRINT || bytes.includes(LF)
}

/** Up to here, all files of a log may begin with the same lines, such as a header, so a fingerprint may match several files. */
export const SHARED = 4096

/** How much of a file is read to make one, if nothing is known about it yet. */
export const PRINT_READ = 1024
/** How many lines back a fingerprint searches for one that begins a record. */
const LINES = 16
/** Enough for a time. */
const ENOUGH = 24

/** A fingerprint of all of some bytes. */
export function wholePrint(bytes: Uint8Array, offset = 0): Fingerprint {
  return { offset, length: bytes.length, hash: hashBytes(bytes, 0, bytes.length) }
}

/**
 * A fingerprint from bytes[from, to), which lie at `offset + from` in the file: the beginning of the last line that
 * is not indented. Many lines end alike, and files of such lines are alike at many places; but they begin with a time.
 * An unfinished line may end inside its time, so it counts only if it fills the fingerprint.
 */
export function fingerprint(bytes: Uint8Array, offset: number, from = 0, to = bytes.length): Fingerprint {
  if (from >= to) return NO_PRINT
  const enough = bytes[to - 1] === LF ? ENOUGH : PRINT
  let start = to
  for (let lines = 0; lines < LINES && start > from; lines++) {
    start = start - 2 < from ? from : Math.max(from, bytes.lastIndexOf(LF, start - 2) + 1)
    const first = bytes[start]!
    if (to - start >= enough && first !== TAB && first !== SPACE) break
  }
  const end = Math.min(to, start + PRINT)
  return { offset: offset + start, length: end - start, hash: hashBytes(bytes, start, end) }
}

/** 53 bits of two multiplicative hashes. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let a = 0x9e3779b9 ^ (to - from)
  let b = 0x85ebca6b
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    a = Math.imul(a ^ byte, 0x5bd1e995)
    b = Math.imul(b + byte, 0x1b873593) ^ (b >>> 15)
  }
  a = Math.imul(a ^ (a >>> 16), 0x7feb352d) ^ Math.imul(b ^ (b >>> 13), 0x846ca68b)
  b = Math.imul(b ^ (b >>> 16), 0x7feb352d) ^ Math.imul(a ^ (a >>> 13), 0x846ca68b)
  return (b >>> 11) * 0x100000000 + (a >>> 0)
}

/** The cursor as clients see it: base64url, with a version in front and only the parts above. */
export function encodeCursor(cursor: Cursor): string {
  const { print, id } = cursor
  // In decimal: other bases take ten times as long to format.
  const plain = `${cursor.splitsRecord ? 'i' : '1'}/${cursor.offset}/${print.offset}/${print.length}/${print.hash}/${id === null ? '' : encodeURIComponent(id)}/${encodeURIComponent(cursor.name)}`
  return seal(plain)
}

/**
 * What a cursor says, in characters up to U+00FF, as clients see it. Three check digits distinguish a damaged cursor from
 * one whose file is gone.
 */
export function seal(plain: string): string {
  let hash = 0
  for (let i = 0; i < plain.length; i++)
    hash = Math.imul(hash ^ plain.charCodeAt(i), 0x01000193) ^ (hash >>> 15)
  return toBase64Url(((hash >>> 0) % 46656).toString(36).padStart(3, '0') + plain)
}

/** What a sealed cursor says; empty if it is damaged, or not ours. */
export function unseal(text: string): string {
  const plain = /^[A-Za-z0-9_-]{8,12000}$/.test(text) ? fromBase64Url(text).slice(3) : ''
  return seal(plain) === text ? plain : ''
}

const SHAPE = /^([1i])\/(\d{1,16})\/(\d{1,16})\/(\d{1,2})\/(\d{1,16})\/([^/]{0,200})\/([^/]{1,3100})$/

/** Parses a cursor; anything that is not ours is a LogError `bad-cursor`. */
export function decodeCursor(text: string, parameter: string): Cursor {
  const found = SHAPE.exec(unseal(text))
  if (!found) throw badCursor(parameter)
  const [, kind, offset, at, length, hash, id, name] = found
  const numbers = [offset!, at!, length!, hash!].map(Number)
  if (!numbers.every(Number.isSafeInteger) || numbers[2]! > PRINT) throw badCursor(parameter)
  try {
    return {
      name: decodeURIComponent(name!),
      id: id === '' ? null : decodeURIComponent(id!),
      offset: numbers[0]!,
      print: { offset: numbers[1]!, length: numbers[2]!, hash: numbers[3]! },
      splitsRecord: kind === 'i',
    }
  } catch {
    throw badCursor(parameter)
  }
}

/** The error for a cursor that this service never issued, or issued for another log. */
export function badCursor(parameter: string, why = 'is not a cursor of this service'): LogError {
  return new LogError(
    'bad-cursor',
    `The parameter ${parameter} ${why}; take it from the Link header of an answer for the same file.`,
  )
}

/** Characters up to U+00FF, each of which stands for a byte, as base64url without padding. */
export function toBase64Url(ascii: string): string {
  const text = btoa(ascii).replaceAll('+', '-').replaceAll('/', '_')
  const padding = text.indexOf('=')
  return padding < 0 ? text : text.slice(0, padding)
}

/** The characters of such a text again; empty if it is none. */
function fromBase64Url(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}
