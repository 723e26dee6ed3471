import { byName, byNameReversed, isActive, type RotatedFile } from '../../log/rotated/by-name.ts'
import { isClear } from '../../log/rotated/family.ts'
import { parseDashed, parseName } from '../../log/rotated/names.ts'
import { CLOCK_CHANGE_MS } from '../../log/rotated/times.ts'
import { compressionByName } from '../../store/codec/kind.ts'
import { type Disk, type Listed, toEntry } from './disk.ts'
import { type HeadTimes, readHead } from './heads.ts'

interface Member extends RotatedFile {
  file: Listed
}

/**
 * Sorts the files of one log. Dates in names rise. Numbers have no agreed direction: logrotate's `.1` is the newest,
 * Log4j's the oldest. So the times of the first records decide, and where they do not, numbers fall as logrotate's do.
 *
 * Modification times do not decide: a file that is compressed late would seem newer than its successors. The order
 * decides in which sequence files are shipped, never whether.
 */
export function fileOrder(disk: Disk, log: string) {
  /** By file and version. A renamed file keeps its head. */
  let known = new Map<string, HeadTimes | 'none'>()

  async function headsOf(members: readonly Member[]): Promise<Map<Member, HeadTimes>> {
    const now: typeof known = new Map()
    const heads = new Map<Member, HeadTimes>()
    for (const member of members) {
      const version = versionOf(member.file)
      const head = known.get(version) ?? (await readHead(disk, member.file))
      if (head === 'moved') continue
      now.set(version, head)
      if (head !== 'none') heads.set(member, head)
    }
    known = now
    return heads
  }
  /** The files, oldest first. A file with several names is there once. */
  return async (listed: readonly Listed[]): Promise<Listed[]> => {
    const members = membersOf(log, listed).sort(byName)
    const rotated = members.filter((member) => !isActive(member))
    const heads = rotated.length < 2 || isClear(rotated) ? new Map() : await headsOf(rotated)
    return [...decide(rotated, heads), ...members.filter(isActive)].map(({ file }) => file)
  }
}

/** Each file once, under one of its names. */
function membersOf(log: string, listed: readonly Listed[]): Member[] {
  const byId = new Map(listed.map((file) => [file.id, file]))
  return [...byId.values()].map((file) => {
    const dashed = parseDashed(file.name)
    return { file, entry: toEntry(file), ...(dashed?.stem === log ? dashed : parseName(file.name)) }
  })
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

function versionOf({ id, size, modified, name }: Listed): string {
  return `${id} ${size} ${modified} ${compressionByName(name)}`
}
