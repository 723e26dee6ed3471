import { holdsKeys, isKeyAlone, namesAttribute, namesCount, namesSecret, namesSecretIn } from './secret.ts'
import { isSafeSecret, looksRandom } from './value.ts'

/** The context of a key: what it is called, and whether it or a table around it is named like a secret. */
export interface Place {
  readonly key: string
  readonly direct: boolean
  readonly inherited: boolean
  /** Whether a table around it makes every `key` below a secret. */
  readonly keyed: boolean
}

/** A leaf of a TOML document: what is between its quotes, or the bare text of a number, date or boolean. */
export interface Value {
  readonly start: number
  readonly end: number
  readonly quote: '"' | "'" | '"""' | "'''" | ''
  /** What the literal means; the bare text when there are no quotes. */
  readonly text: string
  readonly secret: boolean
  readonly key: string
  /** The table that the key is in: keys of one table have the same number. */
  readonly group: number
}

/** A comment, from its `#` to the end of the line, and the table or the array around it. */
export interface Comment {
  readonly start: number
  readonly end: number
  readonly place: Place
  readonly inValue: boolean
}

export const ROOT: Place = { key: '', direct: false, inherited: false, keyed: false }

/** Thrown where the text is not TOML. One shared object: prose in comments throws it often, and no one needs a stack. */
export const NOT_TOML = new Error('The text is not valid TOML.')

/**
 * A reader of the positions in TOML text that a parser has found valid, and of comments that may hold TOML.
 * It works expression by expression and without recursion, so neither size nor depth can hurt it. A full
 * syntax tree (toml-eslint-parser) costs 10 KB gzipped, and a second parser may disagree with the first.
 */
export class Scanner {
  readonly values: Value[] = []
  readonly comments: Comment[] = []
  text: string
  pos = 0
  table: Place = ROOT
  #groups = 0
  /** The number of the table that was opened last by a header. */
  #group = 0

  constructor(text: string) {
    this.text = text
    if (text.charCodeAt(0) === 0xfeff) this.pos = 1
  }

  /** Reads everything. Throws NOT_TOML if it can't. */
  all(): this {
    for (;;) {
      this.#skip(true, this.table, false)
      if (this.pos >= this.text.length) return this
      this.expression()
    }
  }

  /** Reads one header or one key and value up to the end of its line, a trailing comment included. */
  expression(): void {
    if (this.text[this.pos] === '[') {
      const brackets = this.text[this.pos + 1] === '[' ? 2 : 1
      this.pos += brackets
      this.table = this.#key(ROOT)
      for (let i = 0; i < brackets; i++) this.#expect(']')
      this.#group = ++this.#groups
    } else {
      const place = this.#key(this.table)
      this.#expect('=')
      this.#skip(false, place, false)
      const char = this.text[this.pos]
      if (char === '[' || char === '{') this.#nested(place)
      else this.#leaf(place, false, this.#group)
    }
    this.#endLine()
  }

  #endLine(): void {
    this.#skip(false, this.table, false)
    if (this.text[this.pos] === '\r') this.pos++
    if (this.pos < this.text.length && this.text[this.pos] !== '\n') throw NOT_TOML
  }

  #nested(place: Place): void {
    const open: { close: string; place: Place; group: number }[] = []
    let here = place
    for (;;) {
      const char = this.text[this.pos]
      // After an opening bracket there may be a value, after a value a comma or the end of what is open.
      let fresh = char === '[' || char === '{'
      if (fresh) {
        const group = char === '{' ? ++this.#groups : (open.at(-1)?.group ?? this.#group)
        open.push({ close: char === '[' ? ']' : '}', place: here, group })
        this.pos++
      } else {
        const frame = open.at(-1)!
        this.#leaf(here, frame.close === ']', frame.group)
      }
      for (;;) {
        const frame = open.at(-1)
        if (frame === undefined) return
        this.#skip(true, frame.place, true)
        if (!fresh && this.text[this.pos] === ',') {
          this.pos++
          this.#skip(true, frame.place, true)
          fresh = true
        }
        if (this.text[this.pos] === frame.close) {
          this.pos++
          open.pop()
          fresh = false
          continue
        }
        if (!fresh || this.pos >= this.text.length) throw NOT_TOML
        here = frame.place
        if (frame.close === '}') {
          here = this.#key(frame.place)
          this.#expect('=')
          this.#skip(false, here, true)
        }
        break
      }
    }
  }

  #leaf(place: Place, inList: boolean, group: number): void {
    const start = this.pos
    const { key } = place
    const char = this.text[start]
    if (char === '"' || char === "'") {
      const { quote, text } = this.#string(true)
      const secret = stringIsSecret(place, text)
      this.values.push({ start, end: this.pos, quote, text, secret, key, group })
      return
    }
    let text = this.#take(BARE_VALUE)
    if (text === '') throw NOT_TOML
    if (/^\d{4}-\d\d-\d\d$/.test(text)) text += this.#take(TIME)
    const secret = bareIsSecret(place, text, inList)
    this.values.push({ start, end: this.pos, quote: '', text, secret, key, group })
  }

  /** Reads what a sticky pattern matches here; an empty text if it does not. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.pos
    const [text] = pattern.exec(this.text) ?? ['']
    this.pos += text.length
    return text
  }

  /** A dotted key, and the place it leads to from a table. */
  #key(table: Place): Place {
    let place = table
    for (;;) {
      this.#skip(false, table, false)
      const char = this.text[this.pos]
      const isQuoted = char === '"' || char === "'"
      const name = isQuoted ? this.#string(false).text : this.#take(BARE_KEY)
      if (!isQuoted && name === '') throw NOT_TOML
      place = {
        key: name,
        direct: namesSecret(name) || namesSecretIn(place.key, name) || (place.keyed && isKeyAlone(name)),
        inherited: place.inherited || place.direct,
        keyed: place.keyed || holdsKeys(place.key),
      }
      this.#skip(false, table, false)
      if (this.text[this.pos] !== '.') return place
      this.pos++
    }
  }

  #string(multiline: boolean): { quote: Value['quote']; text: string } {
    const source = this.text
    const char = source[this.pos] as '"' | "'"
    const triple = multiline && source.startsWith(char.repeat(3), this.pos)
    const quote = (triple ? char.repeat(3) : char) as Value['quote']
    const from = this.pos + quote.length
    let end = source.indexOf(quote, from)
    let escapes = false
    if (char === '"' && end !== -1 && indexWithin(source, '\\', from, end) !== -1) {
      escapes = true
      end = endOfEscaped(source, from, quote)
    }
    if (end === -1 || (!triple && indexWithin(source, '\n', from, end) !== -1)) {
      // What was read counts, because it is read again from each line.
      this.pos = end === -1 ? source.length : end
      throw NOT_TOML
    }
    // Up to two quotes may come before the closing three.
    if (triple) for (let i = 0; i < 2 && source[end + 3] === char; i++) end++
    this.pos = end + quote.length
    let body = source.slice(from, end)
    if (triple) body = body.replace(/^\r?\n/, '')
    return { quote, text: escapes ? decodeBasic(body) : body }
  }

  #expect(char: string): void {
    if (this.text[this.pos] !== char) throw NOT_TOML
    this.pos++
  }

  /** Skips blanks and one comment, or with `lines` any number of lines. */
  #skip(lines: boolean, place: Place, inValue: boolean): void {
    const { text } = this
    while (this.pos < text.length) {
      const code = text.charCodeAt(this.pos)
      if (code === 32 || code === 9) this.pos++
      else if (lines && (code === 10 || code === 13)) this.pos++
      else if (code === 35) {
        const start = this.pos
        let end = text.indexOf('\n', start)
        if (end === -1) end = text.length
        this.pos = end
        if (text[end - 1] === '\r') end--
        this.comments.push({ start, end, place, inValue })
      } else return
    }
  }
}

/** Whether a comment is alone on the line after another one. */
export function isNextLine(toml: string, one: Comment, two: Comment): boolean {
  if (two.start - one.end >= 1024) return false
  let at = one.end
  if (toml[at] === '\r') at++
  if (toml[at++] !== '\n') return false
  while (toml[at] === ' ' || toml[at] === '\t') at++
  return at === two.start
}

/** Where a text is in a part of another; -1 if it is not. Most parts are short, and the other may be long. */
function indexWithin(text: string, char: string, from: number, end: number): number {
  if (end - from > 512) return text.slice(from, end).indexOf(char)
  const code = char.charCodeAt(0)
  for (let at = from; at < end; at++) if (text.charCodeAt(at) === code) return at
  return -1
}

/** Where a string with escapes ends; -1 if it does not. */
function endOfEscaped(text: string, from: number, quote: string): number {
  const first = quote.charCodeAt(0)
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    else if (code === 10 && quote.length === 1) return -1
    else if (code === first && (quote.length === 1 || text.startsWith(quote, at))) return at
  }
  return -1
}

const BARE_KEY = /[\w-]+/y
const BARE_VALUE = /[^ \t\r\n,\]}#"'[{=]+/y
/** A blank may separate a date and a time. */
const TIME = / \d\d:[^ \t\r\n,\]}#"'[{=]*/y

function stringIsSecret(place: Place, text: string): boolean {
  if (place.direct || (place.inherited && !namesAttribute(place.key))) return !isSafeSecret(place.key, text)
  // `partition-key = "id"` is a name, but nobody names anything after 20 random characters.
  return isKeyName(place.key) && looksRandom(text) && text.length >= 20
}

function isKeyName(key: string): boolean {
  return (
    /(?:^|[^a-z]|[a-z](?=K))keys?$/i.test(key.slice(-32)) && !/pub(?:lic)?[\W_]*keys?$/i.test(key.slice(-32))
  )
}

/** A boolean holds no secret (`require-password = true`), and a date only under a key that names one. */
function bareIsSecret(place: Place, text: string, inList: boolean): boolean {
  if (!(place.direct || place.inherited) || text === 'true' || text === 'false') return false
  if (namesCount(place.key, inList)) return false
  if (place.direct) return true
  return place.inherited && !namesAttribute(place.key) && !/^\d{4}-\d\d-\d\d|^\d\d:\d\d/.test(text)
}

const ESCAPES: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' }

function decodeBasic(body: string): string {
  return body.replace(
    /\\(?:(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})|[ \t]*\r?\n[ \t\r\n]*|([\s\S]))/g,
    (_, hex?: string, char?: string) => {
      if (hex !== undefined) {
        const code = Number.parseInt(hex.slice(1), 16)
        if (code > 0x10ffff) throw NOT_TOML
        return String.fromCodePoint(code)
      }
      return char === undefined ? '' : (ESCAPES[char] ?? char)
    },
  )
}
