import { BoundedMap } from '../../../kit/limits/bounded-map.ts'

const ITEM = /(\[(?:[^\]\\]|\\.)+\]|\\x[\da-f]{2}|\\?[\s\S])(\??)/gi

/** What follows the backslash where JSON escapes a byte. Other controls are written as `\u`. */
const LETTERS = new Map(
  Object.entries({ '"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }).map(
    ([char, letter]) => [char.charCodeAt(0), letter.charCodeAt(0)],
  ),
)
const QUOTE = 0x22
const BACKSLASH = 0x5c
const LF = 0x0a
/** The bytes that replace broken UTF-8. */
const REPLACING = [0xef, 0xbf, 0xbd]
const WIDE = Array.from({ length: 128 }, (_, i) => 128 + i)

/** One place of a mark: the bytes that fit. */
interface MarkPlace {
  source: string
  isOptional: boolean
  bytes: ReadonlySet<number>
}

/**
 * What is in the file where a text that JSON escapes holds a mark, and where it holds the mark as it is; null if that
 * is not known. Escapes by number (`\u`) and `\/` are left out.
 */
export function escapedMarks({ source, flags }: RegExp): RegExp[] | null {
  const isAfterBreak = source.startsWith('\\n')
  const items = Array.from(source.slice(isAfterBreak ? 2 : 0).matchAll(ITEM), ([, item, optional]) =>
    itemOf(item!, flags, optional === '?'),
  )
  const escaped = items.filter((item) => lettersOf(item).size > 0).length
  if (!isSure(items) || escaped > MOST_ESCAPED) return longestPart(items, flags)
  if (!isAfterBreak) return spelled(items, '', flags)
  if (!lettersOf(items[0]!).size) return spelled(items, AFTER_BREAK, flags)
  return [...STARTS.flatMap((start) => spelled(items, start, flags)), ...ODD_STARTS]
}

/** Each place that may be escaped doubles the spellings. */
const MOST_ESCAPED = 4

/** What a line follows: a quote, an escaped line break, or, if it is not wrapped, a line break. */
const AFTER_BREAK = '["n\\n]'
/** The same in more detail, and texts that begin otherwise. */
const ESCAPED_BREAK = '\\\\n'
const STARTS = ['\\n', 'log":"', ESCAPED_BREAK]
const ODD_STARTS = [/log"[^:]/, /log":[^"]/]

function spelled(items: readonly MarkPlace[], start: string, flags: string): RegExp[] {
  let spellings = [start]
  for (let i = 0; i < items.length; i++) {
    const own = spellingsOf(items, i, start)
    spellings = spellings.flatMap((before) => own.map((one) => before + one))
  }
  return spellings.map((spelling) => new RegExp(spelling, flags))
}

/** The bytes of places that occurred: marks are asked for with every chunk of a log. */
const known = new BoundedMap<string, ReadonlySet<number>>(1000)

function itemOf(source: string, flags: string, isOptional: boolean): MarkPlace {
  const bytes = known.use(`${source} ${flags}`, () => {
    const pattern = new RegExp(`^${source}$`, `${flags}s`)
    const all = Array.from({ length: 256 }, (_, byte) => byte)
    return new Set(all.filter((byte) => pattern.test(String.fromCharCode(byte))))
  })
  return { source, isOptional, bytes }
}

/** Whether bytes that replace broken UTF-8, of which the file has others, make no difference. */
function isSure(items: readonly MarkPlace[]): boolean {
  const replacing = items.filter(isReplacing)
  return replacing.every((item) => {
    const isEdge = item === items[0] || item === items.at(-1)
    // Three bytes replace a broken one: the others would have to fit, too.
    return isEdge ? WIDE.every((byte) => item.bytes.has(byte)) : replacing.length === 1
  })
}

const isReplacing = ({ bytes }: MarkPlace) => REPLACING.some((byte) => bytes.has(byte))

/** How one place of a mark is spelled; the first one follows `start`. */
function spellingsOf(items: readonly MarkPlace[], i: number, start: string): string[] {
  const { source, isOptional, bytes } = items[i]!
  const letters = lettersOf(items[i]!)
  if (letters.size === 0) return [isOptional ? `${source}?` : source]
  const isBorder = items.slice(i + 1).every(isLeftOut) || items.slice(0, i).every(isLeftOut)
  // A line may begin behind a quote and end before one.
  const raw = new Set(isBorder && bytes.has(LF) ? [...bytes, QUOTE] : bytes)
  // The break that ends a text is not in it.
  if (i === 0 && start === ESCAPED_BREAK) raw.delete(QUOTE)
  const isFirst = i === 0 && start === ''
  const isLast = i === items.length - 1
  let own: string[]
  if ((isFirst && [...letters].every((letter) => raw.has(letter))) || (isLast && raw.has(BACKSLASH)))
    own = [classOf(raw)]
  else if (isLast && i > 1) own = [classOf(raw.add(BACKSLASH))]
  else own = [classOf(raw), `\\\\${classOf(letters)}`]
  return isOptional ? ['', ...own] : own
}

/** What follows the backslash where bytes of a place are escaped. */
const lettersOf = ({ bytes }: MarkPlace) =>
  new Set([...LETTERS].filter(([byte]) => bytes.has(byte)).map(([, letter]) => letter))

const isLeftOut = ({ isOptional }: MarkPlace) => isOptional

function classOf(bytes: ReadonlySet<number>): string {
  return `[${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}]`
}

/** The longest part of a mark that is spelled in JSON as it is; null if there is none. */
function longestPart(items: readonly MarkPlace[], flags: string): RegExp[] | null {
  const parts = ['']
  for (const item of items) {
    const isAltered = isReplacing(item) || [...item.bytes].some((byte) => byte < 0x20 || LETTERS.has(byte))
    if (isAltered) parts.push('')
    else parts.push(`${parts.pop()}${item.source}${item.isOptional ? '?' : ''}`)
  }
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best))
  return longest === '' ? null : [new RegExp(longest, flags)]
}
