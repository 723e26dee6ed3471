import { COMPRESSED_NAME } from '../../store/codec/kind.ts'

/** What a file's name says: which log it belongs to, and its place among the rotated files. */
export interface LogName {
  /** The log's own name: `broker.log` for `broker.log.2.gz` and for `broker-2026-11-14.log`. */
  stem: string
  /** Digits of the date and time in the name that sort as they are; empty when it has none. */
  date: string
  /** The number in the name, -1 when it has none. What follows a date may be an hour, a minute or a counter. */
  index: number
  compressed: boolean
  /**
   * `weekday`: a name that recurs every week. `day-month`: which of the two is the month is ambiguous. `older`: a file
   * that was shipped after newer ones.
   */
  unclear?: 'weekday' | 'day-month' | 'older'
  shipped?: true
  /** Set when it is a rotated file only if there is a file with the stem's name: `app.1.log` beside `app.log`. */
  weak?: true
}

const EXTENSION = '(?<extension>\\.[A-Za-z][A-Za-z0-9]{0,7})'
const DAY = '(?:19|20)\\d\\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\\d|3[01])'
const US_DAY = '(?:0[1-9]|[12]\\d|3[01])[-_.](?:0[1-9]|[12]\\d|3[01])[-_.](?:19|20)\\d\\d'
/** Hour; hour and minute; or a time with seconds, perhaps with a fraction. Two digits may be a counter instead. */
const SECOND = '(?:[-_:.m]?(?<second>[0-5]\\d(?:[.,_-]?\\d{3,9})?))?'
const TIME = `(?:[T_.-]?(?<hour>[01]\\d|2[0-3])(?:[-_:.h]?(?<minute>[0-5]\\d)${SECOND})?Z?)?`
/** A counter or a process number. */
const COUNTER = '(?:[._-](?<counter>\\d{1,7}))?'
const DATED = `(?<day>${DAY}|${US_DAY})${TIME}${COUNTER}`

/** winston-daily-rotate-file puts its counter after the extension: `app-2026-11-15.log.1`. */
const INSIDE = new RegExp(`^(?<stem>.+?)[-._]{1,2}${DATED}${EXTENSION}(?:\\.(?<index>\\d{1,6}))?$`)
/** Serilog puts the date directly after the name: `log20261115_001.txt`. */
const COMPACT_DAY = `(?<day>${DAY.replaceAll('[-_.]?', '')})`
const JOINED = new RegExp(`^(?<stem>.*?[A-Za-z])${COMPACT_DAY}${TIME}${COUNTER}${EXTENSION}$`)
const AFTER = new RegExp(`^(?<stem>.+?)[-._]{1,2}${DATED}$`)
/** logrotate's `dateformat -%s`, rotatelogs without a format. */
const EPOCH = new RegExp(`^(?<stem>.+?)[-._](?<seconds>1\\d{9})${EXTENSION}?$`)
/** RocksDB: microseconds. */
const OLD_LOG = /^(.+)\.old\.(1\d{15})$/
/** svlogd and multilog: TAI64N, and whether it is finished (`s`), being processed (`t`) or unfinished (`u`). */
const TAI64N = /^@(4[0-9a-f]{23})\.[stu]$/
const CURRENT = 'current'
const DAYS = '(?:mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?'
const WEEKDAY = new RegExp(`^(?<stem>.+?)[-._]${DAYS}${EXTENSION}?$`, 'i')
const NUMBERED: readonly [pattern: RegExp, weak: boolean][] = [
  [/^(?<stem>.+?\.[A-Za-z][A-Za-z0-9_-]*)\.(?<index>\d{1,6})$/, false],
  // `syslog.1`, `ERRORLOG.1`
  [/^(?<stem>[^.]+)\.(?<index>\d{1,6})$/, true],
  // `app.1.log`: logrotate's `extension`, logback's fixed window. `node-1.2.3.log` has a version in its name.
  [new RegExp(`^(?<stem>.+?)(?<!\\d\\.\\d+)\\.(?<index>\\d{1,6})${EXTENSION}$`), true],
  // `log_001.txt`: Serilog by size alone.
  [new RegExp(`^(?<stem>.+?)_(?<index>\\d{3,6})${EXTENSION}$`), true],
]

/** An older life of a shipped log. A higher number is newer, unless it was shipped out of order. */
const LIFE = /^(.+)@(older-)?(\d{6,8})$/

/** Parses a file's name. A name without a known rotation suffix is its own stem. */
export function parseName(name: string): LogName {
  const life = LIFE.exec(name)
  if (life) {
    const date = life[2] ? '' : life[3]!.padStart(8, '0')
    const place = life[2] ? { unclear: 'older' as const } : {}
    return { stem: life[1]!, date, index: -1, compressed: false, shipped: true, ...place }
  }
  const compressed = COMPRESSED_NAME.test(name)
  const plain = compressed ? name.replace(COMPRESSED_NAME, '') : name
  return { ...parsePlain(plain), compressed }
}

/** `core-1.log`: Log4j's default, where the numbers rise. Many other names look like it, such as `worker-1.log`. */
const DASHED = new RegExp(`^(?<log>.+?)-(?<digits>\\d{1,6})${EXTENSION}$`)

/** What a name with a number after a dash says, if it is a rotated file, which only its records can tell; or null. */
export function parseDashed(name: string): LogName | null {
  if (!/-\d/.test(name)) return null
  const { stem, compressed } = parseName(name)
  const { log, digits, extension } = DASHED.exec(stem)?.groups ?? {}
  if (log === undefined || stem !== uncompressedName(name)) return null
  return { stem: `${log}${extension}`, date: '', index: Number(digits), compressed }
}

/** Whether two names may be those of one log's files. */
export function mayBeRelated(one: string, other: string): boolean {
  const stems = (name: string) => [parseName(name).stem, parseDashed(name)?.stem]
  return stems(one).some((stem) => stem !== undefined && stems(other).includes(stem))
}

/** The name without the ending of a compressed file. */
export function uncompressedName(name: string): string {
  return name.replace(COMPRESSED_NAME, '')
}

/** The log that a name belongs to for certain, whatever other files there are. */
export function stemOf(name: string): string {
  const { stem, weak } = parseName(name)
  return weak ? name : stem
}

/** Whether a name has the form of a rotated file: a date, a number or a weekday. */
export function isRotatedName(name: string): boolean {
  return isRotated(parseName(name))
}

/**
 * Whether a name has a date inside, so that its log never has a file without one. A log whose files have dates at their ends
 * has one, which may be missing for a moment while it is rotated.
 */
export function isDatedInside(name: string): boolean {
  const { stem, date } = parseName(name)
  return date !== '' && !name.startsWith(stem)
}

/** The same for a name that was parsed. */
export function isRotated({ date, index, unclear }: LogName): boolean {
  return date !== '' || index >= 0 || unclear !== undefined
}

/** `app.1.log` without an `app.log` is a separate log. Weekdays are a family even without such a file. */
export function isAlone({ stem, weak, unclear }: LogName, keys: ReadonlySet<string>): boolean {
  return weak === true && unclear !== 'weekday' && !keys.has(stem)
}

/** What the names of all members of a family begin with; a rotation moves files from the first prefix to the second. */
export function familyPrefixes(name: string): string[] {
  const { stem } = parseDashed(name) ?? parseName(name)
  if (stem === CURRENT) return [CURRENT, '@4']
  return [stem.replace(/\.[A-Za-z][A-Za-z0-9]*$/, '')]
}

type Plain = Omit<LogName, 'compressed'>

function parsePlain(name: string): Plain {
  const tai = TAI64N.exec(name)
  if (tai) return { stem: CURRENT, date: tai[1]!, index: -1 }
  const old = OLD_LOG.exec(name)
  if (old) return { stem: old[1]!, date: isoDigits(Number(old[2]) / 1000) + old[2]!.slice(-3), index: -1 }
  const inside = (INSIDE.exec(name) ?? JOINED.exec(name))?.groups
  if (inside) return datedName(inside)
  const epoch = EPOCH.exec(name)?.groups
  if (epoch) {
    // A date may come before the seconds: `app.log-20261115-1794735000`.
    const plain = wholeStem(epoch)
    const { stem, date } = parsePlain(plain)
    return { stem: date === '' ? plain : stem, date: isoDigits(Number(epoch.seconds) * 1000), index: -1 }
  }
  const after = AFTER.exec(name)?.groups
  if (after) return datedName(after)
  const weekday = WEEKDAY.exec(name)?.groups
  if (weekday) return { stem: wholeStem(weekday), date: '', index: -1, unclear: 'weekday', weak: true }
  for (const [pattern, weak] of NUMBERED) {
    const found = pattern.exec(name)?.groups
    if (found)
      return { stem: wholeStem(found), date: '', index: Number(found.index), ...(weak && { weak: true }) }
  }
  return { stem: name, date: '', index: -1 }
}

/** The named groups of a pattern that matched. */
type NameGroups = Partial<Record<string, string>>

function wholeStem({ stem, extension = '' }: NameGroups): string {
  return stem + extension
}

/**
 * A name with a date. Whether two digits after it are an hour or a counter makes no difference for the order as long
 * as both are read as numbers; so the last group is the index, unless it is the seconds of a time.
 */
function datedName(groups: NameGroups): Plain {
  const { day = '', hour, minute, second, counter, index } = groups
  const american = /^\d\d[-_.]\d\d[-_.](\d{4})$/.exec(day)
  const digits = american ? american[1]! + day.slice(0, 2) + day.slice(3, 5) : day.replace(/\D/g, '')
  // `15-11-2026` can only be a day and a month; `11-12-2026` can be both.
  const [one, two] = american ? [Number(day.slice(0, 2)), Number(day.slice(3, 5))] : [0, 13]
  const date = one > 12 ? digits.slice(0, 4) + digits.slice(6) + digits.slice(4, 6) : digits
  const unclear = american && one <= 12 && two <= 12 && one !== two ? ({ unclear: 'day-month' } as const) : {}
  const times = [hour, minute].filter((group) => group !== undefined)
  if (second !== undefined) times.push(second.replace(/\D/g, ''))
  const last = asIndex(counter ?? (second === undefined ? times.pop() : undefined))
  const own = { stem: wholeStem(groups), date: date + times.join(''), index: last, ...unclear }
  if (index === undefined) return own
  // A second number counts the files of the first: `app-2026-11-15-10.log.2`.
  const counted = last < 0 ? own.date : own.date + String(last).padStart(2, '0')
  return { ...own, date: counted, index: Number(index) }
}

function asIndex(digits: string | undefined): number {
  return digits === undefined ? -1 : Number(digits)
}

function isoDigits(millis: number): string {
  return new Date(millis).toISOString().slice(0, 23).replace(/\D/g, '').replace(/000$/, '')
}
