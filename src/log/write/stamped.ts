import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { decode, type StampReader } from '../format/format.ts'
import { parseLevel } from '../format/read/level.ts'
import { generalHeader, type HeadLine } from '../format/stamped/header.ts'
import { PROGRAMS, type Program } from '../format/stamped/programs.ts'
import { beforeOf, levelBefore, syslogOf, wordAfter } from '../format/stamped/stamped.ts'
import { wideBlank } from './bytes/words.ts'
import type { LineWriter, RecordOut } from './record.ts'

/** What distinguishes the times that `syslogOf` knows; no text before a time is one of these. */
function timeKind(bytes: Uint8Array, at: number): string {
  const first = bytes[at]!
  return first >= 0x41 && first <= 0x5a ? ' A' : bytes[at + 10] === 0x54 ? ' T' : ' '
}

/** How many texts before the time are known at once, each with its patterns. */
const KNOWN = 32

/** Writes lines as `stampedFields` reads them. */
export function stampedWriter(stampAt: StampReader): LineWriter {
  const writers = new BoundedMap<string, ProgramWriter>(KNOWN)
  return (record, start, limit) => {
    const to = record.scan(start, limit)
    const { bytes } = record
    const stamp = to < 0 ? null : stampAt(bytes, start, to, record.zone)
    if (!stamp || !record.time(stamp.epoch)) return false
    const early = levelBefore(bytes, start, stamp)
    const level = early ?? wordAfter(bytes, stamp.end, to)
    const before = stamp.at === start ? '' : beforeOf(record.text(start, stamp.at))
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
    const text = record.text(from, to)
    return writer.write(record, { before, text, level, from, to, isLevelAfter: early === null })
  }
}

/** A line behind its time. */
interface Rest extends HeadLine {
  /** Where its text is. */
  from: number
  to: number
  /** Whether the level stands behind the time, too. */
  isLevelAfter: boolean
}

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

  constructor(before: string, programs: readonly Program[]) {
    this.#plans = programs
      .filter((program) => (program.before ? program.before.test(before) : before === ''))
      .map((program) => planOf(program, before))
  }

  /** Writes a plain line whose time is written. False if its level is not the program's. */
  write(record: RecordOut, rest: Rest): boolean {
    const found = this.#find(rest.text)
    const plan = this.#plans[this.#last]
    return plan ? writeProgram(record, plan, found, rest) : writeGeneral(record, rest)
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
}

const NAMED_GROUP = /\(\?<(\w+)>/g

/** A pattern with numbered groups instead of named ones, and their names by number. */
export function unnamed(source: string): { source: string; names: readonly string[] } {
  const names = ['', ...[...source.matchAll(NAMED_GROUP)].map(([, name]) => name!)]
  return { source: source.replace(NAMED_GROUP, '('), names }
}

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

function writeProgram(
  record: RecordOut,
  { names, numbers, fields, before, inside }: HeaderPlan,
  found: readonly (string | undefined)[],
  { text, from, to, level }: Rest,
): boolean {
  const word = numbers.level === 0 ? undefined : found[numbers.level]
  if (word !== undefined && parseLevel(word) !== level) return false
  for (const [name, group] of before)
    if (name === 'level' && group !== undefined && parseLevel(group) !== level) return false
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
  for (const pattern of inside) {
    const groups = pattern.exec(text.slice(start, end))?.groups
    for (const name in groups) record.group(name, groups[name])
  }
  return record.endWithPairs(message, messageEnd)
}

function writeGeneral(record: RecordOut, rest: Rest): boolean {
  const { message, context } = generalHeader(rest, rest.isLevelAfter)
  const start = record.after(rest.text, rest.text.length - message.length, rest.from)
  const from = record.skipBlanks(start, rest.to)
  record.level(rest.level)
  record.message(from, rest.to)
  if (context.prefix !== undefined) record.field('prefix', context.prefix as string)
  return record.endWithPairs(from, rest.to)
}
