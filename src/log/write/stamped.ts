import { BoundedMap } from '../../limits/bounded-map.ts'
import { decode, type StampReader } from '../format/format.ts'
import { parseLevel } from '../format/read/level.ts'
import { wordOf } from '../format/read/words.ts'
import { anyHeader, generalHeader, type HeadLine } from '../format/stamped/header.ts'
import { PROGRAMS, type Program } from '../format/stamped/programs.ts'
import { beforeOf, levelBefore, syslogOf, wordAfter } from '../format/stamped/stamped.ts'
import { bytesIn, find, wideBlank } from './bytes/words.ts'
import { headOf, isHead, type KnownHead, writeHeader, writeHeadFields } from './head.ts'
import { type Beginning, beginnings, decide, KnownHeads, open, placeOf, variantsOf } from './heads.ts'
import type { LineWriter, RecordOut } from './record.ts'

/** What distinguishes the times that `syslogOf` knows; no text before a time is one of these. */
function timeKind(bytes: Uint8Array, at: number): string {
  const first = bytes[at]!
  return first >= 0x41 && first <= 0x5a ? ' A' : bytes[at + 10] === 0x54 ? ' T' : ' '
}

/** How many texts before the time are known at once, each with its patterns. */
const KNOWN = 32

/** What `beforeOf` makes of texts before a time that occurred. */
const befores = new BoundedMap<string, string>(256)
/** Longer texts are not kept. */
const LONGEST_BEFORE = 16

function beforeIn(record: RecordOut, from: number, to: number): string {
  if (to - from > LONGEST_BEFORE || record.line.wide < to) return beforeOf(record.text(from, to))
  const text = wordOf(record.bytes, from, to)
  let before = befores.get(text)
  if (before === undefined) {
    before = beforeOf(text)
    befores.set(text, before)
  }
  return before
}

/** Writes lines as `stampedFields` reads them. */
export function stampedWriter(stampAt: StampReader): LineWriter {
  return (record, start, limit) => {
    const to = record.scan(start, limit)
    const { bytes } = record
    const stamp = to < 0 ? null : stampAt(bytes, start, to, record.zone)
    if (!stamp || !record.time(stamp.epoch)) return false
    const early = levelBefore(bytes, start, stamp)
    const level = early ?? wordAfter(bytes, stamp.end, to)
    const before = stamp.at === start ? '' : beforeIn(record, start, stamp.at)
    // The kind of its time decides, too, which programs may have written a line.
    const key = before === '' ? timeKind(bytes, stamp.at) : before
    let writer = writers.get(key)
    if (!writer) {
      const syslog = syslogOf(before, record.text(stamp.at, stamp.end))
      writer = new ProgramWriter(before, [...syslog, ...PROGRAMS])
      // A part of a text keeps all of it in memory: this one is made anew.
      writers.set(before === '' ? key : beforeOf(decode(bytes, start, stamp.at)), writer)
    }
    let from = bytes[stamp.end] === 0x5d ? stamp.end + 1 : stamp.end
    while (from < to && (bytes[from] === 0x20 || bytes[from] === 0x09 || bytes[from] === 0x3a)) from++
    if (bytes[from]! >= 0x80 && wideBlank(bytes, from) > 0) return false
    rest.before = before
    rest.level = level
    rest.from = from
    rest.to = to
    rest.isLevelAfter = early === null
    return writer.write(record, rest)
  }
}

/** A line behind its time. */
interface Rest extends Omit<HeadLine, 'text'> {
  /** Where its text is. */
  from: number
  to: number
  /** Whether the level stands behind the time, too. */
  isLevelAfter: boolean
}

/** One object is reused. */
const rest: Rest = { before: '', level: -1, from: 0, to: 0, isLevelAfter: true }

/** Writers by what is before the time. They know what lines begin with, whichever log they are in. */
const writers = new BoundedMap<string, ProgramWriter>(KNOWN)

/**
 * Writes lines with the same text before their times. Most lines of a log were written by one program: a single pattern
 * tells whether a line is one of that program and of none before it in the list.
 */
class ProgramWriter {
  readonly #plans: readonly HeaderPlan[]
  /** The program of the last line; behind the last program, none. */
  #last = 0
  /** For each program, a pattern that fits its lines and none of those before it. */
  readonly #patterns: RegExp[] = []
  readonly #heads = new KnownHeads<KnownLine>()

  constructor(before: string, programs: readonly Program[]) {
    this.#plans = programs
      .filter((program) => (program.before ? program.before.test(before) : before === ''))
      .map((program) => planOf(program, before))
  }

  /** Writes a plain line whose time is written. False if its level is not the program's. */
  write(record: RecordOut, rest: Rest): boolean {
    const known = this.#heads.find(record.bytes, rest.from, rest.to)
    if (known && isKnown(record.bytes, known, this.#heads.places, rest))
      return writeKnown(record, known, this.#heads.places, rest)
    const text = record.text(rest.from, rest.to)
    const found = this.#find(text)
    const plan = this.#plans[this.#last]
    const line = { ...rest, text }
    const isWritten = plan ? writeProgram(record, plan, found, line) : writeGeneral(record, line)
    if (isWritten && !known && this.#heads.mayLearn()) this.#learn(record.bytes, line, found)
    return isWritten
  }

  /** Learns what lines are that begin as this one does. */
  #learn(bytes: Uint8Array, line: Rest & HeadLine, found: readonly (string | undefined)[]): void {
    const plan = this.#plans[this.#last]
    const length = plan ? found[0]!.length : generalLength(line, line.text)
    // A part of a line keeps all of it in memory: this text is made anew.
    const prefix = plan ? '' : JSON.parse(JSON.stringify(prefixOf(line)))
    for (const beginning of length < 0 ? [] : beginnings(line.text, length)) {
      const decision = decide(this.#plans, this.#last, beginning)
      const head = decision && (plan ? headOf(plan.names, decision) : generalHead(line, beginning))
      if (!head) continue
      const { isLevelAfter, from } = line
      const level = plan && plan.numbers.level === 0 ? ANY_LEVEL : line.level
      const known = { ...head, plan, level, isLevelAfter, prefix, isUntailed: decision.isUntailed }
      this.#heads.learn(bytes, from, beginning, known)
      return
    }
  }

  #find(text: string): readonly (string | undefined)[] {
    this.#patterns[this.#last] ??= this.#patternOf(this.#last)
    const found = this.#patterns[this.#last]!.exec(text)
    if (found) return found
    const plans = this.#plans
    for (this.#last = 0; this.#last < plans.length; this.#last++) {
      const other = plans[this.#last]!.pattern.exec(text)
      if (other) return other
    }
    return []
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
  /** A byte that each match of those holds. */
  holds: number
  /** The head alone, as a pattern of lines that may go on in any way. */
  open: RegExp
  hasTail: boolean
}

const NAMED_GROUP = /\(\?<(\w+)>/g

/** A pattern with numbered groups instead of named ones, and their names by number. */
export function unnamed(source: string): { source: string; names: readonly string[] } {
  const names = ['', ...[...source.matchAll(NAMED_GROUP)].map(([, name]) => name!)]
  return { source: source.replace(NAMED_GROUP, '('), names }
}

function planOf({ before, head, tail, inside = [], holds = '' }: Program, textBefore: string): HeaderPlan {
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
    holds: holds.charCodeAt(0),
    open: open(unnamed(head.source).source),
    hasTail: tail !== undefined,
  }
}

function writeProgram(
  record: RecordOut,
  { names, numbers, fields, before, inside }: HeaderPlan,
  found: readonly (string | undefined)[],
  { text, from, to, level }: Rest & HeadLine,
): boolean {
  const word = numbers.level === 0 ? undefined : found[numbers.level]
  if (word !== undefined && !isLevel(word, level)) return false
  for (const [name, group] of before)
    if (name === 'level' && group !== undefined && !isLevel(group, level)) return false
  record.level(level)
  const file = numbers.file === 0 ? undefined : found[numbers.file]
  const line = numbers.line === 0 ? undefined : found[numbers.line]
  if (file && line) record.source(file, String(Number(line)))
  const tag = numbers.tag === 0 ? undefined : found[numbers.tag]
  if (tag !== undefined && tag !== '-' && tag.trim() !== '') record.tag(tag.trim())
  const start = found[0]!.length
  const tail = numbers.whole_tail === 0 ? 0 : found[numbers.whole_tail]!.length
  const end = Math.max(start, text.length - tail)
  const messageEnd = tail === 0 ? to : record.after(text, end, from)
  const message = record.skipBlanks(record.after(text, start, from), messageEnd)
  record.message(message, messageEnd)
  for (const [name, group] of before) if (name !== 'level') record.group(name, group)
  for (let i = 0; i < fields.length; i++) record.group(names[fields[i]!]!, found[fields[i]!])
  if (inside.length > 0) writeInside(record, inside, text.slice(start, end))
  return record.endWithPairs(message, messageEnd)
}

function writeInside(record: RecordOut, inside: readonly RegExp[], message: string): void {
  for (const pattern of inside) {
    const groups = pattern.exec(message)?.groups
    for (const name in groups) record.group(name, groups[name])
  }
}

/** The last word for each level. */
const words: string[] = []

function isLevel(word: string, level: number): boolean {
  if (words[level] === word) return true
  if (parseLevel(word) !== level) return false
  words[level] = word
  return true
}

function writeGeneral(record: RecordOut, rest: Rest & HeadLine): boolean {
  const { message, context } = generalHeader(rest, rest.isLevelAfter)
  const start = record.after(rest.text, rest.text.length - message.length, rest.from)
  const from = record.skipBlanks(start, rest.to)
  record.level(rest.level)
  record.message(from, rest.to)
  if (context.prefix !== undefined) record.field('prefix', context.prefix as string)
  return record.endWithPairs(from, rest.to)
}

/** A line up to its message, as those that begin in the same way are. */
interface KnownLine extends KnownHead {
  /** Its program; undefined if it is of none. */
  plan: HeaderPlan | undefined
  /** The level that it must have; `ANY_LEVEL` if that does not matter. */
  level: number
  isLevelAfter: boolean
  /** What is before its time, if it is of no program. */
  prefix: string
  /** Whether a line with a tail may be of another program. */
  isUntailed: boolean
}

const ANY_LEVEL = -2

function isKnown(bytes: Uint8Array, known: KnownLine, places: Int32Array, rest: Rest): boolean {
  return (
    (known.level === rest.level || known.level === ANY_LEVEL) &&
    known.isLevelAfter === rest.isLevelAfter &&
    !(known.isUntailed && mayHaveTail(bytes, rest.from, rest.to)) &&
    isHead(bytes, known, places)
  )
}

/** Whether the last word of a line is in parentheses, as the tails of programs are. */
function mayHaveTail(bytes: Uint8Array, from: number, to: number): boolean {
  if (bytes[to - 1] !== 0x29) return false
  let at = to - 1
  while (at > from && bytes[at - 1] !== 0x20) at--
  return bytes[at] === 0x28
}

function writeKnown(record: RecordOut, known: KnownLine, places: Int32Array, rest: Rest): boolean {
  const { plan } = known
  record.level(rest.level)
  const message = writeHeader(record, known, places, rest.to)
  if (plan) {
    for (const [name, group] of plan.before) if (name !== 'level') record.group(name, group)
    writeHeadFields(record, known, places)
    if (plan.inside.length > 0 && find(record.copy.view, plan.holds, message, rest.to) < rest.to)
      writeInside(record, plan.inside, record.text(message, rest.to))
  } else if (known.prefix !== '') record.field('prefix', known.prefix)
  return record.endWithPairs(message, rest.to)
}

const prefixOf = (line: Rest & HeadLine) =>
  (generalHeader(line, line.isLevelAfter).context.prefix as string | undefined) ?? ''

/** How long the head of a line of no program is; -1 if it also depends on what follows its level, or holds a prefix. */
function generalLength({ level, isLevelAfter }: Rest, text: string): number {
  if (!isLevelAfter || level < 0) return 0
  const header = anyHeader(text, level)
  const length = header ? text.length - header.message.length : -1
  // `DEBUG1` is a level, and `DEBUG9` is none.
  return header?.context.prefix === undefined && !/\d/.test(text.slice(0, length)) ? length : -1
}

/** Where the message of such a line begins. */
function generalHead(line: Rest, beginning: Beginning): KnownHead | null {
  const texts = variantsOf(beginning)
  const places = texts.map((text) => placeOf(text, generalLength(line, text), beginning.by))
  const [message] = places
  // Two characters decide whether the level ends there.
  const isSure = beginning.isEnd || message === 0 || beginning.text.length >= message! + 2
  if (message! < 0 || places.some((place) => place !== message) || !isSure) return null
  return { message: bytesIn(texts[0]!, message!), tag: null, source: null, fields: [] }
}
