import { joined, printable, type Shown, show, split } from './shown.ts'

export { printable, printableJson } from './shown.ts'

const LEVELS = new Map<unknown, Shown>([
  ['debug', show`2`],
  ['warn', show`33`],
  ['error', show`31`],
  ['fatal', show`1;31`],
])
const LABELS = ['36', '35', '32', '34', '33', '31'].map(printable)

export type Paint = ReturnType<typeof paintFor>

/** Colors for a terminal; without colors, each returns its text unchanged. */
export function paintFor(on: boolean) {
  const sgr = (code: Shown | undefined) => (text: Shown) =>
    on && code && text ? show`\x1b[${code}m${text}\x1b[0m` : text
  return {
    on,
    level: (level: string | null | undefined, text: Shown) => sgr(LEVELS.get(level))(text),
    dim: sgr(show`2`),
    bold: sgr(show`1`),
    key: sgr(show`36`),
    string: sgr(show`32`),
    /** One of six colors, the same for the same index. */
    label: (index: number, text: Shown) => sgr(LABELS[index % LABELS.length])(text),
    match: sgr(show`1;7`),
  }
}

/** Marks each occurrence of the texts; like the search, ignoring case unless a text has a capital. */
export function marked(
  text: Shown,
  needles: readonly string[],
  paint: Paint,
  plain: (text: Shown) => Shown,
): Shown {
  if (!paint.on || needles.length === 0) return plain(text)
  const escaped = needles.map((needle) => needle.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const exact = needles.some((needle) => needle !== needle.toLowerCase())
  const pattern = new RegExp(`(${escaped.join('|')})`, exact ? 'gu' : 'giu')
  return joined(split(text, pattern).map((part, i) => (i % 2 === 1 ? paint.match(part) : plain(part))))
}
