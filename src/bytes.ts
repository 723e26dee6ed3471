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
