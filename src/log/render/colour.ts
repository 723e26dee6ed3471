// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const COLOUR = /\x1b\[[\d;:]*m/g

/**
 * A record's message with its colour escapes (`ESC [ … m`) left in, and no others; null when it has none. The
 * message has none of them, as in JSON; its position in the record is found by reading past the escapes.
 */
export function colouredMessage(
  text: string,
  message: string,
  strip: (text: string) => string,
): string | null {
  const found = [...text.matchAll(COLOUR)]
  if (found.length === 0 || text.includes('\r')) return null
  // The text without escapes, and at which of its offsets a colour begins.
  let plain = ''
  let last = 0
  const colours: { at: number; code: string }[] = []
  for (const match of found) {
    plain += strip(text.slice(last, match.index))
    colours.push({ at: plain.length, code: match[0] })
    last = match.index + match[0].length
  }
  plain += strip(text.slice(last))
  const end = message.indexOf('\n')
  // A context may come between the first line and a stack trace.
  const whole = plain.indexOf(message)
  const parts = whole >= 0 || end < 0 ? [message] : [message.slice(0, end), message.slice(end)]
  let out = ''
  let from = 0
  for (const part of parts) {
    const at = plain.indexOf(part, from)
    if (at < 0) return null
    from = at + part.length
    let done = 0
    for (const { at: place, code } of colours) {
      if (place < at || place > from) continue
      out += part.slice(done, place - at) + code
      done = place - at
    }
    out += part.slice(done)
  }
  return out === message ? null : out
}
