import type { Entry } from '../../store/store.ts'

/** What a name tells about a log file: which log it belongs to, and its place among the rotated files. */
export interface LogName {
  /** The name of the active file, `broker.log` for `broker.log.2.gz` and for `broker-2026-11-14.log`. */
  stem: string
  /** Digits of the date and time in the name, empty when it has none. */
  date: string
  /** The number in the name (`.1` is newer than `.2`), -1 when it has none. */
  index: number
  compressed: boolean
}

const COMPRESSED = /\.(?:gz|zst|zstd|zip|bz2|xz)$/i
// A date, perhaps with a time, perhaps with a counter: 2026-11-14, 20261114, 2026-11-14T10-00-00.000, 20261114-1.
const DATE =
  '((?:19|20)\\d\\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\\d|3[01])' +
  '(?:[T_.-]?(?:[01]\\d|2[0-3])(?:[-:.h]?[0-5]\\d(?:[-:.m]?[0-5]\\d(?:[.,-]?\\d{3,9})?)?)?Z?)?)' +
  '(?:[._-](\\d{1,4}))?'
/** logrotate's `dateformat -%s`. */
const EPOCH = '[-.](1\\d{9})'
const AFTER = new RegExp(`^(.+?)[-._]${DATE}$`)
const INSIDE = new RegExp(`^(.+?)[-._]${DATE}(\\.[A-Za-z][A-Za-z0-9]{0,7})$`)
const AFTER_EPOCH = new RegExp(`^(.+\\.[A-Za-z]+)${EPOCH}$`)
const NUMBERED = /^(.+?\.[A-Za-z][A-Za-z0-9_-]*)\.(\d{1,6})$/

/** An older life of a shipped log. A higher number is newer, as a lower index is. */
const LIFE = /^(.+)@(\d{6,8})$/
const LAST_LIFE = 99_999_999

/** Takes a file's name apart. A name in no known form of rotation is its own stem. */
export function parseName(name: string): LogName {
  const life = LIFE.exec(name)
  if (life) return { stem: life[1]!, date: '', index: LAST_LIFE - Number(life[2]), compressed: false }
  const compressed = COMPRESSED.test(name)
  const plain = compressed ? name.replace(COMPRESSED, '') : name
  const dated = (stem: string, date: string, index: string | undefined): LogName => ({
    stem,
    date: date.replace(/\D/g, ''),
    index: index === undefined ? -1 : Number(index),
    compressed,
  })
  const inside = INSIDE.exec(plain)
  if (inside) return dated(`${inside[1]}${inside[4]}`, inside[2]!, inside[3])
  const epoch = AFTER_EPOCH.exec(plain)
  if (epoch) return dated(epoch[1]!, isoDigits(Number(epoch[2])), undefined)
  const after = AFTER.exec(plain)
  if (after) return dated(after[1]!, after[2]!, after[3])
  const numbered = NUMBERED.exec(plain)
  if (numbered) return { stem: numbered[1]!, date: '', index: Number(numbered[2]), compressed }
  return { stem: plain, date: '', index: -1, compressed }
}

/**
 * The files of the log that `name` belongs to, oldest first, the active one last. `broker-slow.log` is no relative
 * of `broker.log`. While a file is being compressed it is there twice: then only the uncompressed one counts.
 */
export function familyOf(name: string, entries: readonly Entry[]): Entry[] {
  const { stem } = parseName(name)
  const prefix = familyPrefix(name)
  const members: Member[] = []
  for (const entry of entries) {
    if (!entry.key.startsWith(prefix)) continue
    const parsed = parseName(entry.key)
    if (parsed.stem === stem) members.push({ entry, ...parsed })
  }
  const plain = new Set(members.filter((member) => !member.compressed).map((member) => member.entry.key))
  const single = members.filter(
    (member) => !member.compressed || !plain.has(member.entry.key.replace(COMPRESSED, '')),
  )
  const rotated = single.filter((member) => member.date !== '' || member.index >= 0)
  // Dates and numbers say nothing about each other: a mixed family is put in order by time of change alone.
  const mixed = rotated.some((member) => member.date !== '') && rotated.some((member) => member.date === '')
  return single.sort(mixed ? byChange : byName).map((member) => member.entry)
}

/** What the names of all members of a family begin with. */
export function familyPrefix(name: string): string {
  return parseName(name).stem.replace(/\.[A-Za-z][A-Za-z0-9]*$/, '')
}

interface Member extends LogName {
  entry: Entry
}

function byName(a: Member, b: Member): number {
  return (
    Number(isActive(a)) - Number(isActive(b)) ||
    compareDates(a.date, b.date) ||
    (a.date === '' ? b.index - a.index : 0) ||
    a.entry.modified - b.entry.modified ||
    a.index - b.index ||
    Number(b.compressed) - Number(a.compressed)
  )
}

function byChange(a: Member, b: Member): number {
  return Number(isActive(a)) - Number(isActive(b)) || a.entry.modified - b.entry.modified || byName(a, b)
}

function isActive(member: Member): boolean {
  return member.date === '' && member.index < 0
}

/** A date without a time is the end of that day's first file or its only one: it sorts before its times. */
function compareDates(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function isoDigits(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace(/\D/g, '')
}
