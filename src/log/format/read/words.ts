/** A power of two: how many words are kept. */
const SLOTS = 1024
const known: string[] = new Array(SLOTS).fill('')

/**
 * The word in bytes[from, to) as a string, a character per byte, after setting `bits` in each (32 makes letters small).
 * Logs repeat few words, such as keys and levels: each string is made once, and kept until another takes its slot.
 */
export function wordOf(bytes: Uint8Array, from: number, to: number, bits = 0): string {
  let hash = to - from
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at]! | bits)) | 0
  const slot = (hash ^ (hash >>> 10)) & (SLOTS - 1)
  const word = known[slot]!
  let i = 0
  if (word.length === to - from)
    while (i < word.length && word.charCodeAt(i) === (bytes[from + i]! | bits)) i++
  if (i === to - from) return word
  let made = ''
  for (let at = from; at < to; at++) made += String.fromCharCode(bytes[at]! | bits)
  known[slot] = made
  return made
}
/** Longer strings are searched by the runtime's own loop, which is ten times as fast and slower to start. */
const SHORT = 64

/** The offset after the string whose quote is at `from`, or -1. A backslash escapes what follows it. */
export function stringEnd(bytes: Uint8Array, from: number, to: number): number {
  const near = Math.min(to, from + SHORT)
  let at = from + 1
  for (; at < near; at++) {
    const byte = bytes[at]
    if (byte === 0x5c) at++
    else if (byte === 0x22) return at + 1
  }
  for (
    let quote = bytes.indexOf(0x22, at);
    quote >= 0 && quote < to;
    quote = bytes.indexOf(0x22, quote + 1)
  ) {
    let before = quote
    while (before > at && bytes[before - 1] === 0x5c) before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return -1
}

export function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

/** A letter or a digit. */
export function isWordByte(byte: number): boolean {
  return isLetter(byte) || (byte >= 0x30 && byte <= 0x39)
}

/** Whether no small letter is in bytes[from, to). */
export function isCapital(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! >= 0x61) return false
  return true
}

/** Where the characters beyond ASCII from `from` on end, or where their UTF-8 is broken (RFC 3629, section 4). */
export function charactersEnd(view: DataView, from: number, to: number): number {
  let i = from
  while (i < to) {
    const lead = view.getUint8(i)
    const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
    if (length === 0 || i + length > to) return i
    const second = view.getUint8(i + 1)
    // Neither a longer form than needed, nor half of a surrogate pair, nor beyond U+10FFFF.
    const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    if (second < least || second > most) return i
    if (length > 2 && (view.getUint8(i + 2) & 0xc0) !== 0x80) return i
    if (length > 3 && (view.getUint8(i + 3) & 0xc0) !== 0x80) return i
    i += length
  }
  return i
}

/** How many bytes of UTF-8 the blank beyond ASCII at bytes[at] takes, as `\s` knows them; 0 if there is none. */
export function wideBlank(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!
  if (lead === 0xc2) return bytes[at + 1] === 0xa0 ? 2 : 0
  if (lead !== 0xe1 && lead !== 0xe2 && lead !== 0xe3 && lead !== 0xef) return 0
  const code = ((lead & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f)
  return /\s/.test(String.fromCharCode(code)) ? 3 : 0
}

/** How many bytes of UTF-8 the first `count` units of a text take, which end between two characters. */
export function bytesIn(text: string, count: number): number {
  let bytes = count
  for (let i = 0; i < count; i++) {
    const code = text.charCodeAt(i)
    // Both halves of a surrogate pair take two.
    if (code >= 0x80) bytes += code < 0x800 || (code & 0xf800) === 0xd800 ? 1 : 2
  }
  return bytes
}
