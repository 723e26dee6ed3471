/** A text that a match must contain, ignoring case or exactly. */
export interface Literal {
  text: string
  folded: boolean
}

/**
 * Texts of which every match of a valid RE2 pattern contains at least one, or null if none is certain.
 * When in doubt it returns null: a wrong literal would hide records, a missing one only costs time.
 */
export function requiredLiterals(source: string): Literal[] | null {
  // Other spellings of a character and flags in the middle are rare; they count as "unsure".
  if (/\\[QExpP0-7Cc]/.test(source)) return null
  const flags = /^\(\?([a-zA-Z]*)\)/.exec(source)
  const folded = flags?.[1]?.includes('i') ?? false
  const body = flags ? source.slice(flags[0].length) : source
  if (/\(\?[a-zA-Z-]*[a-zA-Z-][:)]/.test(body)) return null
  const found = choices(new Reader(body), folded)
  if (!found || found.length > 8) return null
  return found.map((text) => ({ text, folded }))
}

class Reader {
  readonly text: string
  at = 0
  constructor(text: string) {
    this.text = text
  }
  get next(): string {
    return this.text[this.at] ?? ''
  }
}

/** Alternatives up to a closing parenthesis or the end: one literal of each, or null. */
function choices(reader: Reader, folded: boolean): string[] | null {
  let all: string[] | null = []
  for (;;) {
    const branch = sequence(reader, folded)
    all = all && branch ? [...all, ...branch] : null
    if (reader.next !== '|') return all
    reader.at++
  }
}

/** A sequence of items: the best literals it must contain. */
function sequence(reader: Reader, folded: boolean): string[] | null {
  let best: string[] | null = null
  let run = ''
  const end = () => {
    if (run.length >= MIN && score([run]) > score(best)) best = [run]
    run = ''
  }
  while (reader.at < reader.text.length && reader.next !== '|' && reader.next !== ')') {
    const item = one(reader, folded)
    const { optional, repeated } = quantifier(reader)
    if (item.char !== null && !optional && !repeated) {
      run += item.char
      continue
    }
    // `ab+c` contains "ab" and, because the last b comes before c, "bc"; only the first is used.
    if (item.char !== null && !optional) run += item.char
    end()
    if (item.inner && !optional && score(item.inner) > score(best)) best = item.inner
  }
  end()
  return best
}

// One letter is in nearly every line: searching for it costs more than it saves.
const MIN = 2

function score(texts: string[] | null): number {
  return texts ? Math.min(...texts.map((text) => text.length)) : 0
}

interface Item {
  /** The single character it matches, if there is only one. */
  char: string | null
  /** What a group must contain. */
  inner: string[] | null
}

const ANY: Item = { char: null, inner: null }

function one(reader: Reader, folded: boolean): Item {
  const char = String.fromCodePoint(reader.text.codePointAt(reader.at)!)
  reader.at += char.length
  if (char === '(') {
    const named = /^\?(?:P?<[^>]*>|:)/.exec(reader.text.slice(reader.at))
    if (named) reader.at += named[0].length
    const inner = choices(reader, folded)
    reader.at++
    return { char: null, inner }
  }
  if (char === '[') {
    skipClass(reader)
    return ANY
  }
  if (char === '.' || char === '^' || char === '$') return ANY
  if (char === '\\') {
    const escaped = reader.next
    reader.at++
    // Escaped punctuation is itself; escaped letters are classes, borders and control characters.
    return /[A-Za-z0-9]/.test(escaped) ? ANY : literal(escaped, folded)
  }
  return literal(char, folded)
}

/** Folded, `k` and `s` also match the Kelvin sign and the long s, and what is not ASCII has more spellings still. */
function literal(char: string, folded: boolean): Item {
  if (folded && (/[kKsS]/.test(char) || char > '\x7f')) return ANY
  // A lone surrogate has no bytes to search for, and line ends come in two kinds.
  return /[\p{Cs}\r\n]/u.test(char) ? ANY : { char, inner: null }
}

function skipClass(reader: Reader): void {
  if (reader.next === '^') reader.at++
  // `]` right at the start is a member.
  if (reader.next === ']') reader.at++
  while (reader.at < reader.text.length && reader.next !== ']') {
    if (reader.next === '\\') reader.at += 2
    else if (reader.text.startsWith('[:', reader.at) && reader.text.indexOf(':]', reader.at) > 0)
      reader.at = reader.text.indexOf(':]', reader.at) + 2
    else reader.at++
  }
  reader.at++
}

function quantifier(reader: Reader): { optional: boolean; repeated: boolean } {
  const found = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(reader.text.slice(reader.at))
  if (!found) return { optional: false, repeated: false }
  reader.at += found[0].length
  const optional = found[0][0] === '*' || found[0][0] === '?' || Number(found[1] ?? 1) === 0
  return { optional, repeated: true }
}
