import { LogError } from '../error.ts'
import { type CodePoints, fold, MAX, negate, property, union } from './set.ts'

export type Node =
  | { kind: 'char'; set: CodePoints }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'cat' | 'alt'; parts: Node[] }
  | Repeat

/** A repeated part, as many times as possible or, if lazy, as few as possible. */
export interface Repeat {
  kind: 'repeat'
  part: Node
  min: number
  max: number
  lazy: boolean
}

/** What must hold between two characters. */
export const TEXT_START = 0
export const TEXT_END = 1
export const LINE_START = 2
export const LINE_END = 3
export const WORD_BORDER = 4
export const NO_WORD_BORDER = 5
export type Assertion = 0 | 1 | 2 | 3 | 4 | 5

/** Parses a pattern in RE2's syntax; `^` and `$` match at line boundaries unless `(?-m)` says otherwise. */
export function parse(source: string): Node {
  const reader = new PatternReader(source)
  const node = alternatives(reader, { i: false, m: true, s: false, U: false })
  if (!reader.done) throw invalid('a ")" has no "(" before it')
  return node
}

/** It quotes the client's own pattern and nothing else. */
function invalid(reason: string): LogError {
  return new LogError('bad-pattern', `The pattern is not valid: ${reason}. Use RE2 syntax.`)
}

interface Flags {
  i: boolean
  m: boolean
  s: boolean
  U: boolean
}

class PatternReader {
  readonly text: string
  readonly names = new Set<string>()
  at = 0
  constructor(text: string) {
    this.text = text
  }
  get done(): boolean {
    return this.at >= this.text.length
  }
  /** The next character, which may be two units long; empty at the end. */
  peek(): string {
    return this.done ? '' : String.fromCodePoint(this.text.codePointAt(this.at)!)
  }
  next(): string {
    const char = this.peek()
    this.at += char.length
    return char
  }
  take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }
  match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at
    const found = sticky.exec(this.text)
    if (found) this.at += found[0].length
    return found
  }
  /** Moves past the text and returns what comes before it; null if it does not occur. */
  until(text: string): string | null {
    const end = this.text.indexOf(text, this.at)
    if (end < 0) return null
    const before = this.text.slice(this.at, end)
    this.at = end + text.length
    return before
  }
}

/** Parses up to the parenthesis that closes the group, or the end. Flags set inside apply until there. */
function alternatives(reader: PatternReader, flags: Flags): Node {
  const parts = [sequence(reader, flags)]
  while (reader.take('|')) parts.push(sequence(reader, flags))
  return parts.length === 1 ? parts[0]! : { kind: 'alt', parts }
}

function sequence(reader: PatternReader, flags: Flags): Node {
  const parts: Node[] = []
  let repeated = false
  while (!reader.done && reader.peek() !== '|' && reader.peek() !== ')') {
    const count = counts(reader)
    if (!count) {
      item(reader, flags, parts)
      repeated = false
      continue
    }
    const part = parts.pop()
    if (!part) throw invalid(`there is nothing before "${count.text}" to repeat`)
    if (repeated)
      throw invalid(
        count.text === '+'
          ? `possessive quantifiers are ${LINEAR}; leave the second "+" away`
          : `"${count.text}" repeats what is already repeated; put it into a group first`,
      )
    const { min, max } = count
    const lazy = reader.take('?') !== flags.U
    const node: Node = { kind: 'repeat', part, min, max, lazy }
    if (weight(node) > MAX_COUNT) throw invalid(`repetitions may count to ${MAX_COUNT} in all`)
    parts.push(node)
    repeated = true
  }
  return parts.length === 1 ? parts[0]! : { kind: 'cat', parts }
}

const LINEAR = 'not supported, because matching must take linear time'
const MAX_COUNT = 1000

function counts(reader: PatternReader): { text: string; min: number; max: number } | null {
  const found = reader.match(/[*+?]|\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y)
  if (!found) return null
  const text = found[0]
  if (text === '?') return { text, min: 0, max: 1 }
  if (text === '*' || text === '+') return { text, min: text === '*' ? 0 : 1, max: Infinity }
  const min = Number(found[1])
  const max = found[3] ? Number(found[3]) : found[2] ? Infinity : min
  if (min > MAX_COUNT || (max > MAX_COUNT && max < Infinity))
    throw invalid(`"${text.slice(0, 30)}" counts further than ${MAX_COUNT}`)
  if (min > max) throw invalid(`"${text}" has its smaller number last`)
  return { text, min, max }
}

/** How often the innermost part of counted repetitions is repeated. */
function weight(node: Node): number {
  if (node.kind === 'char' || node.kind === 'assert') return 1
  if (node.kind !== 'repeat') return Math.max(1, ...node.parts.map(weight))
  const times = node.max === Infinity ? node.min : node.max
  return Math.max(1, times) * weight(node.part)
}

/** One character, class, group or assertion, or several characters, added to the parts. */
function item(reader: PatternReader, flags: Flags, parts: Node[]): void {
  const push = (set: CodePoints) => parts.push({ kind: 'char', set })
  const assert = (what: Assertion) => parts.push({ kind: 'assert', what })
  const char = reader.next()
  if (char === '(') group(reader, flags, parts)
  else if (char === '.') push(flags.s ? [0, MAX] : negate([10, 10]))
  else if (char === '^') assert(flags.m ? LINE_START : TEXT_START)
  else if (char === '$') assert(flags.m ? LINE_END : TEXT_END)
  else if (char === '[') push(charClass(reader, flags))
  else if (char !== '\\') push(literal(char.codePointAt(0)!, flags))
  else if (reader.take('A')) assert(TEXT_START)
  else if (reader.take('z')) assert(TEXT_END)
  else if (reader.take('b')) assert(WORD_BORDER)
  else if (reader.take('B')) assert(NO_WORD_BORDER)
  else if (reader.take('Q')) {
    const text = reader.until('\\E') ?? reader.text.slice(reader.at)
    if (!reader.text.endsWith('\\E', reader.at)) reader.at = reader.text.length
    for (const each of text) push(literal(each.codePointAt(0)!, flags))
  } else push(classEscape(reader, flags) ?? literal(spelled(reader), flags))
}

function literal(code: number, flags: Flags): CodePoints {
  return flags.i ? fold([code, code]) : [code, code]
}

function group(reader: PatternReader, flags: Flags, parts: Node[]): void {
  const inner = { ...flags }
  for (const [sign, what] of NONLINEAR) {
    const found = reader.match(sign)
    if (found) throw invalid(`${what} ("(${found[0]}") are ${LINEAR}`)
  }
  if (reader.match(/\?P?</y)) {
    const name = reader.match(/\w+>/y)?.[0].slice(0, -1)
    if (!name) throw invalid('a group has no valid name; write (?P<name>…)')
    if (reader.names.has(name)) throw invalid(`two groups have the name "${name.slice(0, 40)}"`)
    reader.names.add(name)
  } else if (reader.take('?')) {
    const found = reader.match(/([imsU]*)(?:-([imsU]+))?([:)])/y)
    if (!found) throw invalid(`"(?${reader.peek()}" begins no group; write (?:…) or flags such as (?i)`)
    for (const flag of found[1]!) inner[flag as keyof Flags] = true
    for (const flag of found[2] ?? '') inner[flag as keyof Flags] = false
    if (found[3] === ')') {
      Object.assign(flags, inner)
      return
    }
  }
  const node = alternatives(reader, inner)
  if (!reader.take(')')) throw invalid('a "(" is not closed')
  parts.push(node)
}

const NONLINEAR: [RegExp, string][] = [
  [/\?<?[=!]/y, 'look-arounds'],
  [/\?>/y, 'atomic groups'],
  [/\?P=/y, 'back-references'],
  [/\?(?:P>|[R&0-9(])/y, 'recursions and conditions'],
]

function charClass(reader: PatternReader, flags: Flags): CodePoints {
  const negated = reader.take('^')
  const sets: number[] = []
  const own: number[] = []
  for (let first = true; first || reader.peek() !== ']'; first = false) {
    if (reader.done) throw invalid('a "[" is not closed')
    const named = reader.match(/\[:(\^?)(.*?):\]/y)
    const ready = named ? posix(named, flags) : reader.take('\\') ? classEscape(reader, flags) : undefined
    if (ready) {
      sets.push(...ready)
      continue
    }
    const lo = ready === null ? spelled(reader) : reader.next().codePointAt(0)!
    let hi = lo
    if (reader.match(/-(?!\])/y)) {
      if (reader.done) throw invalid('a "[" is not closed')
      const last = reader.next()
      hi = last === '\\' ? spelled(reader) : last.codePointAt(0)!
    }
    if (hi < lo)
      throw invalid(`the range ${String.fromCodePoint(lo)}-${String.fromCodePoint(hi)} runs backwards`)
    own.push(lo, hi)
  }
  reader.next()
  const set = union([...sets, ...(flags.i ? fold(union(own)) : own)])
  return negated ? negate(set) : set
}

const DIGIT = [0x30, 0x39]
const UPPER = [0x41, 0x5a]
const LOWER = [0x61, 0x7a]
const WORD = [...DIGIT, ...UPPER, 0x5f, 0x5f, ...LOWER]
const PERL: Record<string, CodePoints> = { d: DIGIT, s: [9, 10, 12, 13, 32, 32], w: WORD }
const POSIX: Record<string, CodePoints> = {
  alnum: [...DIGIT, ...UPPER, ...LOWER],
  alpha: [...UPPER, ...LOWER],
  ascii: [0, 0x7f],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: DIGIT,
  graph: [33, 126],
  lower: LOWER,
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: UPPER,
  word: WORD,
  xdigit: [...DIGIT, 0x41, 0x46, 0x61, 0x66],
}

function posix([text, not, name]: RegExpExecArray, flags: Flags): CodePoints {
  const set = Object.hasOwn(POSIX, name!) ? POSIX[name!]! : null
  if (!set) throw invalid(`there is no class "${text.slice(0, 40)}"`)
  return signed(set, not === '^', flags)
}

function signed(set: CodePoints, negated: boolean, flags: Flags): CodePoints {
  const folded = flags.i ? fold(set) : set
  return negated ? negate(folded) : folded
}

/** The set for `\d`, `\pL` and the like; null if the escape is a single character. */
function classEscape(reader: PatternReader, flags: Flags): CodePoints | null {
  const perl = reader.match(/[dswDSW]/y)
  if (perl) return signed(PERL[perl[0].toLowerCase()]!, perl[0] < 'a', flags)
  const unicode = reader.match(/([pP])(?:\{(\^?)([^}]*)\}|(.))/suy)
  if (!unicode) return null
  const name = unicode[3] ?? unicode[4]!
  const set = property(name)
  if (!set) throw invalid(`there is no Unicode category or script "${name.slice(0, 40)}"`)
  return signed(set, (unicode[1] === 'P') !== (unicode[2] === '^'), flags)
}

const CONTROLS: Record<string, number> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 }

/** The character that is spelled after a backslash. */
function spelled(reader: PatternReader): number {
  const octal = reader.match(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y)
  if (octal) return Number.parseInt(octal[0], 8)
  const hex = reader.match(/x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/y)
  if (hex) {
    const code = Number.parseInt(hex[1] ?? hex[2]!, 16)
    if (code > MAX) throw invalid(`there is no character "\\${hex[0].slice(0, 30)}"`)
    return code
  }
  const char = reader.next()
  if (char === '') throw invalid('it ends in a single "\\"')
  if (/[1-9k]/.test(char)) throw invalid(`back-references ("\\${char}") are ${LINEAR}`)
  if (/[!-/:-@[-`{-~\0-\x20\x7f]/.test(char)) return char.codePointAt(0)!
  const control = Object.hasOwn(CONTROLS, char) ? CONTROLS[char] : undefined
  if (control === undefined) throw invalid(`there is no escape "\\${char}"`)
  return control
}
