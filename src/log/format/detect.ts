import { UTC } from '../time.ts'
import { postgresqlLines } from './database/postgresql.ts'
import { postgresqlCsvLines } from './database/postgresql-csv.ts'
import { type LineFormat, PLAIN } from './format.ts'
import { jsonLines } from './json/json.ts'
import { logfmtLines } from './json/logfmt.ts'
import { isTabbed, lines24 } from './lines24/lines24.ts'
import type { Reference } from './read/years.ts'
import { CLASSIC } from './rows/classic.ts'
import { DATABASE, GENERAL_LOG } from './rows/database.ts'
import { rowLines } from './rows/row.ts'
import { glogLines } from './stamped/glog.ts'
import { stampedLines } from './stamped/stamped.ts'
import { cri } from './wrapper/cri.ts'
import { docker, fluentBit } from './wrapper/json-wrapper.ts'
import { unwrap, type Wrapper, wrappedLines } from './wrapper/wrapped.ts'

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

type Maker = (reference: Reference) => LineFormat

/** The formats, most precise first: the last one accepts nearly every line that the others accept. */
const FORMATS: readonly Maker[] = [
  (reference) => rowLines(GENERAL_LOG, reference),
  () => lines24,
  () => jsonLines,
  glogLines,
  () => postgresqlCsvLines,
  () => postgresqlLines,
  ...[...DATABASE, ...CLASSIC].map((row) => (reference: Reference) => rowLines(row, reference)),
  () => logfmtLines,
  stampedLines,
]
/** The formats to try on every line if a few lines do not show the format. */
const COMMON: readonly Maker[] = [() => lines24, () => jsonLines, glogLines, () => logfmtLines, stampedLines]
const WRAPPERS: readonly Wrapper[] = [cri, docker, fluentBit]

/**
 * The format of a file, judged by the lines of its head and, if given, of its tail. `more` may begin inside a
 * line. PLAIN if none fits: each line is then a record without time and level.
 */
export function detectFormat(sample: Uint8Array, more?: Uint8Array, options: DetectOptions = {}): LineFormat {
  const given = options.reference ?? Date.now
  const reference = typeof given === 'number' ? () => given : given
  const lines = [...linesOf(sample, false), ...(more ? linesOf(more, true) : [])]
  return wrappedFormat(lines, reference) ?? formatOf(lines, reference)
}

/** The format of lines that wrap others, or null. */
function wrappedFormat(lines: readonly Line[], reference: Reference): LineFormat | null {
  // Wrappers write every line themselves, so checking a few lines is enough to rule them out for other files.
  const few = lines.slice(0, 3)
  for (const wrapper of WRAPPERS) {
    const isWrapped = ([bytes, from, to]: Line) => wrapper.read(bytes, from, to) !== null
    if (!few.some(isWrapped)) continue
    const wrapped = lines.filter(isWrapped)
    if (wrapped.length * 2 < lines.length) continue
    const inner = wrapped.flatMap(([bytes, from, to]) => linesOf(unwrap(wrapper, bytes, from, to), false))
    return wrappedLines(wrapper, formatOf(inner, reference))
  }
  return null
}

function formatOf(lines: readonly Line[], reference: Reference): LineFormat {
  // Trying thirty formats on a thousand lines takes as long as reading them; a few lines are nearly always enough.
  const format = bestOf(FORMATS, spread(lines), reference) ?? bestOf(COMMON, lines, reference)
  if (format === null) return PLAIN
  if (format === lines24) return format
  const { timed, leveled } = flagsOf(format, lines)
  const ambiguousZone = zoneNameIn(format, lines)
  return { ...format, timed, leveled, ...(ambiguousZone && { ambiguousZone }) }
}

/** How many lines all formats are tried on: the first ones, and some from all over. */
const FIRST = 24
const SPREAD = 56

function spread(lines: readonly Line[]): readonly Line[] {
  if (lines.length <= FIRST + SPREAD) return lines
  const step = (lines.length - FIRST) / SPREAD
  return [
    ...lines.slice(0, FIRST),
    ...Array.from({ length: SPREAD }, (_, i) => lines[FIRST + Math.floor(i * step)]!),
  ]
}

/** The first format that has half as many lines as the one with the most; null when none has enough. */
function bestOf(makers: readonly Maker[], lines: readonly Line[], reference: Reference): LineFormat | null {
  const formats: LineFormat[] = []
  const counts: Count[] = []
  for (const make of makers) {
    const format = make(reference)
    formats.push(format)
    const found = count(format, lines)
    counts.push(found)
    // With half of all lines, no other can have more than twice as many.
    if (found.records > 0 && found.lines * 2 >= lines.length) break
  }
  const most = Math.max(...counts.map(({ lines }) => lines))
  // One line in fifty begins a record: stack traces are long. One in a thousand is a coincidence.
  if (most === 0 || most * 50 < lines.length) return null
  const chosen = counts.findIndex(({ records, lines }) => records > 0 && lines * 2 >= most)
  return formats[chosen] ?? null
}

interface Count {
  /** Lines that begin a record with a time or a level. */
  records: number
  /** Those, and other lines that show the format. */
  lines: number
}

type Line = [bytes: Uint8Array, from: number, to: number, open: boolean]

/** How many lines show a format. */
function count(format: LineFormat, lines: readonly Line[]): Count {
  const found = { records: 0, lines: 0 }
  for (const [bytes, from, to, open] of lines) {
    // For a line longer than the sample, only its beginning can be checked.
    const reader = open && format.open ? format.open : format
    if (!(format === lines24 ? isTabbed(bytes, from, to) : reader.starts(bytes, from, to))) {
      if (format.owns?.(bytes, from, to)) found.lines++
      continue
    }
    const says =
      reader.level(bytes, from, to, bytes.length) >= 0 || !Number.isNaN(reader.time(bytes, from, to, UTC))
    if (!says) continue
    found.records++
    found.lines++
  }
  return found
}

/** Whether any line has a time, and any has a level. */
function flagsOf(format: LineFormat, lines: readonly Line[]): { timed: boolean; leveled: boolean } {
  let timed = false
  let leveled = false
  for (const [bytes, from, to, open] of lines) {
    const reader = open && format.open ? format.open : format
    if (!timed) timed = !Number.isNaN(reader.time(bytes, from, to, UTC))
    if (!leveled) leveled = reader.level(bytes, from, to, bytes.length) >= 0
    if (timed && leveled) break
  }
  return { timed, leveled }
}

/** A zone abbreviation in the lines that means several zones. */
function zoneNameIn(format: LineFormat, lines: readonly Line[]): string | null {
  for (const [bytes, from, to] of format.zoneName ? lines : []) {
    const name = format.zoneName!(bytes, from, to)
    if (name) return name
  }
  return null
}

const MAX_LINES = 500

function linesOf(bytes: Uint8Array, cut: boolean): Line[] {
  const lines: Line[] = []
  let from = cut ? bytes.indexOf(0x0a) + 1 : 0
  // A byte order mark is not part of a line.
  if (!cut && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3
  while (from < bytes.length && lines.length < MAX_LINES) {
    const lf = bytes.indexOf(0x0a, from)
    const to = lf < 0 ? bytes.length : lf
    if (to > from && !(to === from + 1 && bytes[from] === 0x0d)) lines.push([bytes, from, to, lf < 0])
    from = to + 1
  }
  return lines
}
