import { lineEnd } from '../../../kit/bytes.ts'
import { UTC, type Zone } from '../../time.ts'
import {
  decode,
  encodeLine,
  type LineFormat,
  type RecordFields,
  recordParts,
  skipAnsi,
  unparsed,
} from '../format.ts'
import { visitJson } from '../json/members.ts'
import { fits } from '../read/json-fit.ts'
import { LEVELS, levelAt, parseLevel, wordMarks } from '../read/level.ts'
import { pairsIn, withPairs } from '../read/pairs.ts'
import { exactTime, isExact, readStamp } from '../read/stamp.ts'
import { wordEnd } from '../shape.ts'

const TAB = 0x09

/**
 * The node's own format: `YYYY-MM-DD hh:mm:ss.mmm` TAB level TAB `path/file.go:123` TAB `[Component] [Tag]: message`
 * TAB `{"json":"context"}`, the last optional. A line that begins otherwise continues the record above.
 */
export const lindbLines: LineFormat = {
  name: 'lindb',
  timed: true,
  leveled: true,
  head: '0000-00-00 00:00:00.000\t',
  starts(bytes, from, to) {
    if (isTabbed(bytes, from, to)) return true
    // Spaces instead of tabs: only with a level word, because a message may quote a time.
    const end = stampEnd(bytes, skipAnsi(bytes, from, to), to)
    return end >= 0 && bytes[end] === 0x20 && levelAfter(bytes, end, to) >= 0
  },
  time(bytes, from, to, zone) {
    if (isExact(bytes, from, to)) return exactTime(bytes, from, zone)
    if (!this.starts(bytes, from, to)) return Number.NaN
    return readStamp(bytes, skipAnsi(bytes, from, to), to, zone)?.epoch ?? Number.NaN
  },
  level(bytes, from, to) {
    if (isExact(bytes, from, to)) {
      const level = levelAt(bytes, from + 24, to)
      return level >= 0 ? level : levelAfter(bytes, from + 23, to)
    }
    const end = stampEnd(bytes, skipAnsi(bytes, from, to), to)
    return end >= 0 ? levelAfter(bytes, end, to) : -1
  },
  shape(bytes, from, to) {
    const at = from + 24
    const level = isExact(bytes, from, to) ? levelAt(bytes, at, to) : -1
    const end = wordEnd(bytes, at, to)
    if (level < 0 || end >= to) return null
    return [
      { as: 'date', to: from + 11 },
      { as: 'clock', to: from + 23 },
      { as: 'same', to: at },
      { as: 'word', at, to: end, level },
    ]
  },
  marks: (level) => wordMarks(level),
  members(bytes, from, to, visit) {
    const end = lineEnd(bytes, from, to)
    const own = contextAt(bytes, from, end)
    // The context may end the last line of a message with line breaks.
    const last = to > end && bytes[to - 1] === 0x0a ? to - 1 : to
    const at = own < 0 && last > end ? contextAt(bytes, end, last) : own
    const known = new Set<string>()
    const isFound =
      at >= 0 &&
      visitJson(bytes, at, own < 0 ? last : end, (path, value) => {
        known.add(path)
        return visit(path, value)
      })
    if (isFound) return true
    const first = decode(bytes, from, own < 0 ? end : own)
    if (!first.includes('=')) return false
    for (const [key, value] of pairsIn(lindbFields(first, UTC).message))
      if (!known.has(key) && visit(key, () => value)) return true
    return false
  },
  fields: lindbFields,
  written: 'lindb',
}

/** The offset after the timestamp at bytes[at], its zone and its colour; -1 when there is none. */
function stampEnd(bytes: Uint8Array, at: number, to: number): number {
  const stamp = readStamp(bytes, at, to, UTC)
  return stamp ? skipAnsi(bytes, stamp.end, to) : -1
}

/** Whether a record begins with a timestamp and a tab, which distinguishes this format from others. */
export function isTabbed(bytes: Uint8Array, from: number, to: number): boolean {
  if (isExact(bytes, from, to)) return true
  const end = stampEnd(bytes, skipAnsi(bytes, from, to), to)
  return end >= 0 && end < to && bytes[end] === TAB
}

/** The level word after tabs, spaces, brackets and colours. */
function levelAfter(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  for (;;) {
    const next = skipAnsi(bytes, at, to)
    const byte = bytes[next]
    if (next < to && (byte === TAB || byte === 0x20 || byte === 0x5b)) at = next + 1
    else if (next > at) at = next
    else return levelAt(bytes, at, to)
  }
}

/** A time with nine decimals and a zone is shorter. */
const LONGEST_STAMP = 48
/** The level after the time, which `readStamp` reads. */
const LEVEL = /[\t ]+\[?([A-Za-z0-9]+)\]?[\t ]*/y
const SOURCE = /^([^\t\n]*[^\t\n:]):(\d{1,9})(?:\t|$)/
/** `[Broker] [Runtime]: ` before the message; spaces may be missing, or more. */
export const TAGS = /^((?:[ ]*\[[^\]\n]*\])+)[ ]*:[ ]?/

/** The names in `[Broker] [Runtime]`. */
export function tagNames(text: string): string[] {
  const names = text.slice(text.indexOf('[') + 1, -1).split(/\][ ]*\[/)
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

function lindbFields(text: string, zone: Zone): RecordFields {
  const { record, line: first, more: below } = recordParts(text)
  const start = encodeLine(record.slice(0, LONGEST_STAMP))
  const stamp = readStamp(start, 0, start.length, zone)
  LEVEL.lastIndex = stamp?.end ?? 0
  const head = stamp && LEVEL.exec(record)
  if (!head || Number.isNaN(stamp.epoch)) return unparsed(text)
  const level = parseLevel(head[1]!)
  const out: RecordFields = {
    time: zone.format(stamp.epoch),
    level: level === null ? head[1]! : LEVELS[level],
    message: '',
  }
  let rest = first.slice(LEVEL.lastIndex)
  let more = below
  const source = SOURCE.exec(rest)
  if (source) {
    out.source = { file: source[1]!, line: Number(source[2]) }
    rest = rest.slice(source[0].length)
  }
  const tags = TAGS.exec(rest)
  if (tags) {
    out.tags = tagNames(tags[1]!)
    rest = rest.slice(tags[0].length)
  }
  // The context ends the first line (a stack trace may follow), or the last one of a message with line breaks.
  const own = splitContext(rest)
  const last = own || more === '' ? null : splitContext(more)
  if (own) rest = own.before
  else if (last) more = last.before
  out.message = rest + more
  const found = own ?? last
  if (found?.context === undefined) return found ? { ...out, unparsed: true } : withPairs(out)
  out.context = found.context
  return withPairs(out)
}

/** Where the JSON object at the end of bytes[from, to) begins, after a tab; -1 if there is none. */
function contextAt(bytes: Uint8Array, from: number, to: number): number {
  const end = bytes[to - 1] === 0x0d ? to - 1 : to
  if (bytes[end - 1] !== 0x7d) return -1
  const tab = bytes.lastIndexOf(TAB, end - 1)
  return tab >= from && bytes[tab + 1] === 0x7b ? tab + 1 : -1
}

/**
 * Text before a tab and the JSON object after it. A JSON object never holds a raw tab, so the last tab decides. An
 * object too deep or too wide to be parsed stays in the text, and the context is undefined.
 */
function splitContext(text: string): { before: string; context: unknown } | null {
  if (!text.endsWith('}')) return null
  const at = text.lastIndexOf('\t{')
  if (at < 0) return null
  if (!fits(text, at + 1)) return { before: text, context: undefined }
  try {
    return { before: text.slice(0, at), context: JSON.parse(text.slice(at + 1)) }
  } catch {
    return null
  }
}
