/** Says whether bytes hold what is looked for. */
export interface Matcher {
  /** Whether bytes[from, to) matches. */
  test(bytes: Uint8Array, from: number, to: number): boolean
  /** The offset of the next place at or after `from` where a match may lie, or -1: a scan skips the rest. */
  find?(bytes: Uint8Array, from: number, to: number): number
}

/** Finds `needle` in `bytes` at or after `from`, or -1: `Buffer.prototype.indexOf` where there is one. */
export type IndexOf = (bytes: Uint8Array, needle: Uint8Array, from: number) => number
