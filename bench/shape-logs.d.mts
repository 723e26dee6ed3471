/** By format and shape: a line (or several) by its number and time. */
export const SHAPES: Record<string, Record<string, (i: number, ms: number) => string>>
/** A log of about `size` bytes, in pieces. */
export function linesOf(shape: (i: number, ms: number) => string, size: number): Generator<string>
