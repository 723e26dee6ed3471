const LEVELS: Record<string, string> = { debug: '2', warn: '33', error: '31', fatal: '1;31' }
const LABELS = ['36', '35', '32', '34', '33', '31']

export type Paint = ReturnType<typeof paintFor>

/** Colors for a terminal; without colors, each returns its text unchanged. */
export function paintFor(on: boolean) {
  const sgr = (code: string | undefined) => (text: string) =>
    on && code && text ? `\x1b[${code}m${text}\x1b[0m` : text
  return {
    on,
    level: (level: string | null | undefined, text: string) => sgr(LEVELS[level ?? ''])(text),
    dim: sgr('2'),
    bold: sgr('1'),
    key: sgr('36'),
    string: sgr('32'),
    /** One of six colors, the same for the same index. */
    label: (index: number, text: string) => sgr(LABELS[index % LABELS.length])(text),
    match: sgr('1;7'),
  }
}

/**
 * Text from a log, a name or an answer for a terminal: control characters and marks that change the direction of text
 * become visible. They could rewrite the screen, the title or the clipboard of the reader, or disguise a line.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = char.charCodeAt(0)
    if (char === '\t' || char === '\n') return char
    if (char === '\r') return ''
    if (code < 0x20) return `^${String.fromCharCode(code + 64)}`
    if (code === 0x7f) return '^?'
    return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16)}`
  })
}

/** A line of JSON, in which the same characters are escaped. */
export function printableJson(json: string): string {
  return json.replace(CONTROLS, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** C0 and C1 controls, DEL, and the controls of bidirectional text. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Marks each occurrence of the texts; like the search, ignoring case unless a text has a capital. */
export function marked(
  text: string,
  needles: readonly string[],
  paint: Paint,
  plain: (text: string) => string,
): string {
  if (!paint.on || needles.length === 0) return plain(text)
  const escaped = needles.map((needle) => needle.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const exact = needles.some((needle) => needle !== needle.toLowerCase())
  const pattern = new RegExp(`(${escaped.join('|')})`, exact ? 'gu' : 'giu')
  return text
    .split(pattern)
    .map((part, i) => (i % 2 === 1 ? paint.match(part) : plain(part)))
    .join('')
}
