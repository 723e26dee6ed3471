import { decode } from '../format/format.ts'
import { exactFinder, nearestOf } from './literal.ts'
import type { Matcher } from './pattern.ts'

/** Words that vary in each message, such as ids. */
export const ANY = '<*>'
/** Longer messages are known by their beginning. */
const MAX_WORDS = 40

/** The words of a message's first line; those with digits vary. */
export function wordsOf(message: string): string[] {
  const lf = message.indexOf('\n')
  const line = (lf < 0 ? message : message.slice(0, lf)).slice(0, 2000)
  const words = line.split(/\s+/).filter((word) => word !== '')
  const kept = words.slice(0, MAX_WORDS).map((word) => (/\d/.test(word) ? masked(word) : word))
  return words.length > MAX_WORDS ? [...kept, '…'] : kept
}

/** `shard=17,` as `shard=<*>,`: a key and the punctuation around a value stay. */
function masked(word: string): string {
  const [, key = '', , end = ''] = /^([A-Za-z_.-]+[=:])?(.*?)([,;:.)\]]*)$/.exec(word) ?? []
  return `${/\d/.test(key) ? '' : key}${ANY}${end}`
}

/** Matches records whose message has the words of a pattern, as `/fields` writes it: `slow query took <*>`. */
export function messageMatcher(pattern: string): Matcher {
  const wanted = pattern.split(/\s+/).filter((word) => word !== '')
  const find = finderOf(wanted)
  const test: Matcher['test'] = (bytes, from, to, reader) => {
    if (find && find(bytes, from, to) < 0) return false
    const { format, zone } = reader!
    const words = wordsOf((format.inner ?? format).fields(decode(bytes, from, to), zone).message)
    return words.length === wanted.length && wanted.every((word, i) => word === ANY || word === words[i])
  }
  return find ? { test, find } : { test }
}

/**
 * What may be in a record that writes its message in another way than it reads: Serilog puts values into a template,
 * colours may be inside a word, and journald writes some messages as lists of bytes.
 */
const SPELLED = ['@mt', 'MessageTemplate', '\x1b', 'u001b', 'u001B', '":[', '": [', '" : ['].map((text) =>
  exactFinder(encoded(text)),
)

/** Finds records that may match, by the longest text that they must contain; null if there is none. */
function finderOf(words: readonly string[]): Matcher['find'] | null {
  // JSON may escape other characters.
  const texts = words.flatMap((word) => word.split(ANY)).flatMap((word) => word.match(/[\w.:@+-]+/g) ?? [])
  const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), '')
  if (longest === '') return null
  return nearestOf([exactFinder(encoded(longest)), ...SPELLED])
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
