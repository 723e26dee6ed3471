import { mysqlSlowLines } from './database/mysql-slow.ts'
import { postgresqlLines } from './database/postgresql.ts'
import { postgresqlCsvLines } from './database/postgresql-csv.ts'
import type { LineFormat } from './format.ts'
import { jsonLines } from './json/json.ts'
import { logfmtLines } from './json/logfmt.ts'
import { lindbLines } from './lindb/lindb.ts'
import type { Reference } from './read/years.ts'
import { ACCESS_FORMATS } from './rows/access-lines.ts'
import { CLASSIC } from './rows/classic.ts'
import { DATABASE, GENERAL_LOG } from './rows/database.ts'
import { rowFormat } from './rows/row.ts'
import { glogLines } from './stamped/glog.ts'
import { leveledLines } from './stamped/leveled.ts'
import { stampedLines } from './stamped/stamped.ts'

/** A format that a file may have. */
export interface FormatCandidate {
  /** By first byte: 1 where a line of the format can begin with it. Most formats are ruled out by this alone. */
  first: Uint8Array
  /** Makes the format; `reference` is an instant near the file's last record. */
  make: (reference: Reference) => LineFormat
}

/** The first byte of a colour escape or of a byte order mark, which may come before the line itself. */
const MARKS = '\x1b\xef'
const DIGITS = '0123456789'
const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

const LINDB = starting(DIGITS + MARKS, () => lindbLines)
const OBJECTS = starting('{', () => jsonLines)
const GLOG = starting('DIWEF', glogLines)
const LOGFMT = { first: new Uint8Array(256).fill(1), make: () => logfmtLines }
const STAMPED = { first: new Uint8Array(256).fill(1), make: stampedLines }
const LEVELED = starting(`${CAPITALS}[${MARKS}`, () => leveledLines)

/** The formats, most precise first: the last one accepts nearly every line that the others accept. */
export const FORMATS: readonly FormatCandidate[] = [
  rowFormat(GENERAL_LOG),
  LINDB,
  OBJECTS,
  GLOG,
  starting(DIGITS, () => postgresqlCsvLines),
  { first: new Uint8Array(256).fill(1), make: () => postgresqlLines },
  starting(`#/${CAPITALS}${CAPITALS.toLowerCase()}`, () => mysqlSlowLines),
  ...ACCESS_FORMATS,
  ...[...DATABASE, ...CLASSIC].map(rowFormat),
  LOGFMT,
  STAMPED,
  LEVELED,
]

/** The formats to try on every line if a few lines do not show the format. */
export const COMMON: readonly FormatCandidate[] = [LINDB, OBJECTS, GLOG, LOGFMT, STAMPED, LEVELED]

/**
 * What may occur in a JSON log at any time, and in no sample: a line of the HTTP server through Go's log package, of a
 * library through klog. Only a time at the very beginning counts.
 */
export function strays(reference: Reference): LineFormat[] {
  const stamped = stampedLines(reference)
  const starts: LineFormat['starts'] = (bytes, from, to) =>
    TIMES.first[bytes[from]!] === 1 && stamped.starts(bytes, from, to)
  // All of them are rare.
  const marks = () => [/\n[^{]/]
  return [
    { ...glogLines(reference), marks },
    { ...stamped, starts, marks },
  ]
}

const TIMES = starting(`${DIGITS}[`, stampedLines)

function starting(characters: string, make: FormatCandidate['make']): FormatCandidate {
  const first = new Uint8Array(256)
  for (const character of characters) first[character.charCodeAt(0)] = 1
  return { first, make }
}
