import { compressionByName } from '../../codec/kind.ts'
import { includeFilter } from '../../log/files/include.ts'
import { logNames } from '../../log/rotated/family.ts'
import { recordTimes } from '../../log/rotated/heads.ts'
import { type LogName, parseName } from '../../log/rotated/names.ts'
import type { Disk, DiskFile, Listed } from './disk.ts'

/** The time of the first record in a file, and of the last one in its first bytes. */
interface HeadTimes {
  first: number
  last: number
}

interface Member extends LogName {
  file: Listed
}

/** How much of a file is read. */
const HEAD = 4096
/** In autumn, local times step back by an hour. */
const CLOCK_CHANGE_MS = 3_600_000

/**
 * Sorts the files of one log. Dates in names rise. Numbers have no agreed direction: logrotate's `.1` is the newest,
 * Log4j's the oldest. So the times of the first records decide, and where they do not, numbers fall as logrotate's do.
 *
 * Modification times do not decide: a file that is compressed late would seem newer than its successors. The order
 * decides in which sequence files are shipped, never whether.
 */
export class FileOrder {
  readonly #disk: Disk
  /** By file and version. A renamed file keeps its head. */
  #heads = new Map<string, HeadTimes | 'none'>()

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** The files, oldest first. A file with several names is there once. */
  async sort(listed: readonly Listed[]): Promise<Listed[]> {
    const members = membersOf(listed).sort(byName)
    const rotated = members.filter((member) => !isActive(member))
    const active = members.filter(isActive)
    const heads = isClear(rotated) ? new Map() : await this.#read(rotated)
    return [...decide(rotated, heads), ...active].map(({ file }) => file)
  }

  async #read(members: readonly Member[]): Promise<Map<Member, HeadTimes>> {
    const known = new Map<string, HeadTimes | 'none'>()
    const heads = new Map<Member, HeadTimes>()
    for (const member of members) {
      const version = versionOf(member.file)
      const head = this.#heads.get(version) ?? (await readHead(this.#disk, member.file))
      if (head === 'moved') continue
      known.set(version, head)
      if (head !== 'none') heads.set(member, head)
    }
    this.#heads = known
    return heads
  }
}

/** The files of each log, by the log's name. */
export function groupByLog(
  listed: readonly Listed[],
  include: readonly string[] = [],
): Map<string, Listed[]> {
  const included = includeFilter(include)
  const byLog = new Map<string, Listed[]>()
  const logs = logNames(listed.map(toEntry))
  for (const file of listed) {
    const log = logs.get(file.name)!
    if (!included(file.name) || log === '' || log === '.' || log === '..') continue
    const files = byLog.get(log) ?? []
    byLog.set(log, files)
    files.push(file)
  }
  return byLog
}

function toEntry({ name, size, modified }: Listed) {
  return { key: name, size, modified, etag: '' }
}

/** Each file once, under one of its names. */
function membersOf(listed: readonly Listed[]): Member[] {
  const byId = new Map(listed.map((file) => [file.id, file]))
  return [...byId.values()].map((file) => ({ file, ...parseName(file.name) }))
}

/** Whether the names alone give the order: each date is there once. */
function isClear(rotated: readonly Member[]): boolean {
  if (rotated.length < 2) return true
  if (rotated.some(({ unclear }) => unclear !== undefined)) return false
  return new Set(rotated.map(({ date }) => date)).size === rotated.length
}

/** `rotated` are in the order of their names. */
function decide(rotated: readonly Member[], heads: ReadonlyMap<Member, HeadTimes>): readonly Member[] {
  if (heads.size < 2) return rotated
  // Every file may begin with the same line, such as a banner with the time of the build.
  const firsts = new Set([...heads.values()].map(({ first }) => first))
  const timeOf = (member: Member) => heads.get(member)?.[firsts.size > 1 ? 'first' : 'last']
  if (rotated.some(({ unclear }) => unclear !== undefined)) return byTime(rotated, timeOf)
  const reversed = [...rotated].sort(byNameReversed)
  const steps = stepsBack(rotated, timeOf)
  if (isClockChange(rotated, steps)) return rotated
  const long = (steps: readonly number[]) => steps.filter((step) => step > CLOCK_CHANGE_MS).length
  const other = stepsBack(reversed, timeOf)
  const isReversed = long(other) < long(steps) || (long(other) === long(steps) && other.length < steps.length)
  return isReversed ? reversed : rotated
}

type TimeOf = (member: Member) => number | undefined

/** Names such as weekdays say nothing: files with a time are sorted by it, and the others keep their places. */
function byTime(members: readonly Member[], timeOf: TimeOf): Member[] {
  const isTimed = (member: Member) => timeOf(member) !== undefined
  const timed = members.filter(isTimed).sort((a, b) => timeOf(a)! - timeOf(b)!)
  return members.map((member) => (isTimed(member) ? timed.shift()! : member))
}

/** How far each file's time is before that of the file before it, where it is. */
function stepsBack(members: readonly Member[], timeOf: TimeOf): number[] {
  const times = members.map(timeOf).filter((time) => time !== undefined)
  return times.slice(1).flatMap((time, i) => (time < times[i]! ? [times[i]! - time] : []))
}

/** Whether steps back are due to the clock alone: the files were written in the order of their names. */
function isClockChange(members: readonly Member[], steps: readonly number[]): boolean {
  const isAfter = ({ file }: Member, i: number) => i === 0 || members[i - 1]!.file.modified < file.modified
  return (
    steps.every((step) => step <= CLOCK_CHANGE_MS) &&
    members.every((member, i) => !member.compressed && isAfter(member, i))
  )
}

/** The times in a file's head. `none`: it has none, or cannot be read. `moved`: the name has another file now. */
async function readHead(disk: Disk, { name, id, modified }: Listed): Promise<HeadTimes | 'none' | 'moved'> {
  // If the file is needed for more than its head, opening it again says why it cannot be read.
  const file = await disk.open(name).catch(() => null)
  try {
    if (file?.id !== id) return 'moved'
    const bytes = await firstBytes(file, name)
    // The last line may be cut in the middle of its time.
    const whole = bytes.length < HEAD ? bytes.length : bytes.lastIndexOf(10) + 1
    const times = [...recordTimes(bytes.subarray(0, whole || HEAD), modified)]
    return times.length > 0 ? { first: times[0]!, last: times.at(-1)! } : 'none'
  } finally {
    await file?.close()
  }
}

async function firstBytes(file: DiskFile, name: string): Promise<Uint8Array> {
  const kind = compressionByName(name)
  if (!kind) return file.read(0, HEAD)
  if (kind !== 'gzip' && kind !== 'zstd') return new Uint8Array(0)
  const head = new Uint8Array(HEAD)
  let filled = 0
  try {
    for await (const piece of file.inflate(kind)) {
      const part = piece.subarray(0, HEAD - filled)
      head.set(part, filled)
      filled += part.length
      if (filled === HEAD) break
    }
  } catch {
    // A broken archive, or one that is still being written: what it gave is its head.
  }
  return head.subarray(0, filled)
}

/** After a date numbers rise; without one, the highest is the oldest. */
function byName(a: Member, b: Member): number {
  return compare(a.date, b.date) || byIndex(a, b) || a.file.modified - b.file.modified
}

function byNameReversed(a: Member, b: Member): number {
  return compare(a.date, b.date) || byIndex(b, a) || a.file.modified - b.file.modified
}

function byIndex(a: Member, b: Member): number {
  return a.date === '' ? b.index - a.index : a.index - b.index
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function isActive({ date, index, unclear }: LogName): boolean {
  return date === '' && index < 0 && unclear === undefined
}

function versionOf({ id, size, modified, name }: Listed): string {
  return `${id} ${size} ${modified} ${compressionByName(name)}`
}
