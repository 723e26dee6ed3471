/** Deeper JSON stays text: JSON.stringify is recursive and overflows its stack at about 4,000 levels. */
export const MAX_DEPTH = 200
/** JSON with more keys stays text: 300,000 of them take JSON.parse 1.3 s. */
export const MAX_KEYS = 10_000
/** Array elements are cheaper than keys: this many parse in about 5 ms. */
export const MAX_ELEMENTS = 100_000

/** The part of a string that the check needs; a test counts the calls. */
export type Characters = Pick<string, 'length' | 'charCodeAt' | 'indexOf'>

/**
 * Whether the JSON in text[from, …) is small enough to parse in a few milliseconds. It stops at the first excess level, key
 * or element, and skips strings, so a hostile line costs no more than a good one.
 */
export function fits(text: Characters, from = 0): boolean {
  let depth = 0
  let keys = 0
  let elements = 0
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x22) {
      at = closingQuote(text, at)
      if (at < 0) return true
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return false
    } else if (char === 0x7d || char === 0x5d) depth--
    else if (char === 0x3a) {
      if (++keys > MAX_KEYS) return false
    } else if (char === 0x2c && ++elements > MAX_ELEMENTS) return false
  }
  return true
}

/** The offset of the quote that closes the string at `from`, or -1. */
export function closingQuote(text: Characters, from: number): number {
  let quote = text.indexOf('"', from + 1)
  while (quote >= 0) {
    let before = quote
    while (text.charCodeAt(before - 1) === 0x5c) before--
    if ((quote - before) % 2 === 0) return quote
    quote = text.indexOf('"', quote + 1)
  }
  return -1
}
