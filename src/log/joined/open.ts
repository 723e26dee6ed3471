import type { Member } from '../../join/member.ts'
import type { Members } from '../../join/members.ts'
import {
  gone,
  type LogRequest,
  type Opener,
  type OpenLog,
  openRotated,
  type Prefetch,
} from '../rotated/open.ts'
import { badCursor, type Cursor } from '../text/cursor.ts'
import { Series } from '../text/series.ts'
import { holds } from '../text/text.ts'
import type { JoinedLog } from './log.ts'
import { fetchMembers, MemberText } from './member.ts'

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
/** Members that are fetched ahead of a search, at least. */
const LEAST_AHEAD = 4
/** Stored bytes that are fetched in parallel before they are needed: of the end of a log, and of a period. */
const MAX_PREFETCH = 8 * 1024 * 1024
const MAX_PERIOD = 32 * 1024 * 1024
/** The compression ratio that is assumed until a member has been read. */
const LIKELY_RATIO = 8
const EVERYTHING: JoinReach = { wanted: 0, bytes: Number.POSITIVE_INFINITY }

/** Opens a log, whether it is joined or not. */
export async function openLog(
  opener: Opener,
  request: LogRequest,
  prefetch?: Prefetch,
  reach = EVERYTHING,
): Promise<OpenLog> {
  const joined = await opener.files.joined?.(request.file)
  return (
    (joined && (await openJoined(opener, joined, request, reach))) ?? openRotated(opener, request, prefetch)
  )
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
  const ahead = await fetchAhead(parts, reach, opener.parallel)
  return { series: await Series.open(parts, { ...near, ahead }), at: null, joined: true }
}

/** Opens the beginning of a log, or of a period. */
async function openFirst(opener: Opener, log: JoinedLog, reach: JoinReach): Promise<OpenLog | null> {
  const { signal } = opener.budget
  const { nearSince } = reach
  const before = nearSince === undefined ? null : await log.find({ bytes: 1, until: nearSince }, signal)
  const start = before?.members.at(-1) ?? (await log.oldest(signal))
  if (!start) return null
  const { members, newer } = await log.from(start, reach.bytes / AHEAD, { signal })
  const texts = members.map(({ entry }) => new MemberText(opener, entry))
  if (texts.length === 0) throw gone()
  await fetchMembers(texts, opener.parallel)
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
  const text = await memberAt(opener, found.members.at(-1), place)
  const parts = [...found.members.slice(0, -1).map(({ entry }) => new MemberText(opener, entry)), text]
  const ahead = await fetchAhead(parts, reach, opener.parallel)
  const series = await Series.open(parts, { older: found.older, ahead })
  return { series, at: place.offset, joined: true }
}

/** Opens a log from a cursor on. */
async function openFrom(
  opener: Opener,
  log: JoinedLog,
  { last, place, reach }: { last: Member; place: Cursor; reach: JoinReach },
): Promise<OpenLog> {
  // Every member up to the end of the series is read, so this begins with what the answer needs at least.
  const { members, newer } = await log.from(last, reach.bytes / AHEAD, { signal: opener.budget.signal })
  const text = await memberAt(opener, members[0], place)
  const texts = members.slice(1).map(({ entry }) => new MemberText(opener, entry))
  await fetchMembers(texts, opener.parallel)
  const series = await Series.open([text, ...texts], { older: true, newer })
  return { series, at: (await series.base(0)) + place.offset, joined: true }
}

/** The member that a cursor points into; an error if it is gone or is another one now. */
async function memberAt(opener: Opener, own: Member | undefined, place: Cursor): Promise<MemberText> {
  if (own?.entry.key !== place.name) throw gone()
  const text = new MemberText(opener, own.entry)
  if (!(await text.reaches(place.offset)) || !(await holds(text, place.print))) throw gone()
  return text
}

/**
 * Fetches what will be needed in parallel. Returns how many members to fetch ahead of the reader. How much text a
 * member has is known only after it was read, so a tail takes more of them until it has enough.
 */
async function fetchAhead(
  parts: readonly MemberText[],
  { wanted, bytes, since, until }: JoinReach,
  parallel = 1,
): Promise<number> {
  const stored = storedIn(parts)
  // What is fetched ahead must still be kept when it is needed.
  const ahead = Math.max(LEAST_AHEAD, Math.min(parallel, Math.floor((MAX_PREFETCH * parts.length) / stored)))
  // Where a period begins is an offset from its end, so all of it is needed.
  if (since !== undefined) {
    if (bytes !== Number.POSITIVE_INFINITY && stored <= MAX_PERIOD) await fetchMembers(parts, parallel)
    return ahead
  }
  if (until !== undefined || wanted === 0) return ahead
  let text = 0
  let read = 0
  for (let end = parts.length; end > 0 && text < wanted; ) {
    const ratio = read === 0 ? LIKELY_RATIO : Math.max(1, text / read)
    let start = end - 1
    let expected = parts[start]!.entry.size
    while (start > 0 && text + expected * ratio < wanted) expected += parts[--start]!.entry.size
    if (read + expected > MAX_PREFETCH) return ahead
    const next = parts.slice(start, end)
    await fetchMembers(next, parallel)
    for (const part of next) text += await part.size()
    read += expected
    end = start
  }
  return 0
}

function storedIn(parts: readonly MemberText[]): number {
  return parts.reduce((sum, { entry }) => sum + entry.size, 0)
}
