import { asOne } from '../../kit/bytes.ts'
import { systemClock } from '../../kit/limits/clock.ts'
import { UTC } from '../time.ts'
import { COMMON, FORMATS, type FormatCandidate, strays } from './candidates.ts'
import { type LineFormat, PLAIN } from './format.ts'
import { jsonFor } from './json/dialect.ts'
import { jsonLines } from './json/json.ts'
import { isTabbed, lindbLines } from './lindb/lindb.ts'
import { mixedLines } from './mixed.ts'
import type { Reference } from './read/years.ts'
import { cri } from './wrapper/cri.ts'
import { docker, fluentBit } from './wrapper/json-wrapper.ts'
import { type Wrapped, type Wrapper, wrappedLines } from './wrapper/wrapped.ts'

export { type LineFormat, PLAIN, type RecordFields } from './format.ts'
export { LEVELS, type LevelName, parseLevel } from './read/level.ts'

/** What else is known about a file. */
export interface DetectOptions {
  /**
   * An instant near the file's last record, such as its modification time: some formats have no year, or no date. A
   * function if the file grows while it is read. @default now
   */
  reference?: number | Reference | undefined
}

const WRAPPERS: readonly Wrapper[] = [cri, docker, fluentBit]

/**
 * The format of a file, judged by the lines of its head and, if given, of its tail. `more` may begin inside a
 * line. PLAIN if none fits: each line is then a record without time and level.
 */
export function detectFormat(sample: Uint8Array, more?: Uint8Array, options: DetectOptions = {}): LineFormat {
  const given = options.reference ?? systemClock.now
  const reference = typeof given === 'number' ? () => given : given
  const lines = [...linesOf(sample, false), ...(more ? linesOf(more, true) : [])]
  return wrappedFormat(lines, reference) ?? formatOf(lines, reference)
}

/** The format of lines that wrap others, or null. */
function wrappedFormat(lines: readonly SampleLine[], reference: Reference): LineFormat | null {
  for (const wrapper of WRAPPERS) {
    const inner = innerLines(wrapper, lines)
    if (inner) return wrappedLines(wrapper, formatOf(inner, reference))
  }
  return null
}

/** The lines inside the wrapped ones, whole; null if fewer than half are wrapped. */
function innerLines(wrapper: Wrapper, lines: readonly SampleLine[]): SampleLine[] | null {
  const inner: SampleLine[] = []
  let wrapped = 0
  let parts: Uint8Array[] = []
  for (const [i, { bytes, from, to }] of lines.entries()) {
    const line = wrapper.read(bytes, from, to)
    if (line) {
      wrapped++
      if (!line.partial && parts.length === 0) pushInner(inner, line, bytes)
      else parts.push(line.bytes.slice(line.from, line.to))
      if (!line.partial) parts = endParts(inner, parts, false)
    }
    // Wrappers write every line themselves, so checking a few lines is enough to rule them out for other files.
    if (wrapped === 0 && i === FEW - 1) return null
  }
  endParts(inner, parts, true)
  return wrapped > 0 && wrapped * 2 >= lines.length ? inner : null
}

const FEW = 3

/** Adds an inner line where it is; one that was unescaped, which can hold line breaks, is copied. */
function pushInner(inner: SampleLine[], { bytes, from, to }: Wrapped, outer: Uint8Array): void {
  if (bytes !== outer) inner.push(...linesOf(bytes.slice(from, to), false, false))
  else if (!isBlank(bytes, from, to)) inner.push({ bytes, from, to, open: false })
}

/** Adds an inner line that came in parts; returns the parts of the next one, which are none. */
function endParts(inner: SampleLine[], parts: readonly Uint8Array[], open: boolean): [] {
  if (parts.length > 0) inner.push(...linesOf(asOne(parts), false, open))
  return []
}

function formatOf(lines: readonly SampleLine[], reference: Reference): LineFormat {
  // Trying thirty formats on a thousand lines takes as long as reading them; a few lines are nearly always enough.
  const few = spread(lines)
  const usual = bestOf(FORMATS, few, reference)
  const main = usual ?? bestOf(COMMON, lines, reference)
  if (main === null) return PLAIN
  if (main === lindbLines) return main
  const format = withOthers(main === jsonLines ? jsonFor(few) : main, few, reference)
  const timed = lines.some((line) => hasTime(format, line))
  const leveled = lines.some((line) => hasLevel(format, line))
  const ambiguousZone = zoneNameIn(format, usual ? few : lines)
  return { ...format, timed, leveled, ...(ambiguousZone && { ambiguousZone }) }
}

/** A format together with another one that the lines show, if there is one. */
function withOthers(main: LineFormat, lines: readonly SampleLine[], reference: Reference): LineFormat {
  const rest = lines.filter((line) => {
    const { bytes, from, to } = line
    return !readerOf(main, line).starts(bytes, from, to) && !main.owns?.(bytes, from, to)
  })
  const isEnough = (count: number) => count >= 2 && count * 50 >= lines.length
  const other = isEnough(rest.length) ? bestOf(FORMATS, rest, reference) : null
  // JSON among other lines may be quoted in a message: only with a level it is a record.
  const isRecord = ({ bytes, from, to }: SampleLine) =>
    other!.starts(bytes, from, to) &&
    !Number.isNaN(other!.time(bytes, from, to, UTC)) &&
    (other!.name !== jsonLines.name || other!.level(bytes, from, to) >= 0)
  if (other && other.name !== main.name && isEnough(rest.filter(isRecord).length))
    return mixedLines(`${main.name} and ${other.name}`, main, [other])
  return main.name === jsonLines.name ? mixedLines(main.name, main, strays(reference)) : main
}

/** How many lines all formats are tried on: the first ones, and some from all over. */
const FIRST = 24
const SPREAD = 56

function spread(lines: readonly SampleLine[]): readonly SampleLine[] {
  if (lines.length <= FIRST + SPREAD) return lines
  const step = (lines.length - FIRST) / SPREAD
  return [
    ...lines.slice(0, FIRST),
    ...Array.from({ length: SPREAD }, (_, i) => lines[FIRST + Math.floor(i * step)]!),
  ]
}

/** Lines that belong to no record, for each record: a file may begin inside a stack trace. */
const MOST_OTHERS = 50

/** The first format that has half as many lines as the one with the most; null when none has enough. */
function bestOf(
  candidates: readonly FormatCandidate[],
  lines: readonly SampleLine[],
  reference: Reference,
): LineFormat | null {
  const beginnings = [...new Set(lines.map(({ bytes, from }) => bytes[from]!))]
  const counts: (FormatCount & { format: LineFormat })[] = []
  for (const { first, make } of candidates) {
    if (!beginnings.some((byte) => first[byte] === 1)) continue
    const format = make(reference)
    const found = { format, ...count(format, first, lines) }
    // A record far into other lines is a coincidence.
    if (found.lines === 0 || found.others > found.lines * MOST_OTHERS) continue
    if (!format.timed && !explains(format, lines)) continue
    counts.push(found)
    // With half of all lines, no other can have more than twice as many.
    if (found.records > 0 && found.lines * 2 >= lines.length) break
  }
  const most = Math.max(0, ...counts.map(({ lines }) => lines))
  return counts.find(({ records, lines }) => records > 0 && lines * 2 >= most)?.format ?? null
}

/** Without times, a level word may be a coincidence: half of the lines must begin or continue a record. */
function explains(format: LineFormat, lines: readonly SampleLine[]): boolean {
  const known = lines.filter(
    ({ bytes, from, to }) => format.starts(bytes, from, to) || format.continues?.(bytes, from, to),
  )
  return known.length * 2 >= lines.length
}

interface FormatCount {
  /** Lines that begin a record with a time or a level. */
  records: number
  /** Those, and other lines that show the format. */
  lines: number
  /** Lines that neither show the format nor belong to a record before them. */
  others: number
}

/** A line of the sample; `open` if its end is not in it. */
interface SampleLine {
  bytes: Uint8Array
  from: number
  to: number
  open: boolean
}

/** How many lines show a format. */
function count(format: LineFormat, first: Uint8Array, lines: readonly SampleLine[]): FormatCount {
  const found = { records: 0, lines: 0, others: 0 }
  let isLeveled = false
  for (const line of lines) {
    const { bytes, from, to } = line
    const mayBegin = first[bytes[from]!] === 1
    const isStart =
      mayBegin &&
      (format === lindbLines ? isTabbed(bytes, from, to) : readerOf(format, line).starts(bytes, from, to))
    const hasOwnLevel = isStart && hasLevel(format, line)
    if (hasOwnLevel || (isStart && hasTime(format, line))) {
      isLeveled = hasOwnLevel
      found.records++
      found.lines++
    } else if (mayBegin && !isStart && format.owns?.(bytes, from, to)) found.lines++
    // What follows an error may be its stack trace, however long that is; below a mere time, it is indented.
    else if (!isLeveled && (found.records === 0 || bytes[from]! > 0x20)) found.others++
  }
  return found
}

/** Reads a line of a sample: of one longer than the sample, only the beginning can be checked. */
function readerOf(format: LineFormat, { open }: SampleLine): Pick<LineFormat, 'starts' | 'time' | 'level'> {
  return open && format.open ? format.open : format
}

const hasTime = (format: LineFormat, line: SampleLine) =>
  !Number.isNaN(readerOf(format, line).time(line.bytes, line.from, line.to, UTC))
const hasLevel = (format: LineFormat, line: SampleLine) =>
  readerOf(format, line).level(line.bytes, line.from, line.to, line.bytes.length) >= 0

/** A zone abbreviation in the lines that means several zones. */
function zoneNameIn(format: LineFormat, lines: readonly SampleLine[]): string | null {
  for (const { bytes, from, to } of format.zoneName ? lines : []) {
    const name = format.zoneName!(bytes, from, to)
    if (name) return name
  }
  return null
}

const MAX_LINES = 500

function linesOf(bytes: Uint8Array, cut: boolean, open = true): SampleLine[] {
  const lines: SampleLine[] = []
  let from = cut ? bytes.indexOf(0x0a) + 1 : 0
  // A byte order mark is not part of a line.
  if (!cut && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3
  while (from < bytes.length && lines.length < MAX_LINES) {
    const lf = bytes.indexOf(0x0a, from)
    const to = lf < 0 ? bytes.length : lf
    if (!isBlank(bytes, from, to)) lines.push({ bytes, from, to, open: lf < 0 && open })
    from = to + 1
  }
  return lines
}

/** Whether a line has nothing but perhaps a CR. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  return to <= from || (to === from + 1 && bytes[from] === 0x0d)
}
