import { type CodeSet, folded, inverse, LAST, property, setOf } from './set.ts'

/** A pattern, taken apart. What only matters to captures and to greed is gone: a search asks for yes or no. */
export type Tree =
  | { kind: 'set'; set: CodeSet }
  | { kind: 'all'; parts: Tree[] }
  | { kind: 'any'; parts: Tree[] }
  | { kind: 'repeat'; part: Tree; min: number; max: number }
  | { kind: 'assert'; what: Assertion }

/** Places that hold no character. */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge'

/** A pattern that is not RE2's syntax. */
export class RegexError extends Error {
  constructor(reason: string, part: string) {
    super(`${reason}: \`${part}\``)
    this.name = 'RegexError'
  }
}

interface Flags {
  fold: boolean
  lines: boolean
  dots: boolean
}

const MAX_REPEAT = 1000
const MAX_DEPTH = 500
const NEWLINE = 10

const DIGIT = [0x30, 0x39]
const WORD = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
const SPACE = [9, 10, 12, 13, 32, 32]
const PERL: Record<string, CodeSet> = { d: DIGIT, w: WORD, s: SPACE }
const POSIX: Record<string, CodeSet> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [9, 9, 32, 32],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: DIGIT,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [9, 13, 32, 32],
  upper: [0x41, 0x5a],
  word: WORD,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
}
const CONTROL: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }

/** Reads a pattern in RE2's syntax; `^` and `$` stand at lines. Throws a RegexError. */
export function parseRegex(source: string): Tree {
  return new Parser(source).whole()
}

class Parser {
  readonly #source: string
  readonly #names = new Set<string>()
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): Tree {
    const tree = this.#alternatives({ fold: false, lines: true, dots: false })
    if (this.#at < this.#source.length) throw new RegexError('unexpected )', this.#source)
    checkRepeats(tree, MAX_REPEAT)
    return tree
  }

  #alternatives(flags: Flags): Tree {
    if (++this.#depth > MAX_DEPTH) throw new RegexError('expression nests too deeply', this.#source)
    // A group's flags hold for what follows in it, over its alternatives too.
    const own = { ...flags }
    const parts = [this.#sequence(own)]
    while (this.#take('|')) parts.push(this.#sequence(own))
    this.#depth--
    return parts.length === 1 ? parts[0]! : { kind: 'any', parts }
  }

  #sequence(flags: Flags): Tree {
    const parts: Tree[] = []
    let repeated = ''
    for (;;) {
      const start = this.#at
      const next = this.#source[start]
      if (next === undefined || next === '|' || next === ')') return { kind: 'all', parts }
      const times = this.#quantifier()
      if (times !== null) {
        const written = this.#source.slice(start, this.#at)
        const part = parts.pop()
        if (part === undefined) throw new RegexError('missing argument to repetition operator', written)
        if (repeated !== '') throw new RegexError('invalid nested repetition operator', repeated + written)
        parts.push({ kind: 'repeat', part, ...times })
        repeated = written
        continue
      }
      repeated = ''
      if (this.#take('\\Q')) this.#quoted(parts, flags)
      else if (next === '(') {
        const group = this.#group(flags)
        if (group) parts.push(group)
      } else parts.push(this.#atom(flags))
    }
  }

  /** `\Q…\E`: characters that stand for themselves. */
  #quoted(parts: Tree[], flags: Flags): void {
    const end = this.#source.indexOf('\\E', this.#at)
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end)
    this.#at = end < 0 ? this.#source.length : end + 2
    for (const letter of text) parts.push(literal(letter.codePointAt(0)!, flags))
  }

  #quantifier(): { min: number; max: number } | null {
    const start = this.#at
    const next = this.#source[start]
    let times: { min: number; max: number } | null = null
    if (next === '*') times = { min: 0, max: Number.POSITIVE_INFINITY }
    else if (next === '+') times = { min: 1, max: Number.POSITIVE_INFINITY }
    else if (next === '?') times = { min: 0, max: 1 }
    if (times) this.#at++
    else {
      const match = /^\{(\d+)(,(\d*))?\}/.exec(this.#source.slice(start, start + 40))
      // Leading zeros are no count: such braces stand for themselves.
      if (!match || /^\{0\d|,0\d/.test(match[0])) return null
      const min = Number(match[1])
      const max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])
      if (min > MAX_REPEAT || (Number.isFinite(max) && (max > MAX_REPEAT || max < min)))
        throw new RegexError('invalid repeat count', match[0])
      this.#at += match[0].length
      times = { min, max }
    }
    this.#take('?')
    return times
  }

  /** A group, or null for one that only sets flags. */
  #group(flags: Flags): Tree | null {
    const start = this.#at
    this.#at++
    let inner = flags
    if (this.#take('?')) {
      const name = /^P?<([^>]*)>/.exec(this.#source.slice(this.#at))
      if (name) {
        if (!/^\w+$/.test(name[1]!)) throw new RegexError('invalid named capture', `(?${name[0]}`)
        if (this.#names.has(name[1]!)) throw new RegexError('duplicate capture group name', name[1]!)
        this.#names.add(name[1]!)
        this.#at += name[0].length
      } else {
        const match = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(this.#source.slice(this.#at))
        if (!match)
          throw new RegexError('invalid or unsupported Perl syntax', this.#source.slice(start, start + 4))
        this.#at += match[0].length
        inner = { ...flags }
        set(inner, match[1]!, true)
        set(inner, match[2] ?? '', false)
        if (match[3] === ')') {
          Object.assign(flags, inner)
          return null
        }
      }
    }
    const tree = this.#alternatives(inner)
    if (!this.#take(')')) throw new RegexError('missing closing )', this.#source)
    return tree
  }

  #atom(flags: Flags): Tree {
    const code = this.#next()
    const letter = String.fromCodePoint(code)
    if (letter === '.') return { kind: 'set', set: flags.dots ? [0, LAST] : inverse([NEWLINE, NEWLINE]) }
    if (letter === '^') return { kind: 'assert', what: flags.lines ? 'line-start' : 'text-start' }
    if (letter === '$') return { kind: 'assert', what: flags.lines ? 'line-end' : 'text-end' }
    if (letter === '[') return { kind: 'set', set: this.#class(flags) }
    if (letter !== '\\') return literal(code, flags)
    const what = ASSERTIONS[this.#source[this.#at] ?? '']
    if (what) {
      this.#at++
      return { kind: 'assert', what }
    }
    const group = this.#classEscape(flags)
    return group ? { kind: 'set', set: group } : literal(this.#escape(), flags)
  }

  /** `\d`, `\pL`, `\p{Greek}` and their like, after the backslash; null when it is another escape. */
  #classEscape(flags: Flags): CodeSet | null {
    const letter = this.#source[this.#at] ?? ''
    const perl = Object.hasOwn(PERL, letter.toLowerCase()) ? PERL[letter.toLowerCase()]! : null
    if (perl) {
      this.#at++
      return signed(perl, letter !== letter.toLowerCase(), flags)
    }
    if (letter !== 'p' && letter !== 'P') return null
    const match = /^[pP](?:\{(\^?)([^}]*)\}|([A-Z]))/.exec(this.#source.slice(this.#at))
    const name = match?.[2] ?? match?.[3]
    const found = name === undefined ? null : property(name)
    if (!match || !found) throw new RegexError('invalid character class range', `\\${match?.[0] ?? letter}`)
    this.#at += match[0].length
    return signed(found, (letter === 'P') !== (match[1] === '^'), flags)
  }

  /** The code point of an escape, after the backslash. */
  #escape(): number {
    const rest = this.#source.slice(this.#at)
    if (rest === '') throw new RegexError('trailing backslash at end of expression', '')
    const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest)
    const hex = /^x(?:([\da-fA-F]{2})|\{([\da-fA-F]{1,8})\})/.exec(rest)
    const letter = String.fromCodePoint(rest.codePointAt(0)!)
    const code = octal
      ? Number.parseInt(octal[0], 8)
      : hex
        ? Number.parseInt(hex[1] ?? hex[2]!, 16)
        : Object.hasOwn(CONTROL, letter)
          ? CONTROL[letter]!
          : /^[^\da-zA-Z]$/.test(letter) && letter < '\x80'
            ? letter.charCodeAt(0)
            : LAST + 1
    if (code > LAST) throw new RegexError('invalid escape sequence', `\\${letter}`)
    this.#at += (octal ?? hex)?.[0].length ?? letter.length
    return code
  }

  /** A bracketed class, after its bracket. */
  #class(flags: Flags): CodeSet {
    const start = this.#at - 1
    const negated = this.#take('^')
    const pairs: number[] = []
    let first = true
    while (first || this.#source[this.#at] !== ']') {
      if (this.#at >= this.#source.length)
        throw new RegexError('missing closing ]', this.#source.slice(start))
      first = false
      const posix = /^\[:(\^?)([\s\S]*?):\]/.exec(this.#source.slice(this.#at))
      if (posix) {
        const group = Object.hasOwn(POSIX, posix[2]!) ? POSIX[posix[2]!]! : null
        if (!group) throw new RegexError('invalid character class range', posix[0])
        this.#at += posix[0].length
        pairs.push(...signed(group, posix[1] === '^', flags))
        continue
      }
      if (this.#source[this.#at] === '\\') {
        this.#at++
        const group = this.#classEscape(flags)
        if (group) {
          pairs.push(...group)
          continue
        }
        this.#at--
      }
      const from = this.#at
      const low = this.#member()
      let high = low
      if (
        this.#source[this.#at] === '-' &&
        this.#source[this.#at + 1] !== ']' &&
        this.#at + 1 < this.#source.length
      ) {
        this.#at++
        high = this.#member()
        if (high < low)
          throw new RegexError('invalid character class range', this.#source.slice(from, this.#at))
      }
      pairs.push(...(flags.fold ? folded([low, high]) : [low, high]))
    }
    this.#at++
    return negated ? inverse(setOf(pairs)) : setOf(pairs)
  }

  #member(): number {
    const code = this.#next()
    return code === 0x5c ? this.#escape() : code
  }

  #next(): number {
    const code = this.#source.codePointAt(this.#at)
    if (code === undefined) throw new RegexError('missing closing ]', this.#source)
    this.#at += code > 0xffff ? 2 : 1
    return code
  }

  #take(text: string): boolean {
    const found = this.#source.startsWith(text, this.#at)
    if (found) this.#at += text.length
    return found
  }
}

const ASSERTIONS: Record<string, Assertion | undefined> = {
  A: 'text-start',
  z: 'text-end',
  b: 'word-edge',
  B: 'no-word-edge',
}

function literal(code: number, flags: Flags): Tree {
  return { kind: 'set', set: flags.fold ? folded([code, code]) : [code, code] }
}

function signed(set: CodeSet, negated: boolean, flags: Flags): CodeSet {
  const wide = flags.fold ? folded(set) : set
  return negated ? inverse(wide) : wide
}

function set(flags: Flags, letters: string, value: boolean): void {
  if (letters.includes('i')) flags.fold = value
  if (letters.includes('m')) flags.lines = value
  if (letters.includes('s')) flags.dots = value
}

/** Counted repetitions inside each other multiply, and may not exceed what one of them may. */
function checkRepeats(tree: Tree, left: number): void {
  if (tree.kind === 'all' || tree.kind === 'any') for (const part of tree.parts) checkRepeats(part, left)
  if (tree.kind !== 'repeat') return
  const times = Number.isFinite(tree.max) ? tree.max : tree.min
  if (times > 1 && times > left) throw new RegexError('invalid repeat count', `{${times}}`)
  checkRepeats(tree.part, times > 1 ? Math.floor(left / times) : left)
}
