import { decode, type LineFormat, type RecordTaker, skipAnsi } from '../format.ts'
import { levelAt, wordMarks } from '../read/level.ts'
import { isCapital, isLetter } from '../read/words.ts'
import { readBy } from '../record.ts'
import { ProgramReader } from './header.ts'
import { PROGRAMS } from './programs.ts'

/** The programs that may write lines without a time. */
const TIMELESS = PROGRAMS.filter(({ timeless }) => timeless)

/**
 * Lines that begin with a level in capitals or in brackets, and have no time: `INFO [main] o.s.Pool - …`,
 * `[main] INFO …`, `WARNING:root:…`. In a container, the time is that of the container's line.
 */
export const leveledLines: LineFormat = {
  name: 'leveled',
  timed: false,
  leveled: true,
  starts: (bytes, from, to) => levelIn(bytes, from, to) >= 0,
  time: () => Number.NaN,
  level: levelIn,
  marks: (level) => wordMarks(level),
  continues: isTrace,
  ...readBy(readLeveled),
}

/** The level that a line begins with, perhaps behind a thread in brackets; -1 if there is none. */
function levelIn(bytes: Uint8Array, from: number, to: number): number {
  const at = skipAnsi(bytes, from, to)
  const level = wordAt(bytes, at, to)
  if (level >= 0 || bytes[at] !== 0x5b) return level
  const close = bytes.subarray(at, Math.min(to, at + 200)).indexOf(0x5d)
  return close > 0 && bytes[at + close + 1] === 0x20 ? wordAt(bytes, at + close + 2, to) : -1
}

/** The level at bytes[from]: in capitals, or in brackets in any case, and followed by what separates it. */
function wordAt(bytes: Uint8Array, from: number, to: number): number {
  const bracketed = bytes[from] === 0x5b
  const start = skipAnsi(bytes, bracketed ? from + 1 : from, to)
  let end = start
  while (end < to && isLetter(bytes[end]!)) end++
  if (end === start || (!bracketed && !isCapital(bytes, start, end))) return -1
  let next = skipAnsi(bytes, end, to)
  while (next < to && bytes[next] === 0x20) next++
  const isSeparated = bracketed
    ? bytes[next] === 0x5d
    : next > end || bytes[end] === 0x3a || bytes[end] === 0x7c
  return isSeparated ? levelAt(bytes, start, end) : -1
}

/** Lines of a stack trace: they belong to the record above, and show that lines are not records of their own. */
function isTrace(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from]!
  if (first === 0x20 || first === 0x09 || from >= to) return true
  return TRACE.test(decode(bytes, from, Math.min(to, from + 120)))
}

const TRACE =
  /^(?:Caused by: |Traceback |Suppressed: |goroutine \d|[\w$]+(?:\.[\w$]+)*(?:Exception|Error|Throwable)\b|\.\.\. \d+ more)/

const programs = new ProgramReader('', TIMELESS)

function readLeveled(record: RecordTaker, from: number, limit: number): boolean {
  const to = record.scan(from, limit)
  const level = to < 0 ? -1 : levelIn(record.bytes, from, to)
  if (level < 0) return false
  record.untimed()
  return programs.read(record, {
    before: '',
    text: record.text(from, to),
    from,
    to,
    level,
    isLevelAfter: true,
  })
}
