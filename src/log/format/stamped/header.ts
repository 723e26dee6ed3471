import { parseLevel } from '../read/level.ts'
import { addFields, type HeadGroups } from '../read/vocabulary.ts'
import { PROGRAMS, type Program } from './programs.ts'

/** A line without its time and level, taken apart. */
export interface Header {
  /** The rest of the line. */
  message: string
  tag?: string | undefined
  source?: { file: string; line: number } | undefined
  /** What else it says, by name. */
  context: Record<string, unknown>
}

/** The parts of a line. */
export interface HeadLine {
  /** What stands before the time, without blanks at its ends. */
  before: string
  /** What stands behind it. */
  text: string
  /** Its level, -1 if it has none. */
  level: number
}

/** What a line says, if one of the programs wrote it; else null. */
export function programHeader(line: HeadLine, programs: readonly Program[] = PROGRAMS): Header | null {
  for (const program of programs) {
    const before = program.before ? program.before.exec(line.before) : line.before === '' ? NOTHING : null
    const head = before && program.head.exec(line.text)
    const tail = head && (program.tail ? program.tail.exec(line.text) : NOTHING)
    if (!tail) continue
    const groups: HeadGroups = { ...before!.groups, ...head!.groups, ...tail.groups }
    if (groups.level !== undefined && parseLevel(groups.level) !== line.level) continue
    const message = line.text.slice(head![0].length, line.text.length - tail[0]!.length)
    return headerOf(message, groups, program.inside ?? [])
  }
  return null
}

const NOTHING = Object.assign([''], { groups: {} })

function headerOf(message: string, groups: HeadGroups, inside: readonly RegExp[]): Header {
  const { level: _, tag, file, line, ...others } = groups
  const context: Record<string, unknown> = {}
  addFields(context, others)
  for (const pattern of inside) addFields(context, pattern.exec(message)?.groups ?? {})
  const source = file && line ? { file, line: Number(line) } : undefined
  return { message, tag: tag === '-' ? undefined : tag?.trim(), source, context }
}

// Every run of spaces is bounded: two adjacent runs would take quadratic time on a line of spaces.
const LEVEL_WORD =
  /([[<(|]?)\s{0,8}([A-Za-z]{3,13}\d?)(\s{0,8}[\]>)|]?(?:\s{0,8}:(?=\s|$)|\s{0,8}[-|]\s|\s|(?=\[)|$))/y
const MAX_PARTS = 12
const MAX_PART = 512

/** Numbers, parts in brackets and names before a dash may precede the level, and nothing else: a message may hold a level. */
export function anyHeader(text: string, level: number): Header | null {
  let at = 0
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    while (at < text.length && ' \t:-|'.includes(text[at]!)) at++
    const end = levelEnd(text, at, level)
    if (end >= 0) {
      // Most lines have nothing before the level.
      const prefix = at === 0 ? '' : text.slice(0, at).replace(/^[\s:|-]{1,16}|[\s:|-]{1,16}$/g, '')
      return { message: text.slice(end), context: prefix === '' ? {} : { prefix } }
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

/** A header of nobody in particular: what was not understood is its `prefix`. */
export function generalHeader({ before, text, level }: HeadLine, isAfter: boolean): Header {
  const header = (isAfter && level >= 0 && anyHeader(text, level)) || { message: text, context: {} }
  const early = before.startsWith('<') ? '' : isAfter ? before : before.replace(/^[A-Za-z]+\s*/, '')
  if (early === '') return header
  const { prefix } = header.context
  return { ...header, context: { prefix: prefix === undefined ? early : `${early} ${prefix}` } }
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
