/** The last pieces of a text that can only be read forward, such as that of an archive, and where they start and end. */
export class TextPieces {
  from = 0
  to = 0
  #pieces: Uint8Array[] = []

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.to += piece.length
  }

  /** Drops the pieces that end before `keep`, except the last one. */
  drop(keep: number): void {
    while (this.#pieces.length > 1 && this.from + this.#pieces[0]!.length <= keep)
      this.from += this.#pieces.shift()!.length
  }

  /** Forgets everything, to begin again at the start of the text. */
  clear(): void {
    this.from = 0
    this.to = 0
    this.#pieces = []
  }

  /** The bytes [from, to), which must be there. */
  copy(from: number, to: number, bytes = new Uint8Array(Math.max(0, to - from))): Uint8Array<ArrayBuffer> {
    let at = this.from
    for (const piece of this.#pieces) {
      const end = at + piece.length
      if (end > from && at < to) {
        const part = piece.subarray(Math.max(0, from - at), Math.min(piece.length, to - at))
        bytes.set(part, Math.max(0, at - from))
      }
      at = end
    }
    return bytes
  }
}
