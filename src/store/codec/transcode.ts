/** How the text of a file is written, if not as UTF-8. */
export type Charset = 'latin1' | 'utf-16le' | 'utf-16be'

/** What the byte order mark at the beginning of a file says; null if there is none. */
export function markedCharset(head: Uint8Array): Charset | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null
}

/** Text in pieces as UTF-8, piece by piece. Half a character at the end, or one of a pair alone, becomes U+FFFD. */
export async function* toUtf8(pieces: AsyncIterable<Uint8Array>, charset: Charset) {
  const decoder = charset === 'latin1' ? null : new Utf16(charset === 'utf-16be')
  for await (const piece of pieces) {
    const text = decoder ? decoder.push(piece) : fromLatin1(piece)
    if (text.length > 0) yield text
  }
  const rest = decoder?.end()
  if (rest && rest.length > 0) yield rest
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

const REPLACEMENT = 0xfffd

/** UTF-16 in pieces, which may end inside a character. */
class Utf16 {
  readonly #isBig: boolean
  #isFirst = true
  /** The first half of a unit, and the first unit of a pair; -1 without one. */
  #half = -1
  #high = -1
  #out = new Uint8Array(0)
  #to = 0

  constructor(isBig: boolean) {
    this.#isBig = isBig
  }

  push(bytes: Uint8Array): Uint8Array {
    // A unit has at most three bytes, and one may be left from before.
    this.#out = new Uint8Array(3 * (bytes.length / 2 + 3))
    this.#to = 0
    for (const byte of bytes) {
      if (this.#half < 0) this.#half = byte
      else {
        this.#unit(this.#isBig ? (this.#half << 8) | byte : (byte << 8) | this.#half)
        this.#half = -1
      }
    }
    return this.#out.slice(0, this.#to)
  }

  end(): Uint8Array {
    this.#out = new Uint8Array(6)
    this.#to = 0
    if (this.#high >= 0) this.#write(REPLACEMENT)
    if (this.#half >= 0) this.#write(REPLACEMENT)
    return this.#out.slice(0, this.#to)
  }

  #unit(unit: number): void {
    const isMark = this.#isFirst && unit === 0xfeff
    this.#isFirst = false
    if (isMark) return
    const isLow = unit >= 0xdc00 && unit < 0xe000
    if (this.#high >= 0) {
      const high = this.#high
      this.#high = -1
      this.#write(isLow ? 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00) : REPLACEMENT)
      if (isLow) return
    }
    if (unit >= 0xd800 && unit < 0xdc00) this.#high = unit
    else this.#write(isLow ? REPLACEMENT : unit)
  }

  #write(code: number): void {
    const out = this.#out
    if (code < 0x80) out[this.#to++] = code
    else if (code < 0x800) {
      out[this.#to++] = 0xc0 | (code >> 6)
      out[this.#to++] = 0x80 | (code & 0x3f)
    } else {
      if (code < 0x10000) out[this.#to++] = 0xe0 | (code >> 12)
      else {
        out[this.#to++] = 0xf0 | (code >> 18)
        out[this.#to++] = 0x80 | ((code >> 12) & 0x3f)
      }
      out[this.#to++] = 0x80 | ((code >> 6) & 0x3f)
      out[this.#to++] = 0x80 | (code & 0x3f)
    }
  }
}
