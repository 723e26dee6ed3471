export interface Period {
  from: number
  to: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A folder that begins a date: `2026`, `2026-11-15`, `20261115`, `date=2026-11-15`, `year=2026`, `2026-11-15T10`. */
const FIRST = /^(?:[A-Za-z_]{1,16}=)?((?:19|20)\d\d)(?:-?(\d\d)(?:-?(\d\d)(?:[T_-](\d\d))?)?)?$/
/** A folder that continues it: `11`, `month=11`. */
const NEXT = /^(?:[A-Za-z_]{1,16}=)?(\d\d)$/
const LIMITS: readonly [least: number, most: number][] = [
  [1900, 2099],
  [1, 12],
  [1, 31],
  [0, 23],
  [0, 59],
]

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** Vector: `1763200000-<uuid>.log.gz`. */
const EPOCH = new RegExp(`^(\\d{10})(\\d{3})?-${UUID}`, 'i')
/** Firehose: `<stream>-<version>-2026-11-15-10-05-30-<uuid>`. */
const DASHED = new RegExp(`-(\\d{4})-(\\d\\d)-(\\d\\d)-(\\d\\d)-(\\d\\d)-(\\d\\d)-${UUID}`, 'i')
/** Logstash: `ls.s3.<uuid>.2026-11-15T10.00.tag.part0.txt`. */
const LOGSTASH = new RegExp(`^ls\\.s3\\.${UUID}\\.(\\d{4})-(\\d\\d)-(\\d\\d)T(\\d\\d)\\.(\\d\\d)\\.`, 'i')

const LOGSTASH_BEGIN = 'ls.s3.'

/**
 * The log and the time of an object that a shipper wrote; null for any other key. The log is the path up to the first
 * dated part. Shippers write UTC. With a full date in its folders, any name counts; without, only the names that Vector,
 * Firehose and Logstash write.
 */
export function parseKey(key: string): { log: string; time: number } | null {
  const segments = key.split('/')
  const name = segments.pop()!
  if (name === '') return null
  const own = timeInName(name)
  const date = fullDate(segments)
  if (!date) return own === null ? null : { log: segments.join('/'), time: own }
  const { from, to } = periodOf(date.numbers)
  const log = segments.slice(0, date.start).join('/')
  // Clamped to its folder's period: folders come in the order of their dates.
  if (own !== null) return { log, time: Math.min(Math.max(own, from), to - 1) }
  // Fluent Bit: the name begins with the seconds.
  const seconds = date.numbers.length === 5 ? /^([0-5]\d)\D/.exec(name) : null
  return { log, time: from + Number(seconds?.[1] ?? 0) * 1000 }
}

/** The folder of an object up to the last part of its date, with a slash at its end; empty if no folder is dated. */
export function datedFolder(key: string): string {
  const segments = key.split('/').slice(0, -1)
  const date = fullDate(segments)
  return date ? `${segments.slice(0, date.end).join('/')}/` : ''
}

/** The time that a key names: an instant, or the period of its folder; null if it is no object of a joined log. */
export function keyPeriod(key: string): Period | null {
  const parsed = parseKey(key)
  if (!parsed) return null
  const segments = key.split('/')
  const isExact = timeInName(segments.pop()!) !== null
  const date = isExact ? null : fullDate(segments)
  return { from: parsed.time, to: date ? periodOf(date.numbers).to : parsed.time }
}

/** Whether the names like this one, in one dated folder, sort by time. */
export function isSortedName(name: string): boolean {
  return !name.includes('/') && (EPOCH.test(name) || timeInName(name) === null)
}

/** How far through the random names of Logstash a key is, from 0 to 1; null for other names. */
export function shareOf(name: string): number | null {
  return LOGSTASH.test(name) ? Number.parseInt(name.slice(LOGSTASH_BEGIN.length, 14), 16) / 2 ** 32 : null
}

/** A name that sorts that far through the random names of Logstash. */
export function nameAtShare(share: number): string {
  return (
    LOGSTASH_BEGIN +
    Math.floor(share * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  )
}

/** The period of a folder below a log, as `2026/11/`; null when it is not dated. */
export function folderPeriod(folder: string): Period | null {
  const segments = folder.replace(/\/$/, '').split('/')
  const date = dateFrom(segments, 0)
  return date && periodOf(date.numbers)
}

/** Whether a folder below a log covers a day or less, so that it is worth listing in full. */
export function isFine(period: Period): boolean {
  return period.to - period.from <= DAY
}

/** A name that sorts where objects of an instant would, among names like this one; null if those hold no time. */
export function nameAt(like: string, instant: number): string | null {
  if (!EPOCH.test(like)) return null
  const millis = /^\d{13}-/.test(like)
  return String(Math.floor(millis ? instant : instant / 1000))
}

export function timeInName(name: string): number | null {
  const epoch = EPOCH.exec(name)
  if (epoch) return Number(epoch[1]) * 1000 + Number(epoch[2] ?? 0)
  const found = DASHED.exec(name) ?? LOGSTASH.exec(name)
  if (!found) return null
  const [year, month, day, hour, minute, second = 0] = found.slice(1).map(Number) as number[]
  const time = Date.UTC(year!, month! - 1, day, hour, minute, second)
  return Number.isNaN(time) ? null : time
}

/** The first date in a path that has at least a day. */
function fullDate(segments: readonly string[]) {
  for (let start = 0; start < segments.length; start++) {
    const date = dateFrom(segments, start)
    if (date && date.numbers.length >= 3) return { start, ...date }
  }
  return null
}

/** Year, month, day, hour and minute from a segment on, as far as they go, and the segment after them. */
function dateFrom(segments: readonly string[], at: number) {
  const first = FIRST.exec(segments[at]!)
  if (!first) return null
  const numbers = first
    .slice(1)
    .filter((text) => text !== undefined)
    .map(Number)
  let end = at + 1
  for (; end < segments.length && numbers.length < LIMITS.length; end++) {
    const next = NEXT.exec(segments[end]!)
    if (!next || !fits(Number(next[1]), numbers.length)) break
    numbers.push(Number(next[1]))
  }
  return numbers.every(fits) ? { numbers, end } : null
}

function fits(value: number, unit: number): boolean {
  const [least, most] = LIMITS[unit]!
  return value >= least && value <= most
}

function periodOf([year = 0, month, day, hour, minute]: readonly number[]): Period {
  const from = Date.UTC(year, (month ?? 1) - 1, day ?? 1, hour ?? 0, minute ?? 0)
  if (month === undefined) return { from, to: Date.UTC(year + 1, 0, 1) }
  if (day === undefined) return { from, to: Date.UTC(year, month, 1) }
  return { from, to: from + (hour === undefined ? DAY : minute === undefined ? HOUR : MINUTE) }
}
