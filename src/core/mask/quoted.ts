import type { Span } from './known.ts'

/** Letters before a string in Python and SQL, `b'x'` and `N'x'`, and the quote, which may be escaped. */
const OPENING = /[bnerubBNERUB]{0,2}(\\{0,7})("{3}|'{3}|["'`])/y

/**
 * What is inside the quotes of a string that begins here; null if none does. Its quotes may be escaped, as in JSON that
 * is in JSON, where an inner quote has more backslashes than the one that closes. It ends with its line at the latest.
 */
export function quotedAt(text: string, from: number): Span | null {
  OPENING.lastIndex = from
  const [opening, slashes, quote] = OPENING.exec(text) ?? []
  if (opening === undefined) return null
  const start = from + opening.length
  const depth = slashes!.length
  let run = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '\n') return { start, end: at }
    if (char === '\\') {
      run++
      continue
    }
    if (run % (2 * (depth + 1)) === depth && text.startsWith(quote!, at)) {
      // SQL doubles a quote that is part of the string.
      if (char !== "'" || text[at + 1] !== "'" || at === start) return { start, end: at - depth }
      at++
    }
    run = 0
  }
  return { start, end: text.length }
}
