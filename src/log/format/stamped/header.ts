import { parseLevel } from '../read/level.ts'

/** What stands between the time of a line and its message. */
export interface Header {
  /** Where the message begins. */
  end: number
  tag?: string | undefined
  /** What else it says, by name. */
  context: Record<string, string>
}

/**
 * The headers of programs that write more than a level. Groups become members of the context, except `level`, which must
 * be the line's level, and `tag`.
 */
const KNOWN: readonly RegExp[] = [
  // MariaDB and MySQL: `3 [Warning] …`, `0 [System] [MY-010116] [Server] …`
  /^(?<thread>\d{1,20}) \[(?<level>[A-Za-z]{1,20})\] (?:\[(?<code>MY-\d{1,10})\] \[(?<tag>\w{1,40})\] )?/,
  // ClickHouse: `[ 77 ] {query id} <Error> executeQuery: …`
  /^\[ (?<thread>\d{1,20}) \] \{(?<query>[^}]{0,100})\} <(?<level>[A-Za-z]{1,20})> (?:(?<tag>[^:\s]{1,100}): )?/,
  // Ruby: `#12] ERROR -- program: …`
  /^#(?<pid>\d{1,20})\] {1,2}(?<level>[A-Z]{1,20}) -- (?<program>[^:]{0,100}): /,
]

/** The header of a line, given the text after its time and its level; null when the message begins at once. */
export function headerOf(text: string, level: number): Header | null {
  for (const pattern of KNOWN) {
    const found = pattern.exec(text)
    if (!found || parseLevel(found.groups!.level!) !== level) continue
    const { level: _, tag, ...others } = found.groups!
    const context = Object.entries(others).filter(([, value]) => value)
    return { end: found[0].length, tag, context: Object.fromEntries(context) }
  }
  return anyHeader(text, level)
}

// Every run of spaces is bounded: two adjacent runs would take quadratic time on a line of spaces.
const LEVEL_WORD =
  /([[<(|]?)\s{0,8}([A-Za-z]{3,13}\d?)(\s{0,8}[\]>)|]?(?:\s{0,8}:(?=\s|$)|\s{0,8}[-|]\s|\s|(?=\[)|$))/y
const MAX_PARTS = 12
const MAX_PART = 512

/** Numbers, parts in brackets and names before a dash may precede the level, and nothing else: a message may hold a level. */
function anyHeader(text: string, level: number): Header | null {
  let at = 0
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    while (at < text.length && ' \t:-|'.includes(text[at]!)) at++
    const end = levelEnd(text, at, level)
    if (end >= 0) {
      const prefix = text.slice(0, at).replace(/^[\s:|-]{1,16}|[\s:|-]{1,16}$/g, '')
      return { end, context: prefix === '' ? {} : { prefix } }
    }
    at = partEnd(text, at)
    if (at < 0) return null
  }
  return null
}

/** The offset after the level word at text[at]; -1 when there is none. `Error handling request` is a message. */
function levelEnd(text: string, at: number, level: number): number {
  LEVEL_WORD.lastIndex = at
  const found = LEVEL_WORD.exec(text)
  if (!found || parseLevel(found[2]!) !== level) return -1
  const [whole, bracket, word, after] = found
  const isSentence = bracket === '' && after === ' ' && word !== word!.toUpperCase()
  return isSentence && text[at + whole.length] !== ' ' ? -1 : at + whole.length
}

const CLOSING: Record<string, string> = { '[': ']', '(': ')', '{': '}' }
const NUMBER = /\d{1,20}(?=[\s:]|$)/y
const NAME = /[^\s[({]{1,100} {1,2}[-|] /y

/** The offset after the part at text[at]; -1 when it is a word of the message. */
function partEnd(text: string, at: number): number {
  const closing = CLOSING[text[at] ?? '']
  if (closing) {
    const end = text.slice(at, at + MAX_PART).indexOf(closing)
    return end < 0 ? -1 : at + end + 1
  }
  for (const pattern of [NUMBER, NAME]) {
    pattern.lastIndex = at
    if (pattern.test(text)) return pattern.lastIndex
  }
  return -1
}
