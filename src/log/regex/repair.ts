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
  for (let i = 1; i < size; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1]!
  // Overlong forms, surrogates, and anything beyond the last code point.
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0
  return size
}
