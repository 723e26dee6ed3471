import { concat } from '../../kit/bytes.ts'

/** How the text of a file is written, if not as UTF-8. */
export type Charset = 'latin1' | 'utf-16le' | 'utf-16be'

/** What the byte order mark at the beginning of a file says; null if there is none. */
export function markedCharset(head: Uint8Array): Charset | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null
}

/** Text in pieces as UTF-8, piece by piece. Half a character at the end, or one of a pair alone, becomes U+FFFD. */
export async function* toUtf8(pieces: AsyncIterable<Uint8Array>, charset: Charset) {
  if (charset === 'latin1') {
    for await (const piece of pieces) if (piece.length > 0) yield fromLatin1(piece)
    return
  }
  const decoder = new TextDecoder('utf-16le')
  const encoder = new TextEncoder()
  let rest = new Uint8Array(0)
  for await (const piece of pieces) {
    const units = concat([rest, piece])
    const end = units.length & ~1
    rest = units.slice(end)
    if (charset === 'utf-16be') swap(units.subarray(0, end))
    const text = decoder.decode(units.subarray(0, end), { stream: true })
    if (text !== '') yield encoder.encode(text)
  }
  const text = decoder.decode(rest)
  if (text !== '') yield encoder.encode(text)
}

/** Changes the order of the bytes of each unit: not every runtime can decode both. */
function swap(units: Uint8Array): void {
  for (let i = 0; i < units.length; i += 2) {
    const first = units[i]!
    units[i] = units[i + 1]!
    units[i + 1] = first
  }
}

function fromLatin1(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 * bytes.length)
  let to = 0
  for (const byte of bytes) {
    if (byte >= 0x80) out[to++] = 0xc0 | (byte >> 6)
    out[to++] = byte < 0x80 ? byte : 0x80 | (byte & 0x3f)
  }
  return out.slice(0, to)
}
