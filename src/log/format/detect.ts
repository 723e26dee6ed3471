import { UTC } from '../time.ts'
import { type LineFormat, PLAIN } from './format.ts'
import { jsonLines, openJson } from './json/json.ts'
import { logfmtLines } from './json/logfmt.ts'
import { isTabbed, lines24 } from './lines24/lines24.ts'
import { glogLines } from './stamped/glog.ts'
import { stampedLines } from './stamped/stamped.ts'

export { type LineFormat, PLAIN, type RecordFields } from './format.ts'
export { LEVELS, type LevelName, parseLevel } from './read/level.ts'

/** What else is known of a file. */
export interface DetectOptions {
  /** An instant near the file's last record, such as its modified time: some formats have no year. @default now */
  reference?: number | undefined
}

/**
 * The format of a file, judged by the lines of its head and, where given, of its tail. `more` may begin inside a
 * line. PLAIN when none fits: each line is then a record of its own, without time and level.
 */
export function detectFormat(sample: Uint8Array, more?: Uint8Array, options: DetectOptions = {}): LineFormat {
  const reference = options.reference ?? Date.now()
  const lines = [...linesOf(sample, false), ...(more ? linesOf(more, true) : [])]
  // The order is that of precision: the last takes nearly every line that the first takes.
  const candidates = [lines24, jsonLines, glogLines(reference), logfmtLines, stampedLines(reference)]
  const counts: Count[] = []
  for (const format of candidates) {
    const found = count(format, lines)
    counts.push(found)
    // With half of all lines, no other can have more than twice as many.
    if (found.records > 0 && found.records * 2 >= lines.length) break
  }
  const most = Math.max(...counts.map(({ records }) => records))
  // One line in fifty begins a record: stack traces are long. One in a thousand is a coincidence.
  if (most === 0 || most * 50 < lines.length) return PLAIN
  const chosen = counts.findIndex(({ records }) => records * 2 >= most)
  const format = candidates[chosen]!
  const { timed, leveled } = counts[chosen]!
  return format === lines24 ? format : { ...format, timed, leveled }
}

interface Count {
  records: number
  timed: boolean
  leveled: boolean
}

type Line = [bytes: Uint8Array, from: number, to: number, open: boolean]

/** How many lines begin a record that has a time or a level. */
function count(format: LineFormat, lines: Line[]): Count {
  let records = 0
  let timed = false
  let leveled = false
  for (const [bytes, from, to, open] of lines) {
    // Of a line longer than the sample, only the beginning can tell.
    const reader = open && format === jsonLines ? openJson : format
    if (!(format === lines24 ? isTabbed(bytes, from, to) : reader.starts(bytes, from, to))) continue
    const hasTime = !Number.isNaN(reader.time(bytes, from, to, UTC))
    const hasLevel = reader.level(bytes, from, to) >= 0
    timed ||= hasTime
    leveled ||= hasLevel
    if (hasTime || hasLevel) records++
  }
  return { records, timed, leveled }
}

const MAX_LINES = 500

function linesOf(bytes: Uint8Array, cut: boolean): Line[] {
  const lines: Line[] = []
  let from = cut ? bytes.indexOf(0x0a) + 1 : 0
  // A byte order mark belongs to no line.
  if (!cut && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3
  while (from < bytes.length && lines.length < MAX_LINES) {
    const lf = bytes.indexOf(0x0a, from)
    const to = lf < 0 ? bytes.length : lf
    if (to > from && !(to === from + 1 && bytes[from] === 0x0d)) lines.push([bytes, from, to, lf < 0])
    from = to + 1
  }
  return lines
}
