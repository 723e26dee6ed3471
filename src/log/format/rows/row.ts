import { systemClock } from '../../../kit/limits/clock.ts'
import { UTC, type Zone } from '../../time.ts'
import { clockOf, dayOf } from '../../wall-clock.ts'
import {
  encodeLine,
  type HeadPlan,
  type LineFormat,
  type RecordFields,
  recordParts,
  unparsed,
} from '../format.ts'
import { LEVELS, parseLevel, wordMarks } from '../read/level.ts'
import { withPairs } from '../read/pairs.ts'
import { type StatusPlace, statusAt, statusMark } from '../read/status.ts'
import { addFields, type HeadGroups, levelOfStatus } from '../read/vocabulary.ts'
import { wordOf } from '../read/words.ts'
import { clockBefore, type Reference, type Years, yearsBefore } from '../read/years.ts'
import { zoneName } from '../read/zone-names.ts'
import { type Piece, timePieces, wordEnd } from '../shape.ts'

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
  /** Set if only digits and marks are before the level, and nothing but a blank must follow it. */
  plain?: true
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
    ...(row.plain && {
      shape: (bytes: Uint8Array, from: number, to: number) =>
        begins(bytes, from, to) ? plainShape(row, bytes, from, to) : null,
    }),
    ...(row.owns && {
      owns: (bytes: Uint8Array, from: number, to: number) =>
        hasShape(owned, bytes, from, to) && row.owns!.line.test(headText(bytes, from, to)),
    }),
    marks: (level) => rowMarks(row, level),
    ...(row.head.source.includes('(?<z>') && {
      zoneName: (bytes: Uint8Array, from: number, to: number) => ambiguousZone(groupsAt(bytes, from, to)?.z),
    }),
    fields: (text, zone) => rowFields(row, text, (groups) => timeOf(groups, zone), zone),
    ...(isPlanned(row) && { plan: { ...planOf(row), mayBegin, begins, time: timeOf } }),
  }
}

/** The pieces of a line of a plain row, whose level is the first word behind its time. */
function plainShape(row: Row, bytes: Uint8Array, from: number, to: number): Piece[] | null {
  const time = timePieces(bytes, from, to)
  if (!time) return null
  const at = time[1].to + 1
  const end = wordEnd(bytes, at, to)
  const level = levelOf(row, { level: wordOf(bytes, at, end) })
  return [...time, { as: 'same', to: at }, { as: 'word', at, to: end, level }]
}

/** Whether each line of a row is a record by itself, with no fields that add up. */
function isPlanned({ head, inside = [], second, below }: Row): boolean {
  const all = [head, ...inside].map(({ source }) => source).join('')
  const durations = all.split('(?<duration').length - 1
  return !second && !below && durations < 2 && !all.includes('(?<tag2>')
}

/** How the lines of a row are written, but for what is known of a log. */
function planOf(row: Row): Omit<HeadPlan, 'mayBegin' | 'begins' | 'time'> {
  const { head, inside = [], unpaired = false, status } = row
  return {
    by: 'head',
    head,
    within: HEAD_BYTES,
    timeGroups: TIMES,
    levelOf: (level) => levelOf(row, { level }),
    ...(status && {
      levelIn: (bytes, _, message, to) => levelOfStatus(statusAt(status, bytes, message, to)),
    }),
    inside,
    unpaired,
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

function statusIn(place: StatusPlace, message: string): number {
  const bytes = encodeLine(message)
  return statusAt(place, bytes, 0, bytes.length)
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

function rowFields(row: Row, text: string, timeOf: (groups: HeadGroups) => number, zone: Zone): RecordFields {
  const { line, more: below } = recordParts(text)
  const head = row.head.exec(line.slice(0, HEAD_BYTES))
  const epoch = head ? timeOf(head.groups!) : Number.NaN
  // A head with a time of a day that no calendar has; or one that may do without a time.
  if (!head || (Number.isNaN(epoch) && head.groups!.h !== undefined)) return unparsed(text)
  const groups: HeadGroups = head.groups!
  let rest = line.slice(head[0].length).trimStart()
  let more = below
  let level = row.status ? levelOfStatus(statusIn(row.status, rest)) : levelOf(row, groups)
  const second = row.second?.exec(more.slice(1))
  if (second) {
    level = levelOf(row, second.groups!)
    rest = more.slice(1 + second[0].length)
    more = ''
  } else if (row.below) {
    rest = [rest, more.slice(1)].filter((part) => part !== '').join('\n')
    more = ''
  }
  const out: RecordFields = { message: rest + more }
  if (!Number.isNaN(epoch)) out.time = zone.format(epoch)
  const name = level >= 0 ? LEVELS[level] : groups.level
  if (name !== undefined) out.level = name
  if (groups.file && groups.line) out.source = { file: groups.file, line: Number(groups.line) }
  const tags = [groups.tag, groups.tag2].filter(
    (tag) => tag !== undefined && tag !== '' && tag !== '-',
  ) as string[]
  if (tags.length > 0) out.tags = tags.map((tag) => tag.trim())
  const context: Record<string, unknown> = {}
  addFields(context, Object.fromEntries(Object.entries(groups).filter(([key]) => !PLACED.has(key))))
  for (const pattern of rest.length > MAX_INSIDE ? [] : (row.inside ?? []))
    addFields(context, pattern.exec(rest)?.groups ?? {})
  if (Object.keys(context).length > 0) out.context = context
  return row.unpaired ? out : withPairs(out)
}
