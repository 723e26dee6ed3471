import type { Entry } from '../../store/store.ts'
import type { Fingerprint } from '../text/cursor.ts'
import { byChange, changesOf, hasText, isArchivedFirst, isByChange, isChanged } from './by-change.ts'
import { byName, byNameReversed, isActive, type RotatedFile } from './by-name.ts'
import { kinOf, type NamedFiles } from './kin.ts'
import { isRotatedName } from './names.ts'
import { rolledMembers } from './rolled.ts'
import { CLOCK_CHANGE_MS, type FirstAndLast, insertByTime, isRising, isWithin, overlap } from './times.ts'

/** What the beginning of a file says about its place in the family. The caller reads it: this file reads nothing. */
export interface Head extends FirstAndLast {
  /** Equal if two files begin with the same text; null when there is too little text to tell. */
  print: string | null
  /** What was read of it, whether it has times or not; absent where nothing was. */
  begin?: Fingerprint
  /** Bytes of text; absent for a compressed file that has not been read to its end. */
  length?: number
}

type HeadOf = (entry: Entry) => Head | undefined

/** Whether a file is the beginning of another one; undefined if that is not known yet. */
type IsBeginning = (one: Entry, other: Entry) => boolean | undefined

/** The files of one log, in order. */
export interface Family {
  /** Oldest first. Each text is there once. */
  members: Entry[]
  /** False when names, records and modification times contradict each other, so that the order is a guess. */
  certain: boolean
  /** Whether the log has a file that is always the newest, such as `app.log` before its rotated files. */
  fixed: boolean
  /** Files whose head would make the order more certain. */
  wanted: Entry[]
  /** Compressed files that may be copies of others; only their length would tell. */
  unmeasured: Entry[]
  /** Files that begin like others and are not longer; only a comparison would tell if they are copies. */
  unproven: [one: Entry, other: Entry][]
  /** Files whose last record would tell whether they are copies of others, or go on after others begin. */
  unended: Entry[]
  /** Other names of members: links, and files with the same text. */
  aliases: ReadonlyMap<string, string>
}

/** The most heads to read; the members before these are sorted by modification time. */
const MAX_HEADS = 200
/** Up to this many files, all heads are read where a few may mislead. */
const MAX_ALL = 50
/** How many of the newest files are compared with their neighbours if those may be copies. */
const MAX_COPIES = 500
/** A copy and its original have about the same modification time. */
const COPY_MS = 2000

/**
 * The files of the log that `name` belongs to. `broker-slow.log` is not a relative of `broker.log`. Numbers have no
 * agreed direction (logrotate's `.1` is the newest, Log4j's the oldest), so heads and times of change decide:
 * call it again with what it `wanted`. With 50,000 files, a step takes some milliseconds.
 */
export function* familyOf(
  name: string,
  named: NamedFiles,
  headOf: HeadOf,
  isBeginning: IsBeginning,
): Generator<void, Family> {
  const dashed = rolledMembers(name, named.dashed, headOf)
  const kin = yield* kinOf(dashed.log, named, dashed.members)
  yield
  const aliases = new Map(kin.aliases)
  const shipped = yield* arrangeShipped(kin.members, headOf)
  yield
  const { unended, ...arranged } = withActiveLast(shipped, headOf)
  const unproven: Family['unproven'] = []
  const isProven = (one: RotatedFile, other: RotatedFile) => {
    if (!isCopyOf(one, other, headOf)) return false
    // The end of an archive is not compared: it would have to be read through.
    const isSame = one.compressed || other.compressed || isBeginning(one.entry, other.entry)
    if (isSame === undefined) unproven.push([one.entry, other.entry])
    return isSame === true
  }
  const single = withoutCopies(arranged.order, headOf, isProven, aliases)
  yield
  const newest = single.at(-1)
  return {
    members: single.map((member) => member.entry),
    certain: arranged.certain,
    fixed: newest !== undefined && isActive(newest),
    wanted: [...new Set([...arranged.wanted, ...dashed.wanted])].filter(
      (entry) => entry.size > 0 && headOf(entry) === undefined,
    ),
    unmeasured: [...alike(arranged.order, headOf).values()]
      .flat()
      .map(({ entry }) => entry)
      .filter((entry) => headOf(entry)?.length === undefined),
    unproven,
    unended,
    aliases,
  }
}

/** The index of a name in a family, under that name or another; -1 if it is not in it. */
export function placeIn({ members, aliases }: Family, name: string): number {
  const key = originalOf(name, aliases)
  return members.findIndex((member) => member.key === key)
}

/** The member that a name stands for: an archive may be one of a copy, which is left out, too. */
function originalOf(name: string, aliases: ReadonlyMap<string, string>): string {
  const original = aliases.get(name)
  return original === undefined ? name : originalOf(original, aliases)
}

/** The name of a member: `file`, if that is another name of it, such as a link. */
export function nameIn({ aliases }: Family, { key }: Entry, file: string): string {
  return originalOf(file, aliases) === key ? file : key
}

/** The last file that a request for `name` reaches: the newest, unless that is fixed and another one was asked for. */
export function lastFor(family: Family, name: string): number {
  const own = placeIn(family, name)
  return family.fixed && own >= 0 ? own : family.members.length - 1
}

/** The files that a request for the whole log of `name` reads: up to that file, or all for the log's own name. */
export function lastOfWhole(family: Family, name: string): number {
  return isRotatedName(name) ? placeIn(family, name) : lastFor(family, name)
}

/**
 * Two files that begin alike and have the same length are copies: `app.log.1` beside `app.log.2.gz` in the middle of a
 * sync. So is the beginning of the active file under a rotated name, while it is copied before it is truncated. The
 * uncompressed one stays, and the newer of two. Where that is not known, a repetition is better than a loss.
 */
function withoutCopies(
  order: RotatedFile[],
  headOf: HeadOf,
  isCopy: (one: RotatedFile, other: RotatedFile) => boolean,
  aliases: Map<string, string>,
): RotatedFile[] {
  const groups = alike(order, headOf)
  return order.filter((member) => {
    const others = groups.get(headOf(member.entry)?.print ?? '') ?? []
    const original = others.find((other) => other !== member && isCopy(member, other))
    if (!original) return true
    aliases.set(member.entry.key, original.entry.key)
    return false
  })
}

/** Files that begin with the same text, if there is more than one. */
function alike(order: readonly RotatedFile[], headOf: HeadOf) {
  const groups = new Map<string, RotatedFile[]>()
  for (const member of order) {
    const print = headOf(member.entry)?.print
    // Files with the same beginning were shipped as lives of their own because they differ.
    if (!print || member.shipped) continue
    const group = groups.get(print) ?? []
    group.push(member)
    groups.set(print, group)
  }
  for (const [print, group] of groups) if (group.length < 2) groups.delete(print)
  return groups
}

function isCopyOf(one: RotatedFile, other: RotatedFile, headOf: HeadOf): boolean {
  const [length, full] = [headOf(one.entry)?.length, headOf(other.entry)?.length]
  if (length === undefined || full === undefined) return false
  if (length < full) return isActive(other) && !one.compressed
  if (length > full || isActive(one)) return false
  // Of two identical files, only one is dropped.
  if (isActive(other) || one.compressed !== other.compressed) return isActive(other) || one.compressed
  return byName(one, other) < 0
}

interface Arranged {
  order: RotatedFile[]
  certain: boolean
  wanted: Entry[]
  /** Files whose last record would make the order more certain. */
  unended?: Entry[]
}

function* arrangeShipped(members: RotatedFile[], headOf: HeadOf): Generator<void, Arranged> {
  const late = members.filter(({ unclear }) => unclear === 'older').sort(byName)
  if (late.length === 0) return yield* arrange(members, headOf)
  const numbered = members.filter(({ unclear }) => unclear !== 'older')
  const { order, certain, wanted } = yield* arrange(numbered, headOf)
  const read = [...late, ...order.slice(-MAX_HEADS)].map(({ entry }) => entry)
  const timeOf = ({ entry }: RotatedFile) => headOf(entry)?.time ?? Number.NaN
  const inserted = insertByTime(order, late, timeOf)
  return { order: inserted.order, certain: certain && inserted.certain, wanted: [...wanted, ...read] }
}

/**
 * A compressed file does not grow, and neither does a copy of lines of the active file, which a restore may leave:
 * whatever their times of change say, an active file that is not compressed is newer. In a log that reuses its names in
 * turn, a newer file has later records.
 */
function withActiveLast(arranged: Arranged, headOf: HeadOf): Required<Arranged> {
  const { order, unended: wanted = [] } = arranged
  const active = order.find((member) => isActive(member) && !member.compressed)
  const behind = active ? order.slice(order.indexOf(active) + 1) : []
  if (!active || behind.length === 0) return { ...arranged, unended: wanted }
  const plain = behind.filter(({ compressed, entry }) => !compressed && entry.size > 0)
  const unended =
    plain.length > MAX_ALL || plain.length === 0
      ? wanted
      : [...wanted, ...unendedIn([active, ...plain], headOf)]
  if (!plain.every(({ entry }) => isWithin(headOf(entry), headOf(active.entry))))
    return { ...arranged, unended }
  const others = order.filter((member) => member !== active)
  return { ...arranged, order: [...others, active], certain: false, unended }
}

/** Files that are not compressed and whose last record is not known. */
function unendedIn(files: readonly RotatedFile[], headOf: HeadOf): Entry[] {
  return files
    .filter(({ compressed }) => !compressed)
    .map(({ entry }) => entry)
    .filter((entry) => typeof headOf(entry)?.time === 'number' && headOf(entry)!.last === undefined)
}

function* arrange(members: RotatedFile[], headOf: HeadOf): Generator<void, Arranged> {
  const order = [...members].sort(byName)
  yield
  // A shipper compares whole files: what it shipped as two lives is no copy.
  const newest = order.filter(({ shipped }) => !shipped).slice(-MAX_COPIES)
  const copies = newest.flatMap((member, i) =>
    i > 0 && mayBeCopy(newest[i - 1]!, member) ? [newest[i - 1]!, member] : [],
  )
  if (isClear(order)) return { order, certain: true, wanted: copies.map(({ entry }) => entry) }
  const rotated = order.filter((member) => !isActive(member))
  yield
  const directions = [order, [...members].sort(byNameReversed)]
  yield
  const isSure = isUniform(rotated) && directions.some((order) => isRising(changesOf(order), -1))
  const asked = isSure || rotated.length > MAX_ALL ? sampleOf(rotated) : rotated
  const sample = [...asked, ...order.filter(isActive)].filter(hasText)
  const wanted = [...new Set([...sample, ...copies])].map(({ entry }) => entry)
  if (wanted.some((entry) => entry.size > 0 && headOf(entry) === undefined))
    return { ...byChangeAlone(order), wanted }
  yield
  // The heads of few are known.
  const known = new Map(
    directions.map((order) => [order, order.flatMap(({ entry }) => headOf(entry)?.time ?? [])]),
  )
  yield
  const timesIn = (order: RotatedFile[]) => known.get(order)!
  if (timesIn(order).length < 2 && rotated.length > 1) return { ...byChangeAlone(order), wanted }
  const agreed = directions.find((order) => isRising(changesOf(order)) && isRising(timesIn(order)))
  // If all files begin at the same moment, their records do not decide, and an archive that seems to be the newest was
  // probably made late.
  const isTied = directions.every((order) => isRising(timesIn(order)))
  const isTimed = timesIn(order).length === order.filter(hasText).length
  if (isTied && isTimed && agreed === order && isArchivedLate(order, directions[1]!))
    return { order: directions[1]!, certain: false, wanted }
  const isNear = (order: RotatedFile[]) => isRising(timesIn(order), CLOCK_CHANGE_MS)
  const isUsual =
    isByChange(order, directions[1]!) && (isArchivedFirst(order) || !directions.some(isArchivedFirst))
  if (agreed && (agreed === order || !isUsual)) return { order: agreed, certain: true, wanted }
  // A record of the active file is the newest: with it, and one of each other file, an order on which all evidence agrees is
  // right. If a file goes on after the next one begins, the clock was set back instead, and an archive was made late.
  const isWitnessed =
    isTimed && order.some((member) => isActive(member) && headOf(member.entry)?.time != null)
  if (agreed && isWitnessed && !overlap(agreed.filter(hasText).map(({ entry }) => headOf(entry))))
    return { order: agreed, certain: true, wanted, unended: unendedIn(rotated, headOf) }
  // The hour that comes twice in autumn looks like a step back; times of change show that it is none. If a clock was set
  // back by more, records may agree with the numbers in the other direction: times of change and usual numbers weigh more.
  if (isUsual) return { order, certain: agreed ? isRising(timesIn(order)) : isNear(order), wanted }
  const byRecords = byTimes(order, headOf)
  // Records that agree with the names, or with the times of change, need no more.
  if (directions.some((order) => isRising(timesIn(order))) || isRising(changesOf(byRecords.order), -1))
    return byRecords
  const isComplete = byRecords.wanted.every((entry) => entry.size === 0 || headOf(entry) !== undefined)
  const byNames = isComplete ? againstRecords(directions, isNear) : null
  return byNames ? { ...byNames, wanted: byRecords.wanted } : byRecords
}

/**
 * The order by names, where only the records contradict it: the clock was set back, or a file begins with a stray
 * line. The times of change must allow it. If they say nothing, an hour between the records is too little to overrule
 * the names. If both directions fit, files were changed in one tick, and an archive was probably made late.
 */
function againstRecords(directions: readonly RotatedFile[][], isNear: (order: RotatedFile[]) => boolean) {
  const changed =
    directions.find((order, i) => isByChange(order, directions[1 - i]!)) ??
    directions.find(
      (order, i) => isChanged(order, 0) && isArchivedFirst(order) && !isArchivedFirst(directions[1 - i]!),
    )
  if (changed) return { order: changed, certain: isNear(changed) }
  const near = directions.find((order) => isRising(changesOf(order)) && isNear(order))
  return near ? { order: near, certain: false } : null
}

/** Whether the names alone give the order: a date and time that no other member has needs no evidence. */
export function isClear(order: readonly RotatedFile[]): boolean {
  const rotated = order.filter((member) => !isActive(member))
  if (rotated.some(({ date, unclear }) => date === '' || unclear !== undefined)) return false
  // What follows a date may be a counter, and counters may fall: only one file for a date is clear.
  return new Set(rotated.map(({ date }) => date)).size === rotated.length
}

/** Whether all names are of one kind, so that a few of them show the direction of all. */
function isUniform(rotated: readonly RotatedFile[]): boolean {
  return rotated.every(({ date, unclear }) => !unclear && (date === '') === (rotated[0]!.date === ''))
}

function sampleOf(rotated: readonly RotatedFile[]): RotatedFile[] {
  if (rotated.length <= 4) return [...rotated]
  return [0, 1, rotated.length >> 1, rotated.length - 1].map((i) => rotated[i]!)
}

/** Compressing and renaming keep the time of change, and a copy is made while the log is being written. */
function mayBeCopy(one: RotatedFile, two: RotatedFile): boolean {
  const apart = Math.abs(one.entry.modified - two.entry.modified)
  return apart === 0 || (isActive(two) && apart < COPY_MS)
}

/**
 * The order by modification time, if the records do not decide: in one direction of the names if that fits. If only the
 * unusual direction fits, and the usual one has all archives first, an archive was probably made late. If none fits, such
 * a direction is the best guess, provided that its archives and its other files fit by themselves.
 */
function byChangeAlone(order: RotatedFile[]): Omit<Arranged, 'wanted'> {
  const directions = [order, [...order].sort(byNameReversed)]
  const fitting =
    directions.find((order) => isRising(changesOf(order))) ??
    directions.find((order) => isRising(changesOf(order.filter(hasText))))
  if (!fitting) {
    const likely = directions.find((order) => isChanged(order, 0))
    return { order: likely ?? [...order].sort(byChange), certain: false }
  }
  if (fitting !== order && isArchivedLate(fitting, order)) return { order, certain: false }
  return { order: fitting, certain: true }
}

/** Whether an order has an archive after a plain file, and another one has all archives first. */
function isArchivedLate(order: RotatedFile[], other: RotatedFile[]): boolean {
  return !isArchivedFirst(order) && isArchivedFirst(other)
}

/** The order by the times of the first records; all of them are needed. */
function byTimes(order: RotatedFile[], headOf: HeadOf): Arranged {
  const changed = [...order].sort(byChange)
  const newest = changed.slice(-MAX_HEADS)
  const older = changed.slice(0, -MAX_HEADS)
  const wanted = newest.map(({ entry }) => entry)
  if (newest.some(({ entry }) => headOf(entry) === undefined)) return { ...byChangeAlone(order), wanted }
  const timeOf = ({ entry }: RotatedFile) => headOf(entry)?.time ?? null
  const timed = newest.filter((member) => timeOf(member) !== null)
  timed.sort((a, b) => timeOf(a)! - timeOf(b)! || byChange(a, b))
  const { sorted, fits } = insertByChange(
    timed,
    newest.filter((member) => timeOf(member) === null),
  )
  const certain = fits && older.length === 0 && !isContradicted(timed, timeOf)
  return { order: [...older, ...sorted], certain, wanted }
}

/**
 * Puts files without a time (a new one, or the rest of a line that a rotation cut) where their time of change belongs.
 * The newest of all comes last in any case; for another one the times of change must fit the order.
 */
function insertByChange(timed: readonly RotatedFile[], untimed: readonly RotatedFile[]) {
  const sorted = [...timed]
  let fits = true
  for (const member of [...untimed].sort(byChange)) {
    const { modified, size } = member.entry
    const fresh = isActive(member) && sorted.every(({ entry }) => entry.modified <= modified + COPY_MS)
    const at = fresh ? sorted.length : sorted.findLastIndex(({ entry }) => entry.modified <= modified) + 1
    if (size > 0 && at < sorted.length && !isRising(changesOf(sorted))) fits = false
    sorted.splice(at, 0, member)
  }
  return { sorted, fits }
}

/** A day between a name's date and its records is a matter of zones; more than that is a contradiction. */
const ZONES_MS = 30 * 3_600_000

function isContradicted(full: readonly RotatedFile[], timeOf: (member: RotatedFile) => number | null) {
  let latest = Number.NEGATIVE_INFINITY
  for (const [i, member] of full.entries()) {
    const before = full[i - 1]
    const tie = before && timeOf(before) === timeOf(member) && before.entry.modified === member.entry.modified
    const day = member.unclear
      ? Number.NaN
      : Date.parse(member.date.replace(/^(\d{4})(\d\d)(\d\d).*$/, '$1-$2-$3'))
    if (tie || day < latest - ZONES_MS) return true
    if (day > latest) latest = day
  }
  return false
}
