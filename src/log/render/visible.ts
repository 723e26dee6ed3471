/**
 * Controls, format characters (bidirectional, zero-width, tags), lone surrogates, private characters, separators of lines
 * and paragraphs, and all that has no shape of its own: what a person does not see, and a model does.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Text on one line in which everything can be seen: `\n`, `\x1b`, `\u{200b}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => {
    if (char === '\n') return '\\n'
    if (char === '\t') return '\\t'
    const code = char.codePointAt(0)!
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/** The same, at most `most` characters of it; `[+N chars]` counts the characters that are left out. */
export function cut(text: string, most: number): string {
  // Escaping never makes a text shorter.
  const whole = text.length <= most ? visible(text) : null
  if (whole !== null && whole.length <= most) return whole
  let shown = ''
  let used = 0
  for (const char of text) {
    const next = visible(char)
    if (shown.length + next.length > most) break
    shown += next
    used += char.length
  }
  return `${shown}[+${text.length - used} chars]`
}
