const ESCAPE = 0x1b
const CR = 0x0d
const LF = 0x0a
const HIGH = 0x80

/**
 * Copies the text of a record as `recordText` reads it: without its last line end, a byte order mark, escapes of
 * terminals, and the CR of a line end. Returns how long that is; -1 if it is unusual.
 */
export function copyNormal(bytes: Uint8Array, from: number, to: number, into: Uint8Array): number {
  const end = to > from && bytes[to - 1] === LF ? to - 1 : to
  let at = from
  if (bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3
  let length = 0
  for (; at < end; at++) {
    const byte = bytes[at]!
    if (byte === ESCAPE) {
      const last = sequenceEnd(bytes, at, end)
      // A character split by escape sequences is broken, and stays broken.
      if (last < 0 || (length > 0 && into[length - 1]! >= HIGH && isInside(bytes[last + 1]!))) return -1
      at = last
      continue
    }
    if (byte === LF && length > 0 && into[length - 1] === CR) length--
    if ((byte === LF || byte === CR) && length > 0 && into[length - 1] === CR) return -1
    into[length++] = byte
  }
  return length > 0 && into[length - 1] === CR ? length - 1 : length
}

/** Whether a byte continues a character of UTF-8. */
const isInside = (byte: number) => byte >= HIGH && byte < 0xc0

/** Where the sequence ends that begins at `at`, such as `ESC [ 31 m`; -1 if it is of another kind. */
function sequenceEnd(bytes: Uint8Array, at: number, to: number): number {
  if (bytes[at + 1] !== 0x5b) return -1
  let end = at + 2
  while (end < to && bytes[end]! >= 0x30 && bytes[end]! <= 0x3f) end++
  while (end < to && bytes[end]! >= 0x20 && bytes[end]! <= 0x2f) end++
  return end < to && bytes[end]! >= 0x40 && bytes[end]! <= 0x7e ? end : -1
}
