/** The bytes as valid UTF-8: each byte that is not part of a character becomes U+FFFD. */
export function repaired(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const out = new Uint8Array(3 * (to - from))
  let length = 0
  let at = from
  while (at < to) {
    const size = sizeAt(bytes, at, to)
    if (size === 0) {
      out[length++] = 0xef
      out[length++] = 0xbf
      out[length++] = 0xbd
      at++
    } else for (let i = 0; i < size; i++) out[length++] = bytes[at++]!
  }
  return out.subarray(0, length)
}

/** The length in bytes of the character that begins here; 0 if none does. */
function sizeAt(bytes: Uint8Array, at: number, to: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return 1
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  if (size === 0 || at + size > to) return 0
  for (let i = 1; i < size; i++) if (!isContinuation(bytes[at + i]!)) return 0
  const second = bytes[at + 1]!
  // Overlong forms, surrogates, and anything beyond the last code point.
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0
  return size
}

/** A place near this one where a text can be cut: not within a character, and not between a CR and its LF. */
export function borderNear(bytes: Uint8Array, at: number): number {
  let border = at
  while (border > at - 3 && isContinuation(bytes[border]!)) border--
  // Three bytes follow a lead at most: after that many without one, no character goes on.
  if (isContinuation(bytes[border]!)) border = at
  return bytes[border - 1] === 0x0d && bytes[border] === 0x0a ? border + 1 : border
}

const isContinuation = (byte: number) => (byte & 0xc0) === 0x80
