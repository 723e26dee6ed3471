import { lineEnd } from '../../../kit/bytes.ts'
import type { Zone } from '../../time.ts'
import {
  decode,
  encodeLine,
  type LineFormat,
  type RecordFields,
  recordParts,
  sourceOf,
  unparsed,
} from '../format.ts'
import { closingQuote, MAX_KEYS } from '../read/json-fit.ts'
import { LEVELS, levelAt, wordMarks } from '../read/level.ts'
import { readNamed } from '../read/named.ts'
import { isDigit, readEpoch, readStamp } from '../read/stamp.ts'
import { stringEnd, wordOf } from '../read/words.ts'
import { epochPieces, type Piece, timePieces } from '../shape.ts'

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
  shape: shapeOf,
  marks: (level) => wordMarks(level),
  members(bytes, from, to, visit) {
    const pairs = pairsOf(decode(bytes, from, lineEnd(bytes, from, to)))
    for (const [key, value] of pairs ?? []) if (visit(key, () => value)) return true
    return false
  },
  fields: logfmtFields,
  written: 'logfmt',
}

/** The time in bytes[from, to), NaN if it is none. */
export function timeIn(bytes: Uint8Array, from: number, to: number, zone: Zone): number {
  if (!isDigit(bytes[from]!)) return Number.NaN
  const stamp = readStamp(bytes, from, to, zone) ?? readNamed(bytes, from, to, zone)
  return stamp ? stamp.epoch : readEpoch(bytes, from, to)
}

/** Time and level are among this many pairs. */
export const SEARCHED = 16

/** The last pair found: its key, where its value is, without quotes, and where it ends. */
const pair = { key: '', from: 0, to: 0, end: 0 }

/** Reads the pair at bytes[from]; false if there is none. */
function readPair(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from
  while (at < to && bytes[at] === 0x20) at++
  const key = at
  while (at < to && isKeyByte(bytes[at]!)) at++
  if (at === key || at >= to || bytes[at] !== 0x3d) return false
  pair.key = wordOf(bytes, key, at)
  at++
  pair.from = at
  if (bytes[at] === 0x22) {
    pair.from++
    const after = stringEnd(bytes, at, to)
    pair.to = after < 0 ? to : after - 1
    pair.end = pair.to + 1
  } else {
    while (at < to && bytes[at]! > 0x20) at++
    pair.to = at
    pair.end = at
  }
  return true
}

function findPair(bytes: Uint8Array, from: number, to: number, keys: ReadonlySet<string>): boolean {
  let at = from
  // Time and level come first; a line that has neither among its first pairs is not searched further.
  for (let count = 0; count < SEARCHED; count++) {
    if (!readPair(bytes, at, to)) return false
    if (keys.has(pair.key)) return true
    at = pair.end
  }
  return false
}

/** The pieces of a line up to its time and level. */
function shapeOf(bytes: Uint8Array, from: number, to: number): Piece[] | null {
  const pieces: Piece[] = []
  let hasTime = false
  let hasLevel = false
  for (let count = 0, at = from; count < SEARCHED && !(hasTime && hasLevel); count++, at = pair.end) {
    if (!readPair(bytes, at, to) || pair.end > to || pair.end >= bytes.length) return null
    pieces.push({ as: 'same', to: pair.from })
    if (!hasTime && TIME.has(pair.key)) {
      hasTime = true
      const time = timePieces(bytes, pair.from, pair.to) ?? epochPieces(bytes, pair.from, pair.to)
      pieces.push(...(time ?? []), { as: time ? 'same' : 'numbers', to: pair.to })
    } else if (!hasLevel && LEVEL.has(pair.key)) {
      hasLevel = true
      const level = levelAt(bytes, pair.from, pair.to)
      if (level < 0) return null
      pieces.push({ as: 'word', at: pair.from, to: pair.to, level })
    } else if (pair.end > pair.to) pieces.push({ as: 'string', to: pair.end })
    else if (bytes[pair.to] === 0x20) pieces.push({ as: 'until', to: pair.to })
    else return null
  }
  pieces.push({ as: 'same', to: pair.end }, { as: 'follows', to: pair.end })
  return hasTime && hasLevel ? pieces : null
}

/** Whether a byte can be part of a key. */
export function isKeyByte(byte: number): boolean {
  return byte > 0x20 && byte !== 0x3d && byte !== 0x22 && byte < 0x7f
}

function logfmtFields(text: string, zone: Zone): RecordFields {
  const { record, line, more } = recordParts(text)
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
  out.message += more
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
