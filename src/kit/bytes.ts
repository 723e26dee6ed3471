/** Joins pieces into one, in memory of its own. */
export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** The same, but a single piece is not copied. */
export function asOne(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : concat(pieces)
}

/** The end of the line that starts at `from`, without its newline. */
export function lineEnd(bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.indexOf(0x0a, from)
  return lf < 0 || lf > to ? to : lf
}

/** Memory for reuse, between two sizes: fresh memory costs as much as what is written to it. At most `most` buffers are kept. */
export class BufferPool {
  most: number
  readonly #size: number
  readonly #largest: number
  #idle: Uint8Array<ArrayBuffer>[] = []

  constructor(size: number, most: number, largest = size) {
    this.most = most
    this.#size = size
    this.#largest = largest
  }

  /** A buffer of at least this many bytes, with arbitrary content. */
  take(size = this.#size): Uint8Array<ArrayBuffer> {
    const at = this.#idle.findLastIndex((buffer) => buffer.length >= size)
    return at < 0 ? new Uint8Array(Math.max(size, this.#size)) : this.#idle.splice(at, 1)[0]!
  }

  /** Returns the memory of bytes that are no longer in use. False if it is of another size, or not needed. */
  give({ buffer }: Uint8Array): boolean {
    const { byteLength } = buffer
    if (byteLength < this.#size || byteLength > this.#largest || this.#idle.length >= this.most) return false
    this.#idle.push(new Uint8Array(buffer as ArrayBuffer))
    return true
  }

  clear(): void {
    this.#idle = []
  }
}
