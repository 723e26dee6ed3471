import type { Zone } from '../../time.ts'
import {
  decode,
  encodeLine,
  head,
  type LineFormat,
  type RecordFields,
  recordText,
  sourceOf,
  unparsed,
} from '../format.ts'
import { closingQuote, MAX_KEYS } from '../read/json-fit.ts'
import { LEVELS, levelAt, wordMarks } from '../read/level.ts'
import { readNamed } from '../read/named.ts'
import { isDigit, readEpoch, readStamp } from '../read/stamp.ts'
import { stringEnd, wordOf } from '../read/words.ts'

/** The keys of a record's parts. */
export const TIME = new Set(['time', 'ts', 'timestamp', 't'])
export const LEVEL = new Set(['level', 'lvl', 'severity'])
export const MESSAGE = ['msg', 'message', 'event']
export const SOURCE = ['caller', 'source']
export const TAGS = ['logger', 'component', 'module']

/** `time=… level=… msg="…"`: pairs from the line's start, the keys in any order. */
export const logfmtLines: LineFormat = {
  name: 'logfmt',
  timed: true,
  leveled: true,
  starts: (bytes, from, to) => findPair(bytes, from, to, TIME) || findPair(bytes, from, to, LEVEL),
  time(bytes, from, to, zone) {
    return findPair(bytes, from, to, TIME) ? timeIn(bytes, pair.from, pair.to, zone) : Number.NaN
  },
  level: (bytes, from, to) => (findPair(bytes, from, to, LEVEL) ? levelAt(bytes, pair.from, pair.to) : -1),
  readHead(bytes, from, to, zone) {
    const hasTime = findPair(bytes, from, to, TIME)
    head.time = hasTime ? timeIn(bytes, pair.from, pair.to, zone) : Number.NaN
    const hasLevel = findPair(bytes, from, to, LEVEL)
    head.level = hasLevel ? levelAt(bytes, pair.from, pair.to) : -1
    return hasTime || hasLevel
  },
  marks: (level) => wordMarks(level),
  members(bytes, from, to, visit) {
    const lf = bytes.indexOf(0x0a, from)
    const pairs = pairsOf(decode(bytes, from, lf < 0 || lf > to ? to : lf))
    for (const [key, value] of pairs ?? []) if (visit(key, () => value)) return true
    return false
  },
  fields: logfmtFields,
  plan: { by: 'logfmt' },
}

/** The time in bytes[from, to), NaN if it is none. */
export function timeIn(bytes: Uint8Array, from: number, to: number, zone: Zone): number {
  if (!isDigit(bytes[from]!)) return Number.NaN
  const stamp = readStamp(bytes, from, to, zone) ?? readNamed(bytes, from, to, zone)
  return stamp ? stamp.epoch : readEpoch(bytes, from, to)
}

/** Time and level are among this many pairs. */
export const SEARCHED = 16

/** Where the value of the last pair found is, without its quotes. */
const pair = { from: 0, to: 0 }

function findPair(bytes: Uint8Array, from: number, to: number, keys: ReadonlySet<string>): boolean {
  let at = from
  // Time and level come first; a line that has neither among its first pairs is not searched further.
  for (let count = 0; count < SEARCHED; count++) {
    while (at < to && bytes[at] === 0x20) at++
    const key = at
    while (at < to && isKeyByte(bytes[at]!)) at++
    if (at === key || at >= to || bytes[at] !== 0x3d) return false
    const keyEnd = at
    at++
    let start = at
    let end: number
    if (bytes[at] === 0x22) {
      start++
      const after = stringEnd(bytes, at, to)
      end = after < 0 ? to : after - 1
      at = end + 1
    } else {
      while (at < to && bytes[at]! > 0x20) at++
      end = at
    }
    if (keys.has(wordOf(bytes, key, keyEnd))) {
      pair.from = start
      pair.to = end
      return true
    }
  }
  return false
}

/** Whether a byte can be part of a key. */
export function isKeyByte(byte: number): boolean {
  return byte > 0x20 && byte !== 0x3d && byte !== 0x22 && byte < 0x7f
}

function logfmtFields(text: string, zone: Zone): RecordFields {
  const record = recordText(text)
  const lf = record.indexOf('\n')
  const line = lf < 0 ? record : record.slice(0, lf)
  const bytes = encodeLine(line)
  if (!logfmtLines.starts(bytes, 0, bytes.length)) return unparsed(text)
  const out: RecordFields = { message: '' }
  const epoch = logfmtLines.time(bytes, 0, bytes.length, zone)
  const level = logfmtLines.level(bytes, 0, bytes.length)
  const pairs = pairsOf(line)
  if (pairs === null) {
    out.message = record
    if (!Number.isNaN(epoch)) out.time = zone.format(epoch)
    if (level >= 0) out.level = LEVELS[level]!
    return { ...out, unparsed: true }
  }
  const rest: Record<string, string> = {}
  const tags: string[] = []
  for (const [key, value] of pairs) {
    if (TIME.has(key) && out.time === undefined && !Number.isNaN(epoch)) out.time = zone.format(epoch)
    else if (LEVEL.has(key) && out.level === undefined) out.level = LEVELS[level] ?? value
    else if (MESSAGE.includes(key) && out.message === '') out.message = value
    else if (SOURCE.includes(key) && !out.source && sourceOf(value)) out.source = sourceOf(value)!
    else if (TAGS.includes(key)) tags.push(value)
    else rest[key] = value
  }
  if (tags.length > 0) out.tags = tags
  if (Object.keys(rest).length > 0) out.context = rest
  if (lf >= 0) out.message += record.slice(lf)
  return out
}

/** The pairs of a line; null if there are too many to be parsed in a few milliseconds. */
function pairsOf(line: string): [key: string, value: string][] | null {
  const pairs: [key: string, value: string][] = []
  // A pattern for the whole of a quoted value would run out of stack at some megabytes.
  const pattern = /([^\s="]+)(?:=(?:(")|(\S*)))?/g
  for (let found = pattern.exec(line); found; found = pattern.exec(line)) {
    if (pairs.length === MAX_KEYS) return null
    const [, key, quote, bare = ''] = found
    if (quote === undefined) {
      pairs.push([key!, bare])
      continue
    }
    const from = pattern.lastIndex
    const closing = closingQuote(line, from - 1)
    const end = closing < 0 ? line.length : closing
    pairs.push([key!, unquote(line.slice(from, end))])
    pattern.lastIndex = end + 1
  }
  return pairs
}

function unquote(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text.replace(/\\(.)/g, '$1')
  }
}
