declare const shown: unique symbol
declare const escaped: unique symbol

/** Text that may go to stdout: whatever came from elsewhere is escaped if that is a terminal. Only this file makes it. */
export type Shown = string & { readonly [shown]: true }
/** Text that may go anywhere, because whatever came from elsewhere is escaped in any case. */
export type Escaped = Shown & { readonly [escaped]: true }

/**
 * Text from a log, a name or an answer for a terminal: control characters and marks that change the direction of text
 * become visible. They could rewrite the screen, the title or the clipboard of the reader, or disguise a line.
 */
export function printable(text: string): Escaped {
  return text.replace(CONTROLS, (char) => {
    const code = char.charCodeAt(0)
    if (char === '\t' || char === '\n') return char
    if (char === '\r') return ''
    if (code < 0x20) return `^${String.fromCharCode(code + 64)}`
    if (code === 0x7f) return '^?'
    return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16)}`
  }) as Escaped
}

/** A line of JSON, in which the same characters are escaped. */
export function printableJson(json: string): Escaped {
  return json.replace(CONTROLS, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ) as Escaped
}

/** C0 and C1 controls, DEL, and the controls of bidirectional text. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Whether to make control characters visible. */
interface Sink {
  terminal: boolean
}

/** Plain text of a log as it is printed. */
export function clean(text: string, { terminal }: Sink): Shown {
  return terminal ? printable(text) : (text as Shown)
}

/** One value of an answer as it is printed, on one line: a name, a number, a time. Answers may hold anything. */
export function cleanName(value: unknown, { terminal }: Sink): Shown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return terminal
    ? (printable(text).replaceAll('\t', '^I').replaceAll('\n', '^J') as Escaped)
    : (text as Shown)
}

/** A template whose own words are printed as they are; what it is filled with must be fit to be. */
export function show<T extends Shown = Escaped>(words: TemplateStringsArray, ...values: T[]): T {
  return words.map((word, i) => word + (values[i] ?? '')).join('') as T
}

export function joined<T extends Shown>(
  parts: readonly T[],
  separator: '' | ' ' | '  ' | '\n' | '\t' = '',
): T {
  return parts.join(separator) as T
}

/** Parts of a text that is fit to be printed are, too. */
export function split(text: Shown, separator: string | RegExp): Shown[] {
  return text.split(separator) as Shown[]
}

export function padded(text: Shown, width: number, side: 'left' | 'right'): Shown {
  return (side === 'left' ? text.padStart(width) : text.padEnd(width)) as Shown
}
