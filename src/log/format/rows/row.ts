import { systemClock } from '../../../kit/limits/clock.ts'
import { UTC, type Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'
import type { LineFormat, RecordReader } from '../format.ts'
import { parseLevel, wordMarks } from '../read/level.ts'
import { type StatusPlace, statusAt, statusMark } from '../read/status.ts'
import { addFields, type HeadGroups, levelOfStatus, unnamed } from '../read/vocabulary.ts'
import { clockBefore, type Reference, type Years, yearsBefore } from '../read/years.ts'
import { zoneName } from '../read/zone-names.ts'
import { putContext, readBy } from '../record.ts'

/**
 * A format as one row of a table. The named groups of its head say what is what:
 *
 * - `y` (two or four digits), `mon` (a number or a name), `d`, `h`, `min`, `s`, `f` (decimals), `ampm`, `z` (an offset,
 *   `Z` or an abbreviation), `zmin` (an offset in minutes); or `epoch` in seconds, with `f`
 * - `level`, `tag` and `tag2`, `file` and `line`; every other group is a field (read/vocabulary.ts)
 *
 * Without `y`, the year is judged by the time of the file's last change, and without `d`, so is the day.
 */
export interface Row {
  name: string
  /** What a record begins with; what follows on the line is the message. */
  head: RegExp
  /**
   * How a record begins: `0` is a digit, `^` is a capital, `*` is part of a host's name or address, `?` is anything. This
   * quick check keeps detection fast: it also runs on the lines of all other formats. Several if a record can begin in
   * several ways.
   */
  shape: string | readonly string[]
  /** Patterns whose groups are more fields. They are read from the message, which stays as it is. */
  inside?: readonly RegExp[]
  /** If the level follows from an HTTP status: where in the message that is. */
  status?: StatusPlace
  /** Set if `key=value` in the message is not a field, because the message is SQL. */
  unpaired?: true
  /** Something else that the beginning of a record holds, spelled as a shape that begins with `[`. */
  within?: string
  /** Set if times are in UTC without saying so. */
  utc?: true
  /** Levels by the words of this format; others are known everywhere. */
  levels?: Record<string, number>
  /** The level of a record without a level word. */
  silent?: number
  /** If the level is in the record's second line, that line. */
  second?: RegExp
  /** Whether the message is on the lines below. */
  below?: boolean
  /** Lines that begin no record and still show the format. */
  owns?: { shape: readonly string[]; line: RegExp }
}

/** How much of a line is read for its head. */
const HEAD_BYTES = 300
/** A longer message is not searched for fields: the patterns take up to 0.1 s per MiB. */
const MAX_INSIDE = 64 * 1024

/** A row, prepared for detection. */
export interface RowFormat {
  /** By first byte: 1 where a line of this row can begin with it. */
  first: Uint8Array
  make: (reference: Reference) => LineFormat
}

/** Prepares the line format of a row. */
export function rowFormat(row: Row): RowFormat {
  const shapes = shapesOf([row.shape].flat())
  const within = row.within === undefined ? null : shapesOf([row.within])[0]!
  const owned = shapesOf(row.owns?.shape ?? [])
  const fits = (byte: number) => [...shapes, ...owned].some(([mark]) => fitsMark(mark!, byte))
  return {
    first: Uint8Array.from({ length: 256 }, (_, byte) => (fits(byte) ? 1 : 0)),
    make: (reference) => rowLines(row, { shapes, within, owned, reference }),
  }
}

interface Prepared {
  /** How records begin, and how the other lines that show the format do. */
  shapes: readonly Uint8Array[]
  owned: readonly Uint8Array[]
  /** What else the beginning of a record holds. */
  within: Uint8Array | null
  reference: Reference
}

function rowLines(row: Row, { shapes, within, owned, reference }: Prepared): LineFormat {
  const years = yearsBefore(reference)
  const heads = headReader(row.head)
  const mayBegin: LineFormat['starts'] = (bytes, from, to) =>
    hasShape(shapes, bytes, from, to) && (within === null || holds(within, bytes, from, to))
  const groupsAt = (bytes: Uint8Array, from: number, to: number) =>
    mayBegin(bytes, from, to) ? heads.read(bytes, from, to) : null
  const timeOf = (groups: HeadGroups, zone: Zone) => epochOf(groups, row.utc ? UTC : zone, years, reference)
  const begins: LineFormat['starts'] = (bytes, from, to) => groupsAt(bytes, from, to) !== null
  return {
    name: row.name,
    timed: true,
    leveled: true,
    ...(isClockOnly(row.head) && { undated: true as const }),
    starts: begins,
    time: (bytes, from, to, zone) => {
      const groups = groupsAt(bytes, from, to)
      return groups ? timeOf(groups, zone) : Number.NaN
    },
    level: (bytes, from, to, end = to) => {
      const groups = groupsAt(bytes, from, to)
      if (!groups) return -1
      if (row.status) return levelOfStatus(statusAt(row.status, bytes, from + heads.length, to))
      const second = row.second && secondLine(bytes, to, end)
      return levelOf(row, second ? (row.second!.exec(second)?.groups ?? {}) : groups)
    },
    ...(row.owns && {
      owns: (bytes: Uint8Array, from: number, to: number) =>
        hasShape(owned, bytes, from, to) && row.owns!.line.test(headText(bytes, from, to)),
    }),
    marks: (level) => rowMarks(row, level),
    ...(row.head.source.includes('(?<z>') && {
      zoneName: (bytes: Uint8Array, from: number, to: number) => ambiguousZone(groupsAt(bytes, from, to)?.z),
    }),
    ...readBy(rowReader(row, { mayBegin, begins, timeOf })),
  }
}

function shapesOf(shapes: readonly string[]): readonly Uint8Array[] {
  return shapes.map((shape) => new TextEncoder().encode(shape))
}

function hasShape(shapes: readonly Uint8Array[], bytes: Uint8Array, from: number, to: number): boolean {
  for (const shape of shapes) if (isShaped(shape, bytes, from, to)) return true
  return false
}

function isShaped(shape: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from < shape.length) return false
  for (let i = 0; i < shape.length; i++) if (!fitsMark(shape[i]!, bytes[from + i]!)) return false
  return true
}

/** Whether a shape that begins with a bracket is somewhere in the reach of a head. */
function holds(shape: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const head = bytes.subarray(from, Math.min(to, from + HEAD_BYTES))
  for (let at = head.indexOf(shape[0]!); at >= 0; at = head.indexOf(shape[0]!, at + 1))
    if (isShaped(shape, bytes, from + at, to)) return true
  return false
}

/** Whether a byte is what a character of a shape stands for. */
function fitsMark(mark: number, byte: number): boolean {
  if (mark === 0x30) return byte >= 0x30 && byte <= 0x39
  if (mark === 0x5e) return byte >= 0x41 && byte <= 0x5a
  if (mark === 0x2a) return isNameByte(byte)
  return mark === 0x3f || mark === byte
}

/** A letter, a digit, a colon or a dash. */
function isNameByte(byte: number): boolean {
  const letter = byte | 32
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x3a) || byte === 0x2d
}

/** Whether the head of a row has a time of day and no date. */
function isClockOnly(head: RegExp): boolean {
  return !/\(\?<(d|epoch)>/.test(head.source)
}

/** Parses heads. Start, time and level of a line are requested in turn, so the last result is cached by its text. */
function headReader(head: RegExp) {
  let known = ''
  let found: HeadGroups | null = null
  return {
    /** How many bytes the last head has. */
    length: 0,
    read(bytes: Uint8Array, from: number, to: number): HeadGroups | null {
      const text = headText(bytes, from, to)
      if (text === known) return found
      known = text
      const match = head.exec(text.endsWith('\r') ? text.slice(0, -1) : text)
      found = match?.groups ?? null
      this.length = match?.[0].length ?? 0
      return found
    },
  }
}

function headText(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode.apply(null, bytes.subarray(from, Math.min(to, from + HEAD_BYTES)) as never)
}

function secondLine(bytes: Uint8Array, lineEnd: number, end: number): string {
  const from = lineEnd + 1
  if (from >= end) return ''
  const lf = bytes.subarray(from, Math.min(end, from + HEAD_BYTES)).indexOf(0x0a)
  const to = lf < 0 ? Math.min(end, from + HEAD_BYTES) : from + lf
  return headText(bytes, from, to)
}

function levelOf(row: Row, { level }: HeadGroups): number {
  if (level === undefined) return row.silent ?? -1
  const own = row.levels
  if (own && Object.hasOwn(own, level)) return own[level]!
  return parseLevel(level) ?? row.silent ?? -1
}

/** Short words are marked with what stands around them; an HTTP status is behind a quote or a separator. */
function rowMarks({ status, head, levels = {}, silent = -1 }: Row, level: number): RegExp[] | null {
  const words = wordMarks(level)
  if (!words || silent >= level) return null
  if (status) return [statusMark(status, level)]
  const own = Object.keys(levels).filter((word) => levels[word]! >= level)
  const [before, after] = aroundLevel(head)
  return [...words, ...own.map((word) => new RegExp(word.length < 3 ? `${before}${word}${after}` : word))]
}

/** What stands before and behind the level of a head: a character such as `\[` in its pattern, otherwise no letter. */
function aroundLevel({ source }: RegExp): [before: string, after: string] {
  const found = /(\\\W|[ :|,])\(\?<level>[^()]*\)(\\\W|[ :|,])(?![?*{])/.exec(source)
  return found ? [found[1]!, found[2]!] : ['[^a-z0-9]', '[^a-z0-9]']
}

function ambiguousZone(text: string | undefined): string | null {
  const name = text ? zoneName(text) : null
  return name?.offset === null ? name.word : null
}

const NO_YEAR: Years = () => Number.NaN
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'

/** The instant that the groups of a head say; NaN if they say none. */
export function epochOf(
  groups: HeadGroups,
  zone: Zone,
  years: Years = NO_YEAR,
  reference: Reference = systemClock.now,
): number {
  const ms = groups.f ? Number(`0.${groups.f}`) * 1000 : 0
  if (groups.epoch !== undefined) return Number(groups.epoch) * 1000 + ms
  if (groups.h === undefined) return Number.NaN
  const h = hourOf(Number(groups.h), groups.ampm)
  const [min, s] = [Number(groups.min), Number(groups.s ?? 0)]
  if (groups.d === undefined) return clockBefore(reference(), zone, ((h * 60 + min) * 60 + s) * 1000 + ms)
  const month = /^\d/.test(groups.mon!)
    ? Number(groups.mon)
    : (MONTHS.indexOf(groups.mon!.toLowerCase()) + 3) / 3
  if (!Number.isInteger(month)) return Number.NaN
  const day = Number(groups.d)
  const offset = offsetOf(groups)
  const where = offset === null ? zone : UTC
  const at = (year: number) => where.toEpoch(dayOf(year, month, day), clockOf(h, min, s, ms)) - (offset ?? 0)
  if (groups.y === undefined) return years(month, day, at)
  return at(groups.y.length === 2 ? 2000 + Number(groups.y) : Number(groups.y))
}

function hourOf(hour: number, ampm: string | undefined): number {
  return ampm === undefined ? hour : (hour % 12) + (/^p/i.test(ampm) ? 12 : 0)
}

/** Ms east of UTC; null when the head names no zone, or none that is sure. */
function offsetOf({ z, zmin }: HeadGroups): number | null {
  if (zmin !== undefined) return Number(zmin) * 60_000
  if (z === undefined || z === '') return null
  if (z === 'Z') return 0
  const [, sign, h, min] = /^([+-])(\d\d):?(\d\d)?$/.exec(z) ?? []
  if (!sign) return zoneName(z)?.offset ?? null
  return (sign === '-' ? -1 : 1) * (Number(h) * 60 + Number(min ?? 0)) * 60_000
}

/** The groups of times, and all that have their own place in a record. */
const TIMES: ReadonlySet<string> = new Set('y mon d h min s f ampm z zmin epoch'.split(' '))
const PLACED: ReadonlySet<string> = new Set([...TIMES, ...'level tag tag2 file line'.split(' ')])

interface RowLines {
  mayBegin: LineFormat['starts']
  begins: LineFormat['starts']
  timeOf: (groups: HeadGroups, zone: Zone) => number
}

/** Reads lines of a row. Patterns with numbered groups take a third of the time of those with named ones. */
function rowReader(row: Row, { mayBegin, begins, timeOf }: RowLines): RecordReader {
  const { source, names } = unnamed(row.head.source)
  const head = new RegExp(source, row.head.flags)
  const looksAhead = /\(\?[=!<]/.test(source)
  const indices = names.map((_, i) => i).slice(1)
  const times = indices.filter((i) => TIMES.has(names[i]!))
  const fields = indices.filter((i) => !PLACED.has(names[i]!))
  const indexOf = (name: string) => names.indexOf(name)
  const own = {
    level: indexOf('level'),
    file: indexOf('file'),
    line: indexOf('line'),
    tag: indexOf('tag'),
    tag2: indexOf('tag2'),
  }
  const insides = (row.inside ?? []).map((inside) => ({ ...unnamed(inside.source), flags: inside.flags }))
  const patterns = insides.map(({ source, flags }) => new RegExp(source, flags))
  const all = [...names, ...insides.flatMap((inside) => inside.names)]
  const addsUp = all.filter((name) => name.startsWith('duration')).length > 1
  return (record, from, limit) => {
    const to = record.scan(from, limit)
    const { bytes } = record
    if (to < 0 || !mayBegin(bytes, from, to)) return false
    const text = record.text(from, to)
    const found = head.exec(text.length > HEAD_BYTES ? text.slice(0, HEAD_BYTES) : text)
    if (!found) return false
    const start = record.after(text, found[0].length, from)
    // What is not ASCII may be read in another way where only bytes are read.
    const isWide = record.line.wide < (looksAhead ? from + HEAD_BYTES : start)
    if (isWide && !begins(bytes, from, to)) return false
    const groups: HeadGroups = {}
    for (const i of times) groups[names[i]!] = found[i]
    const epoch = timeOf(groups, record.zone)
    // Some heads may do without a time.
    if (Number.isNaN(epoch) && groups.h === undefined) record.untimed()
    else if (!record.time(epoch)) return false
    const message = record.skipBlanks(start, to)
    const word = found[own.level]
    let level = row.status
      ? levelOfStatus(statusAt(row.status, bytes, message, to))
      : levelOf(row, { level: word })
    let body: string | null = null
    const second = row.second?.exec(record.more.slice(1))
    if (second) {
      level = levelOf(row, second.groups!)
      body = record.more.slice(1 + second[0].length)
    } else if (row.below)
      body = [record.text(message, to), record.more.slice(1)].filter((part) => part !== '').join('\n')
    record.level(level, word)
    const file = found[own.file]
    const line = found[own.line]
    if (file && line) record.source(file, line)
    record.tags([found[own.tag], found[own.tag2]].filter(isName).map((name) => name.trim()))
    if (body === null) record.message(message, to)
    else record.messageText(body)
    const searched = patterns.length > 0 ? (body ?? record.text(message, to)) : ''
    const context: Record<string, unknown> | null = addsUp ? {} : null
    const put = (name: string, text: string | undefined) =>
      context ? addFields(context, { [name]: text }) : record.group(name, text)
    for (const i of fields) put(names[i]!, found[i])
    for (let p = 0; p < patterns.length && searched.length <= MAX_INSIDE; p++) {
      const inside = patterns[p]!.exec(searched)
      for (let i = 1; inside && i < inside.length; i++) put(insides[p]!.names[i]!, inside[i])
    }
    if (context) putContext(record, context)
    if (!row.unpaired) return body === null ? record.endWithPairs(message, to) : record.endWithPairsOf(body)
    record.end()
    return true
  }
}

const isName = (tag: string | undefined): tag is string => tag !== undefined && tag !== '' && tag !== '-'
