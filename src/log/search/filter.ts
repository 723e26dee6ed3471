import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { LEVELS, type LineFormat } from '../format/detect.ts'
import type { Find } from '../format/format.ts'
import { endOf, lineEnd, startOf } from '../format/lines.ts'
import { isPair, needleMark } from '../pattern/literal.ts'
import type { Matcher } from '../pattern/pattern.ts'
import { Marks } from '../scanner/marks.ts'
import type { Scanner } from '../scanner/scanner.ts'
import { type ShapedLines, shapedLines } from '../scanner/shaped-lines.ts'
import { type Shapes, timelessShapes } from '../scanner/shapes.ts'
import type { Selection } from '../selection.ts'
import { lastTime } from '../text/format.ts'
import type { TimeSpan } from '../text/text.ts'
import type { Zone } from '../time.ts'

/** Which records are wanted. Whole records are kept or dropped; a continuation line goes with its record. */
export interface Filter {
  format: LineFormat
  /** Set if the log was empty: the format is detected from the first lines. */
  undecided?: boolean
  zone: Zone
  selection: Selection
  /** Where its times must be checked. Records that start below `below` must be at or after `at`. */
  since: { at: number; below: number } | null
  /** Records that start at or after `from` must be before `at`. */
  until: { at: number; from: number } | null
  /** Grows by the times of the records that are examined, if times are. */
  times?: TimeSpan | undefined
}

/** Where in a log the times of records must be checked one by one. */
interface CheckedRange {
  from: number
  to: number
}

const EVERYWHERE: CheckedRange = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** The filter of a selection. `since` and `until` are where its times lie in the log; null if all of it is meant. */
export function filterOf(
  selection: Selection,
  {
    format,
    zone,
    since = EVERYWHERE,
    until = EVERYWHERE,
  }: Pick<Filter, 'format' | 'zone'> & { since?: CheckedRange | null; until?: CheckedRange | null },
): Filter {
  return {
    format,
    zone,
    selection,
    since: selection.since === null || isExact(since) ? null : { at: selection.since, below: since.to },
    until: selection.until === null || isExact(until) ? null : { at: selection.until, from: until.from },
  }
}

/** Whether a border alone decides: every record on one side of it is wanted, and none on the other. */
export function isExact(range: CheckedRange | null): range is null {
  return range === null || range.from === range.to
}

/** Part of a log in memory: bytes[from, to), where `base` is the address of bytes[0]. */
export interface Chunk {
  bytes: Uint8Array
  from: number
  to: number
  base: number
  /** The time of the record before the first one, which may have none itself. @default unknown */
  before?: number | undefined
}

/** One record of a chunk, with its own time or the one it inherits. */
export interface Candidate {
  bytes: Uint8Array
  start: number
  end: number
  /** The address of bytes[0]. */
  base: number
  time: number
  /** Where its first line ends. */
  headEnd: number
}

export interface MatchOptions {
  /** Accepts the first record without a test, because its other part was accepted before. @default false */
  first?: boolean
  /** Finds plain text faster, most of all in its own memory; the result is then valid until its next use. */
  scanner?: Scanner | null
}

/** The wanted records of a chunk as pairs of start and end; `from` and `to` must be record borders. */
export function matches(
  chunk: Chunk,
  filter: Filter,
  { first = false, scanner = null }: MatchOptions = {},
): ArrayLike<number> {
  const { bytes, from, to } = chunk
  const { format } = filter
  const { matcher, levels } = filter.selection
  const ranges: number[] = []
  let at = from
  if (first && at < to) {
    const end = endOf(format, bytes, at, to)
    ranges.push(at, end)
    at = end
  }
  const rest = { ...chunk, from: at }
  const isText = matcher?.sure && !format.unwrap && !filter.since && !filter.until && levels === null
  const lines = isText && matcher.needle && scanner?.linesWith(matcher.needle, format.head, rest)
  if (lines) {
    const isAll = ranges.length === 0 && areRecords(lines)
    return isAll ? lines : [...ranges, ...around(lines, rest, format)]
  }
  eachWanted(rest, filter, (record) => ranges.push(record.start, record.end), scanner)
  return ranges
}

/** Whether a scanner is of use: it takes memory. */
export function usesScanner(filter: Filter): boolean {
  const { needle, without } = filter.selection.matcher ?? {}
  return (
    needle !== undefined || without !== undefined || shapedLevel(filter) !== null || marksOf(filter) !== null
  )
}

/** The level below which lines may be left out by their shapes; null if they may not. */
function shapedLevel({ format, selection: { leastLevel } }: Filter): number | null {
  return format.shape !== undefined && leastLevel !== null && leastLevel >= WARN ? leastLevel : null
}

const WARN = LEVELS.indexOf('warn')

/** What leads to the next line that may be in a wanted record; without `find`, every record must be examined. */
interface LineFinder {
  find?: Find | undefined
  /** Set if lines are found by their shapes. */
  shaped?: ShapedLines | null
  /** The shapes of lines, if these may be found by them. */
  shapes?: Shapes | null
}

function finderOf(chunk: Chunk, filter: Filter, scanner: Scanner | null): LineFinder {
  const { format } = filter
  const { matcher } = filter.selection
  // In a wrapped record, the bytes of the file are not what is searched.
  const direct = format.unwrap ? null : matcher
  const lines = direct?.needle && scanner?.linesWith(direct.needle, format.head, chunk)
  if (lines) return { find: nextOf(lines) }
  const level = shapedLevel(filter)
  const shapes =
    scanner && level !== null && textMarks(filter) === null ? timelessShapes(scanner, format) : null
  const shaped = shapes && shapedLines(chunk, format, { scanner: scanner!, shapes, level: level! })
  if (shaped) return { find: shaped.find, shaped, shapes }
  const marks = scanner && marksOf(filter)
  const places = marks && scanner.marked(marks, chunk)
  if (places) return { find: nextMarked(marks, places, chunk.to, lineTest(filter)), shapes }
  const { without } = matcher ?? {}
  const unwanted = without && scanner?.linesWith(without[0]!.needle, undefined, chunk)
  if (!unwanted) return { find: direct?.find?.bind(direct) }
  const finds = without.map(({ find }) => find)
  return { find: nextWithout(unwanted, format, finds) }
}

/** Marks that were made, by their patterns: making them costs as much as searching 100 KB. */
const made = new BoundedMap<string, Marks>(16)

/** What a wanted record must hold; null if that excludes too little. */
function marksOf(filter: Filter): Marks | null {
  return marksFor(textMarks(filter)) ?? levelMarks(filter)
}

function marksFor(patterns: readonly RegExp[] | null | undefined): Marks | null {
  return patterns ? made.use(patterns.join('\n'), () => new Marks(patterns)) : null
}

/** By format and level: to write the patterns anew for every chunk takes as long as to search it. */
const known = new WeakMap<LineFormat, (Marks | null)[]>()

function levelMarks({ format, selection: { leastLevel: level } }: Filter): Marks | null {
  if (level === null) return null
  const levels = known.get(format) ?? []
  known.set(format, levels)
  if (levels[level] === undefined) levels[level] = marksFor(format.marks?.(level))
  return levels[level]
}

function textMarks({ format, selection: { matcher } }: Filter): readonly RegExp[] | null {
  const own = matcher?.needle ? [needleMark(matcher.needle)] : matcher?.marks
  if (!own) return null
  return format.unwrap ? (format.wrap?.(own) ?? null) : own
}

/**
 * Whether a record with a marked line may hold the wanted text, by that line and its border with the next one; undefined if
 * the line alone does not say.
 */
function lineTest({ format, selection: { matcher } }: Filter): LineTest | undefined {
  const { needle, find } = matcher ?? {}
  if (!format.crosses || !needle || !find) return undefined
  const areNext = (byte: number, next?: number) => isPair(needle, byte, next)
  const { length } = needle.low
  return (bytes, at, to) => {
    // `at` is where the mark ends, and the text begins with the mark: so it is within its length of here.
    if (find(bytes, Math.max(0, at - length), Math.min(to, at + length)) >= 0) return true
    const from = bytes.lastIndexOf(LF, at) + 1
    return format.crosses!(bytes, { from, end: lineEnd(bytes, at, to), to }, areNext)
  }
}

type LineTest = (bytes: Uint8Array, at: number, to: number) => boolean

const LF = 10

/**
 * Finds the next marked line. The first and the last one count as marked: a mark may begin before the chunk, such as a
 * line break, and end behind it.
 */
function nextMarked(marks: Marks, places: Int32Array, to: number, mayHold?: LineTest): Find {
  let i = 0
  let isFirst = true
  return (bytes, from) => {
    if (isFirst) {
      isFirst = false
      return from
    }
    for (; i < places.length; i++) {
      const last = marks.lastByte(bytes, places[i]!, to)
      if (last >= from && (mayHold?.(bytes, last, to) ?? true)) return last
    }
    return to - 1
  }
}

/** Calls `visit` for each wanted record of a chunk. The record is one object for all calls: one per record costs a tenth. */
export function eachWanted(
  chunk: Chunk,
  filter: Filter,
  visit: (record: Candidate) => void,
  scanner: Scanner | null = null,
): void {
  const { find, shaped, shapes } = finderOf(chunk, filter, scanner)
  const { bytes, from, to, base, before = Number.NaN } = chunk
  const { format } = filter
  const timed = filter.since !== null || filter.until !== null
  const { times } = filter
  let at = from
  let found = 0
  // A record without a time has that of the record before it.
  const record: Candidate = {
    bytes,
    start: at,
    end: at,
    base,
    time: before,
    headEnd: lineEnd(bytes, at, to),
  }
  while (at < to) {
    let level: number | undefined
    if (find) {
      const hit = find(bytes, at, to)
      if (hit < 0) break
      found++
      level = shaped?.level
      at = level === undefined ? startOf(format, { bytes, from: at, to }, hit) : hit
      record.headEnd = level === undefined ? lineEnd(bytes, at, to) : shaped!.headEnd
    }
    // Each line is examined once: where it ends, and whether it starts the next record.
    let end = level === undefined ? record.headEnd + 1 : shaped!.end
    let nextHeadEnd = to
    for (; end < to; end = nextHeadEnd + 1) {
      if (level !== undefined && shaped!.isWhole) break
      nextHeadEnd = lineEnd(bytes, end, to)
      if (format.starts(bytes, end, nextHeadEnd)) break
    }
    record.start = at
    record.end = Math.min(end, to)
    if (timed) {
      const time = format.time(bytes, at, record.headEnd, filter.zone)
      if (!Number.isNaN(time)) record.time = time
      else if (find) record.time = lastTime(format, filter.zone, bytes, [from, at, before])
      if (times) widen(times, record.time)
    }
    if (isWanted(record, filter, level)) visit(record)
    at = record.end
    record.headEnd = nextHeadEnd
  }
  shapes?.found(found, to - from)
}

/** NaN is no time. */
function widen(times: TimeSpan, time: number): void {
  if (time < times.earliest) times.earliest = time
  if (time > times.latest) times.latest = time
}

/** Whether every line is known to be a whole record. */
function areRecords(lines: Int32Array): boolean {
  for (let i = 0; i < lines.length; i += 2) if (lines[i]! < 0) return false
  return true
}

/** The records of a chunk that contain the given lines, if there is no other condition. */
function around(lines: Int32Array, { bytes, from, to }: Chunk, format: LineFormat): number[] {
  const ranges: number[] = []
  let at = from
  for (let i = 0; i < lines.length; i += 2) {
    let start = startAt(lines, i)
    let end = lines[i + 1]!
    if (start < at) continue
    if (lines[i]! < 0) {
      if (start > at) start = startOf(format, { bytes, from: at, to }, start)
      if (end < to) end = endOf(format, bytes, end - 1, to)
    }
    ranges.push(start, end)
    at = end
  }
  return ranges
}

/** Finds the next of some lines. */
function nextOf(lines: Int32Array): NonNullable<Matcher['find']> {
  let i = 0
  return (_bytes, from) => {
    while (i < lines.length && startAt(lines, i) < from) i += 2
    return i < lines.length ? startAt(lines, i) : -1
  }
}

/**
 * Finds the next record of which the first line is none of some lines, which have the text that the first of `finds`
 * looks for, and has none of the other texts.
 */
function nextWithout(lines: Int32Array, format: LineFormat, [first, ...others]: readonly Find[]): Find {
  let i = 0
  // In a line that wraps another, the text may be in what wraps it.
  const has = (find: Find, bytes: Uint8Array, from: number, to: number) =>
    format.unwrap ? format.holds?.(bytes, from, to, find) === true : find(bytes, from, to) >= 0
  const isOut = (bytes: Uint8Array, from: number, to: number) =>
    !format.unwrap || has(first!, bytes, from, lineEnd(bytes, from, to))
  return (bytes, from, to) => {
    for (let at = from; at < to; ) {
      while (i < lines.length && lines[i + 1]! <= at) i += 2
      if (i < lines.length && startAt(lines, i) <= at && isOut(bytes, at, to)) {
        at = lines[i + 1]!
        continue
      }
      const end = lineEnd(bytes, at, to)
      // What continues a record that was left out is left out with it.
      const isRecord = at === from || format.starts(bytes, at, end)
      if (isRecord && !others.some((find) => has(find, bytes, at, end))) return at
      at = end + 1
    }
    return -1
  }
}

/** Where a line starts, whether or not it is certainly a whole record. */
function startAt(lines: Int32Array, i: number): number {
  const start = lines[i]!
  return start < 0 ? ~start : start
}

/** The time of a record's first line, NaN when it has none. */
export function timeAt(bytes: Uint8Array, start: number, end: number, { format, zone }: Filter): number {
  return format.time(bytes, start, lineEnd(bytes, start, end), zone)
}

/** Whether a record is wanted; `level` is its level, if known. */
export function isWanted(record: Candidate, filter: Filter, level?: number): boolean {
  const { bytes, start, end, base, time } = record
  const { since, until } = filter
  const { levels, matcher } = filter.selection
  if (since && base + start < since.below && !(time >= since.at)) return false
  // What comes before all times is not late.
  if (until && base + start >= until.from && time >= until.at) return false
  // Without a level it is -1, whose bit is never set.
  const levelOf = () => level ?? filter.format.level(bytes, start, record.headEnd, end)
  if (levels !== null && (levels & (1 << levelOf())) === 0) return false
  if (matcher === null) return true
  const text = filter.format.unwrap?.(bytes, start, end)
  return text ? matcher.test(text, 0, text.length, filter) : matcher.test(bytes, start, end, filter)
}

/** Whether bytes[start, end), all of one record, are wanted. */
export function isWantedAlone(bytes: Uint8Array, base: number, filter: Filter, time: number): boolean {
  const end = bytes.length
  return isWanted({ bytes, start: 0, end, base, time, headEnd: lineEnd(bytes, 0, end) }, filter)
}
