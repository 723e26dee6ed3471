import { isWordByte, wordOf } from './words.ts'

/** The levels, from the least to the most severe; a level is an index into this list. */
export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

export type LevelName = (typeof LEVELS)[number]

/** Every spelling that loggers use, by level. Single letters mean something only inside a format that has them. */
const SPELLINGS = [
  'trace trc finest finer fine verbose debug debug1 debug2 debug3 debug4 debug5 dbg config',
  'info inf information informational notice note log system hint detail statement',
  'warn wrn warning',
  'error err severe',
  'critical crit fatal ftl panic pnc dpanic alert emerg emergency',
]
const WORDS: Record<string, number> = Object.fromEntries(
  SPELLINGS.flatMap((words, level) => words.split(' ').map((word) => [word, level])),
)

/** A level by any of its spellings in any case (`WARNING`, `err`, `SEVERE`, `dpanic`), or null. */
export function parseLevel(text: string): 0 | 1 | 2 | 3 | 4 | null {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const word = text.trim().toLowerCase()
  if (!Object.hasOwn(WORDS, word)) return null
  const level = WORDS[word] as 0 | 1 | 2 | 3 | 4
  if (parsed.size < MOST_PARSED && text.length <= LONGEST_PARSED) parsed.set(text, level)
  return level
}

/** Spellings that occurred: a log has few of them. */
const parsed = new Map<string, 0 | 1 | 2 | 3 | 4>()
const MOST_PARSED = 256
const LONGEST_PARSED = 16

const WARN_LEVEL = LEVELS.indexOf('warn')

/**
 * What a line with a word for this level or a higher one holds; null if most lines do. `before` is what comes before the
 * word: `stderr` is no error.
 */
export function wordMarks(level: number, before = '[^d]'): RegExp[] | null {
  if (level < WARN_LEVEL) return null
  return Object.keys(WORDS)
    .filter((word) => WORDS[word]! >= level)
    .map((word) => new RegExp(`${before}${word}[^a-z0-9]`, 'i'))
}

/** The level of the word at bytes[from], or -1. The word ends at the first byte that is not a letter or digit. */
export function levelAt(bytes: Uint8Array, from: number, to: number): number {
  // Six comparisons answer nearly every line; the map costs ten times as much.
  if (to - from >= 4) {
    const four =
      (bytes[from]! << 24) |
      (bytes[from + 1]! << 16) |
      (bytes[from + 2]! << 8) |
      bytes[from + 3]! |
      0x20202020
    const next = from + 4 < to ? bytes[from + 4]! : 0
    if (four === INFO && !isWordByte(next)) return 1
    if (four === WARN && !isWordByte(next)) return 2
    if (four === NOTE && !isWordByte(next)) return 1
    const last = from + 5 < to ? bytes[from + 5]! : 0
    if (four === ERRO && (next | 32) === 0x72 && !isWordByte(last)) return 3
    if (four === DEBU && (next | 32) === 0x67 && !isWordByte(last)) return 0
    if (four === FATA && (next | 32) === 0x6c && !isWordByte(last)) return 4
  }
  if (to - from < 3 || !mayBegin(bytes[from]!, bytes[from + 1]!, bytes[from + 2]!)) return -1
  let end = from
  while (end < to && end - from < 14 && isWordByte(bytes[end]!)) end++
  return end < to && isWordByte(bytes[end]!) ? -1 : (BY_WORD.get(wordOf(bytes, from, end, 32)) ?? -1)
}

const BY_WORD = new Map(Object.entries(WORDS))

/** A bit for each first three letters of a level. It saves making a string of every word. */
export const LEVEL_BEGINNINGS = new Uint8Array(27 << 7)
const beginningOf = (one: number, two: number, three: number) =>
  ((one & 31) << 10) | ((two & 31) << 5) | (three & 31)
for (const word of Object.keys(WORDS)) {
  const beginning = beginningOf(word.charCodeAt(0), word.charCodeAt(1), word.charCodeAt(2))
  LEVEL_BEGINNINGS[beginning >> 3]! |= 1 << (beginning & 7)
}

/** Whether a level may begin with these bytes. */
function mayBegin(one: number, two: number, three: number): boolean {
  const beginning = beginningOf(one, two, three)
  return ((LEVEL_BEGINNINGS[beginning >> 3]! >> (beginning & 7)) & 1) === 1
}

const code = (word: string) =>
  (word.charCodeAt(0) << 24) | (word.charCodeAt(1) << 16) | (word.charCodeAt(2) << 8) | word.charCodeAt(3)
const INFO = code('info')
const WARN = code('warn')
const NOTE = code('note')
const ERRO = code('erro')
const DEBU = code('debu')
const FATA = code('fata')
