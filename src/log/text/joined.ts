import type { Member, Members } from '../../join/members.ts'
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
  /** Of those, only members of this period and the two next to it on either side are opened. */
  nearSince?: number | undefined
  nearUntil?: number | undefined
  /** Whether the log is read forward, from its beginning or from `nearSince` on. @default false */
  isForward?: boolean
  /** Whether a wider attempt would cost too much. */
  isWidest?: boolean
}

/** How much of a reach is looked at after a cursor. */
const AHEAD = 8
/** Parallel requests for members: Node warns of a leak when more than ten share a signal. */
const AT_ONCE = 8
/** How much is fetched in parallel before it is needed: of the end of a log, and of a period. */
const MAX_PREFETCH = 24
const MAX_PREFETCH_BYTES = 8 * 1024 * 1024
const MAX_PERIOD_BYTES = 32 * 1024 * 1024
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
  if (reach.isForward) return openFirst(members, log, reach)
  const found = await log.find({ ...reach, countUntil: reach.nearUntil }, opener.budget.signal)
  if (found.members.length === 0 && !found.older && !found.newer) return null
  const near = nearest(found, reach)
  const parts = near.members.map(({ entry }) => new MemberText(members, entry))
  if (parts.length === 0)
    return { series: await Series.open([emptyPart(members)], near), at: null, joined: true }
  await prefetch(parts, reach)
  const series = await Series.open(parts, { ...near, ahead: aheadOf(reach) })
  return { series, at: null, joined: true }
}

/** A search goes through one member after another; a tail knows which ones it needs. */
function aheadOf({ wanted }: JoinReach): number {
  return wanted === 0 ? AT_ONCE / 2 : 0
}

/** Opens the beginning of a log, or of a period. */
async function openFirst(opener: Opener, log: JoinedLog, reach: JoinReach): Promise<OpenLog | null> {
  const { signal } = opener.budget
  const { nearSince } = reach
  const before = nearSince === undefined ? null : await log.find({ bytes: 1, until: nearSince }, signal)
  const start = before?.members.at(-1) ?? (await log.oldest(signal))
  if (!start) return null
  const { members, newer } = await log.from(start, reach.bytes / AHEAD, signal)
  const texts = members.map(({ entry }) => new MemberText(opener, entry))
  if (texts.length === 0) throw gone()
  await inBatches(texts, (part) => part.size())
  const older = (before?.members.length ?? 0) > 0
  return { series: await Series.open(texts, { older, newer }), at: null, joined: true }
}

/** Members next to a period that are opened, too. */
const NEXT_TO = 2

/** The members around a period. A log may have hundreds of objects in the margin that a slow shipper needs. */
function nearest(found: Members, { nearSince = -Infinity, nearUntil = Infinity }: JoinReach): Members {
  const { members } = found
  const first = members.findIndex(({ time }) => time >= nearSince)
  const from = Math.max(0, (first < 0 ? members.length : first) - NEXT_TO)
  const to = members.findLastIndex(({ time }) => time <= nearUntil) + 1 + NEXT_TO
  return {
    members: members.slice(from, to),
    older: found.older || from > 0,
    newer: found.newer || to < members.length,
  }
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
  if (direction === 'after') return openFrom(opener, log, { last, place, reach })
  // The member of the cursor may be named by the time when it began, long before the records that are wanted.
  const since = reach.since === undefined ? undefined : Math.min(reach.since, last.time)
  const found = await log.find({ bytes: reach.bytes, last, since }, signal)
  const text = await placed(opener, found.members.at(-1), place)
  const parts = [...found.members.slice(0, -1).map(({ entry }) => new MemberText(opener, entry)), text]
  await prefetch(parts, reach)
  const series = await Series.open(parts, { older: found.older, ahead: aheadOf(reach) })
  return { series, at: place.offset, joined: true }
}

/** Opens a log from a cursor on. */
async function openFrom(
  opener: Opener,
  log: JoinedLog,
  { last, place, reach }: { last: Member; place: Cursor; reach: JoinReach },
): Promise<OpenLog> {
  // Every member up to the end of the series is read, so this begins with what the answer needs at least.
  const { members, newer } = await log.from(last, reach.bytes / AHEAD, opener.budget.signal)
  const text = await placed(opener, members[0], place)
  const texts = members.slice(1).map(({ entry }) => new MemberText(opener, entry))
  await inBatches(texts, (part) => part.size())
  const series = await Series.open([text, ...texts], { older: true, newer })
  return { series, at: (await series.base(0)) + place.offset, joined: true }
}

/** The member that a cursor points into; an error if it is gone or is another one now. */
async function placed(opener: Opener, own: Member | undefined, place: Cursor): Promise<MemberText> {
  if (own?.entry.key !== place.name) throw gone()
  const text = new MemberText(opener, own.entry)
  if (!(await text.reaches(place.offset)) || !(await holds(text, place.print))) throw gone()
  return text
}

/**
 * Reads what will be needed in parallel. The amount of text in a member is known only after it was read, so the newest
 * one is read first, and then as many as its compression ratio suggests.
 */
async function prefetch(
  parts: readonly MemberText[],
  { wanted, bytes, since, until }: JoinReach,
): Promise<void> {
  const total = parts.reduce((sum, { entry }) => sum + entry.size, 0)
  // Where a period begins is an offset from its end, so all of it is needed.
  if (since !== undefined) {
    if (total <= MAX_PERIOD_BYTES && bytes !== Number.POSITIVE_INFINITY)
      await inBatches(parts, (part) => part.size())
    return
  }
  if (until !== undefined) return
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
