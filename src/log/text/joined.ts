import type { Member } from '../../join/members.ts'
import type { JoinedLog } from '../files/joined.ts'
import { badCursor, type Cursor } from './cursor.ts'
import { MemberText } from './member.ts'
import { type Foresight, gone, type LogRequest, type Opener, type OpenLog, openLog } from './open.ts'
import { Series } from './series.ts'
import { holds } from './text.ts'

/** How far into a joined log a request looks: its members are found as they are needed. */
export interface JoinReach {
  /** Bytes that the answer is expected to have. */
  wanted: number
  /** Stored bytes of members to open, from the end or the cursor on. They are read only when needed. */
  bytes: number
  /** Only members of this period, by the times in their keys. */
  since?: number | undefined
  until?: number | undefined
  /** Whether a wider attempt would cost too much. */
  isWidest?: boolean
}

/** Parallel requests for members. */
const AT_ONCE = 8
/** Members of a period up to here are fetched at once. */
const MAX_PREFETCH = 24
const MAX_PREFETCH_BYTES = 8 * 1024 * 1024
const EVERYTHING: JoinReach = { wanted: 0, bytes: Number.POSITIVE_INFINITY }

/** Opens a log, whether it is joined or not. */
export async function openAnyLog(
  opener: Opener,
  request: LogRequest,
  foresight?: Foresight,
  reach = EVERYTHING,
): Promise<OpenLog> {
  const joined = await opener.files.joined?.(request.file)
  return (joined && (await openJoined(opener, joined, request, reach))) ?? openLog(opener, request, foresight)
}

/** Opens a joined log; null if it has no objects, so that the name may belong to a file. */
async function openJoined(
  opener: Opener,
  log: JoinedLog,
  { cursor }: LogRequest,
  reach: JoinReach,
): Promise<OpenLog | null> {
  const members: Opener = { ...opener, files: log.files }
  if (cursor) return openAt(members, log, cursor, reach)
  const found = await log.find(reach, opener.budget.signal)
  if (found.members.length === 0 && !found.older && !found.newer) return null
  const parts = found.members.map(({ entry }) => new MemberText(members, entry))
  if (parts.length === 0) return { series: await Series.open([emptyPart(members)], found), at: null }
  await prefetch(parts, reach)
  return { series: await Series.open(parts, found), at: null }
}

/** A period without members is an empty text. */
function emptyPart(opener: Opener): MemberText {
  return new MemberText(opener, { key: '', size: 0, modified: 0, etag: '""' })
}

async function openAt(
  opener: Opener,
  log: JoinedLog,
  { place, direction }: { place: Cursor; direction: 'before' | 'after' },
  reach: JoinReach,
): Promise<OpenLog | null> {
  const { signal } = opener.budget
  const last = log.memberOf(place.name)
  if (!last) {
    const { members } = await log.find({ bytes: 1 }, signal)
    if (members.length === 0) return null
    throw badCursor(direction, 'belongs to another log file')
  }
  const bytes = direction === 'before' ? reach.bytes : 1
  const found = await log.find({ bytes, last, since: reach.since }, signal)
  const own = found.members.at(-1)
  if (own?.entry.key !== place.name) throw gone()
  const text = new MemberText(opener, own.entry)
  if (!(await text.reaches(place.offset)) || !(await holds(text, place.print))) throw gone()
  const open = ({ entry }: Member) => new MemberText(opener, entry)
  if (direction === 'before') {
    const parts = [...found.members.slice(0, -1).map(open), text]
    await prefetch(parts, reach)
    return { series: await Series.open(parts, found), at: place.offset }
  }
  const newer = withinBytes(await log.after(own, signal), reach.bytes).map(open)
  await inBatches(newer, (part) => part.size())
  const series = await Series.open([text, ...newer], { older: true })
  return { series, at: (await series.base(0)) + place.offset }
}

/** The first members up to this many stored bytes, and at least one. */
function withinBytes(members: Member[], bytes: number): Member[] {
  let sum = 0
  return members.filter(({ entry }, i) => {
    sum += entry.size
    return i === 0 || sum <= bytes
  })
}

/**
 * Reads what will be needed in parallel. The amount of text in a member is known only after it was read, so the newest
 * one is read first, and then as many as its compression ratio suggests.
 */
async function prefetch(parts: readonly MemberText[], { wanted, since, until }: JoinReach): Promise<void> {
  const total = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  if (since !== undefined || until !== undefined) {
    if (parts.length > MAX_PREFETCH || total > MAX_PREFETCH_BYTES) return
    await inBatches(parts, (part) => part.head(1))
    return
  }
  const newest = parts.at(-1)!
  if (wanted === 0 || newest.entry.size > MAX_PREFETCH_BYTES) return
  const ratio = Math.max(1, (await newest.size()) / Math.max(1, newest.entry.size))
  let expected = newest.entry.size * ratio
  const next: MemberText[] = []
  for (let i = parts.length - 2; i >= 0 && expected < wanted && next.length < MAX_PREFETCH; i--) {
    next.push(parts[i]!)
    expected += parts[i]!.entry.size * ratio
  }
  await inBatches(next, (part) => part.size())
}

async function inBatches(parts: readonly MemberText[], work: (part: MemberText) => Promise<unknown>) {
  for (let i = 0; i < parts.length; i += AT_ONCE) await Promise.all(parts.slice(i, i + AT_ONCE).map(work))
}
