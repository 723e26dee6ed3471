import { BoundedMap } from '../../limits/bounded-map.ts'
import type { StampReader } from '../format/format.ts'
import { parseLevel } from '../format/read/level.ts'
import { generalHeader, type Line } from '../format/stamped/header.ts'
import { PROGRAMS, type Program } from '../format/stamped/programs.ts'
import { beforeOf, levelBefore, syslogOf, wordAfter } from '../format/stamped/stamped.ts'
import { endWithPairs } from './pairs.ts'
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
      writers.set(key, writer)
    }
    let from = bytes[stamp.end] === 0x5d ? stamp.end + 1 : stamp.end
    while (from < to && (bytes[from] === 0x20 || bytes[from] === 0x09 || bytes[from] === 0x3a)) from++
    const text = record.text(from, to)
    return writer.write(record, { before, text, level, from, to, isLevelAfter: early === null })
  }
}

/** A line behind its time. */
interface Rest extends Line {
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
  readonly #plans: readonly Plan[]
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
interface Plan {
  pattern: RegExp
  /** The same without groups and without the beginning of the line. */
  bare: string
  /** The names of the groups. */
  names: readonly string[]
  /** The groups of what is before the time. */
  before: readonly [name: string, text: string | undefined][]
  hasTail: boolean
  inside: readonly RegExp[]
}

const NAMED_GROUP = /\(\?<(\w+)>/g

function planOf({ before, head, tail, inside = [] }: Program, textBefore: string): Plan {
  // The tail may overlap with the head, and is searched for in all of the line.
  const source = `${tail ? `(?=[^]*?(?<whole_tail>${tail.source}))` : ''}${head.source.slice(1)}`
  return {
    pattern: new RegExp(`^${source.replace(NAMED_GROUP, '(')}`),
    bare: source.replace(NAMED_GROUP, '(?:'),
    names: [...source.matchAll(NAMED_GROUP)].map(([, name]) => name!),
    before: Object.entries(before?.exec(textBefore)?.groups ?? {}),
    hasTail: tail !== undefined,
    inside,
  }
}

function writeProgram(
  record: RecordOut,
  { names, before, hasTail, inside }: Plan,
  found: readonly (string | undefined)[],
  { text, from, level }: Rest,
): boolean {
  let tag: string | undefined
  let file: string | undefined
  let line: string | undefined
  for (let i = 0; i < names.length; i++) {
    const name = names[i]
    const group = found[i + 1]
    if (name === 'tag') tag = group
    else if (name === 'file') file = group
    else if (name === 'line') line = group
    else if (name === 'level' && group !== undefined && parseLevel(group) !== level) return false
  }
  for (const [name, group] of before)
    if (name === 'level' && group !== undefined && parseLevel(group) !== level) return false
  record.level(level)
  if (file && line) record.source(file, String(Number(line)))
  tag = tag === '-' ? '' : tag?.trim()
  if (tag) record.tag(tag)
  const start = found[0]!.length
  const end = hasTail ? Math.max(start, text.length - found[1]!.length) : text.length
  const message = record.skipBlanks(from + start, from + end)
  record.message(message, from + end)
  for (const [name, group] of before) if (!PLACED.has(name)) record.group(name, group)
  for (let i = 0; i < names.length; i++) if (!PLACED.has(names[i]!)) record.group(names[i]!, found[i + 1])
  for (const pattern of inside) {
    const groups = pattern.exec(text.slice(start, end))?.groups
    for (const name in groups) record.group(name, groups[name])
  }
  return endWithPairs(record, message, from + end)
}

const PLACED = new Set(['level', 'tag', 'file', 'line', 'whole_tail'])

function writeGeneral(record: RecordOut, rest: Rest): boolean {
  const { message, context } = generalHeader(rest, rest.isLevelAfter)
  const from = record.skipBlanks(rest.to - message.length, rest.to)
  record.level(rest.level)
  record.message(from, rest.to)
  if (context.prefix !== undefined) record.field('prefix', context.prefix as string)
  return endWithPairs(record, from, rest.to)
}
