import type { RecordTaker } from '../format.ts'
import { parseLevel } from '../read/level.ts'
import { unnamed } from '../read/vocabulary.ts'
import type { Program } from './programs.ts'

/** What a line says before its message. */
interface Header {
  /** The rest of the line. */
  message: string
  /** What was not understood. */
  prefix: string
}

/** A line behind its time. */
interface Rest {
  /** What stands before the time, without blanks at its ends. */
  before: string
  /** What stands behind it, and where that is. */
  text: string
  from: number
  to: number
  /** Its level, -1 if it has none, and whether that stands behind the time. */
  level: number
  isLevelAfter: boolean
}

/**
 * Reads lines with the same text before their times. Most lines of a log were written by one program: a single pattern
 * tells whether a line is one of that program and of none before it in the list.
 */
export class ProgramReader {
  readonly #plans: readonly HeaderPlan[]
  /** The program of the last line; behind the last program, none. */
  #last = 0
  /** For each program, a pattern that fits its lines and none of those before it. */
  readonly #patterns: RegExp[] = []

  constructor(before: string, programs: readonly Program[]) {
    this.#plans = programs
      .filter((program) => (program.before ? program.before.test(before) : before === ''))
      .map((program) => planOf(program, before))
  }

  /** Reads what follows the time of a line. */
  read(record: RecordTaker, rest: Rest): true {
    this.#patterns[this.#last] ??= this.#patternOf(this.#last)
    const found = this.#patterns[this.#last]!.exec(rest.text)
    const plan = this.#plans[this.#last]
    if (found && plan && hasLevel(plan, found, rest.level)) return readProgram(record, plan, found, rest)
    if (found && !plan) return readGeneral(record, rest)
    for (this.#last = 0; this.#last < this.#plans.length; this.#last++) {
      const other = this.#plans[this.#last]!
      const fits = other.pattern.exec(rest.text)
      if (fits && hasLevel(other, fits, rest.level)) return readProgram(record, other, fits, rest)
    }
    return readGeneral(record, rest)
  }

  #patternOf(index: number): RegExp {
    const earlier = this.#plans.slice(0, index).map(({ bare }) => `(?:${bare})`)
    const none = earlier.length > 0 ? `(?!${earlier.join('|')})` : ''
    return new RegExp(`^${none}${this.#plans[index]?.pattern.source.slice(1) ?? ''}`)
  }
}

/** A program as one pattern with numbered groups, which cost a third of named ones. */
interface HeaderPlan {
  pattern: RegExp
  /** The same without groups and without the beginning of the line. */
  bare: string
  /** The names of the groups; their numbers, for those that have a place of their own, or 0; and those of the others. */
  names: readonly string[]
  numbers: Record<'whole_tail' | 'level' | 'tag' | 'file' | 'line', number>
  fields: readonly number[]
  /** The groups of what is before the time. */
  before: readonly [name: string, text: string | undefined][]
  inside: readonly RegExp[]
}

const NAMED_GROUP = /\(\?<\w+>/g

function planOf({ before, head, tail, inside = [] }: Program, textBefore: string): HeaderPlan {
  // The tail may overlap with the head, and is searched for in all of the line.
  const source = `${tail ? `(?=[^]*?(?<whole_tail>${tail.source}))` : ''}${head.source.slice(1)}`
  const { source: pattern, names } = unnamed(source)
  const numbers = { whole_tail: 0, level: 0, tag: 0, file: 0, line: 0 }
  for (const name in numbers) numbers[name as keyof typeof numbers] = Math.max(0, names.indexOf(name))
  return {
    pattern: new RegExp(`^${pattern}`),
    bare: source.replace(NAMED_GROUP, '(?:'),
    names,
    numbers,
    fields: names.map((_, i) => i).filter((i) => i > 0 && !Object.hasOwn(numbers, names[i]!)),
    before: Object.entries(before?.exec(textBefore)?.groups ?? {}),
    inside,
  }
}

/** Whether the level that a program says is that of its line. */
function hasLevel({ numbers, before }: HeaderPlan, found: Found, level: number): boolean {
  const word = numbers.level === 0 ? undefined : found[numbers.level]
  if (word !== undefined) return parseLevel(word) === level
  for (const [name, group] of before)
    if (name === 'level' && group !== undefined && parseLevel(group) !== level) return false
  return true
}

type Found = readonly (string | undefined)[]

function readProgram(
  record: RecordTaker,
  { names, numbers, fields, before, inside }: HeaderPlan,
  found: Found,
  { text, from, to, level }: Rest,
): true {
  record.level(level)
  const file = numbers.file === 0 ? undefined : found[numbers.file]
  const line = numbers.line === 0 ? undefined : found[numbers.line]
  if (file && line) record.source(file, line)
  const tag = numbers.tag === 0 ? undefined : found[numbers.tag]
  if (tag !== undefined && tag !== '-' && tag.trim() !== '') record.tags([tag.trim()])
  const start = found[0]!.length
  const tail = numbers.whole_tail === 0 ? 0 : found[numbers.whole_tail]!.length
  const end = Math.max(start, text.length - tail)
  const messageEnd = tail === 0 ? to : record.after(text, end, from)
  const message = record.skipBlanks(record.after(text, start, from), messageEnd)
  record.message(message, messageEnd)
  for (const [name, group] of before) if (name !== 'level') record.group(name, group)
  for (let i = 0; i < fields.length; i++) record.group(names[fields[i]!]!, found[fields[i]!])
  for (const pattern of inside) {
    const groups = pattern.exec(text.slice(start, end))?.groups
    for (const name in groups) record.group(name, groups[name])
  }
  return record.endWithPairs(message, messageEnd)
}

/** A header of nobody in particular: what was not understood is its `prefix`. */
function readGeneral(record: RecordTaker, rest: Rest): true {
  const { text, level, isLevelAfter } = rest
  const header = isLevelAfter && level >= 0 ? anyHeader(text, level) : null
  const { message, prefix } = header ?? { message: text, prefix: '' }
  const start = record.after(text, text.length - message.length, rest.from)
  const from = record.skipBlanks(start, rest.to)
  record.level(level)
  record.message(from, rest.to)
  const early = rest.before.startsWith('<')
    ? ''
    : isLevelAfter
      ? rest.before
      : rest.before.replace(/^[A-Za-z]+\s*/, '')
  const all = [early, prefix].filter((part) => part !== '').join(' ')
  if (all !== '') record.field('prefix', all)
  return record.endWithPairs(from, rest.to)
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
      // Most lines have nothing before the level.
      const prefix = at === 0 ? '' : text.slice(0, at).replace(/^[\s:|-]{1,16}|[\s:|-]{1,16}$/g, '')
      return { message: text.slice(end), prefix }
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
