import { hashBytes } from '../text/cursor.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Writes numbers and texts in few bytes. */
export class PackedWriter {
  readonly bytes: number[] = []

  /** A number in `count` bytes. */
  fixed(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) this.bytes.push(Math.floor(value / 2 ** (8 * i)) % 256)
  }

  /** A number in as few bytes as it needs, seven bits in each. */
  number(value: number): void {
    for (let rest = value; ; rest = Math.floor(rest / 128)) {
      this.bytes.push((rest % 128) + (rest >= 128 ? 128 : 0))
      if (rest < 128) return
    }
  }

  signed(value: number): void {
    this.number(value >= 0 ? 2 * value : -2 * value - 1)
  }

  text(value: string): void {
    const bytes = encoder.encode(value)
    this.number(bytes.length)
    this.bytes.push(...bytes)
  }
}

/** Reads them again; a RangeError says that they are not there. */
export class PackedReader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  fixed(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 256 + this.#byte()
    return value
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte()
      value += (byte % 128) * scale
      if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('too large')
      if (byte < 128) return value
    }
  }

  signed(): number {
    const value = this.number()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  text(): string {
    const length = this.number()
    if (length > this.left) throw new RangeError('too short')
    const bytes = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return decoder.decode(bytes)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('too short')
    return byte
  }
}

export function hashOf(text: string): number {
  const bytes = encoder.encode(text)
  return hashBytes(bytes, 0, bytes.length)
}
