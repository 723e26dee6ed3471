import { byTime, type Member } from '../join/member.ts'
import type { Members } from '../join/members.ts'
import { badCursor } from '../text/cursor.ts'
import { gone, type LogRequest, type Opener, type OpenLog } from '../text/open.ts'
import { Series } from '../text/series.ts'
import { holds } from '../text/text.ts'
import type { JoinedLog } from './log.ts'
import { fetchAhead, fetchMembers, memberText } from './member.ts'
import { keyTimes, type SearchWindow, WIDER } from './reach.ts'
import { isSkewed } from './skew.ts'

/** Forward, every member up to the end of the series is read, so an attempt covers this much less. */
const FORWARD_SHARE = 8
/** Members next to a period that are opened, too. */
const NEXT_TO = 2

/** A log of at most this many stored bytes is opened whole for a period, so that misleading keys hide nothing. */
const WHOLE = 4 * 1024 * 1024

/** Opens a joined log; null if it has no objects, so that the name may belong to a file. */
export async function openJoined(
  opener: Opener,
  log: JoinedLog,
  { cursor, context }: LogRequest,
  reach: SearchWindow,
): Promise<OpenLog | null> {
  const { signal } = opener.budget
  const here = cursor && log.memberOf(cursor.place.name)
  if (cursor && !here) {
    if ((await log.find({ bytes: 1 }, signal)).members.length === 0) return null
    throw badCursor(cursor.direction, 'belongs to another log file')
  }
  const isForward = cursor ? cursor.direction === 'after' : reach.isForward
  const { since, until } = reach.period
  const isPeriod = since !== null || until !== null
  const whole = isPeriod ? await log.whole(WHOLE, signal) : null
  const found = whole
    ? membersIn(whole, here, isForward)
    : await (isForward ? membersFrom : membersUpTo)(log, here, reach, signal)
  if (found === null) return null
  const { older, newer } = found
  const beside =
    here && context !== undefined ? await besideOf(log, here, reach, { isForward, signal }) : NOTHING
  const members = isForward ? [...beside.members, ...found.members] : [...found.members, ...beside.members]
  const entries = members.length > 0 ? members.map(({ entry }) => entry) : [NO_ENTRY]
  const parts = entries.map((entry) => memberText({ ...opener, files: log.files }, entry))
  const index = isForward ? beside.members.length : parts.length - 1 - beside.members.length
  const own = parts[index]!
  if (cursor && !(own.name === cursor.place.name && (await holds(own, cursor.place)))) throw gone()
  // A whole log is read, whatever its keys say.
  const isDoubtful = isPeriod && !whole && (older || newer)
  const fetching = isForward
    ? fetchMembers(parts, opener.parallel).then(() => 0)
    : fetchAhead(parts, reach, opener.parallel)
  const [ahead, skewed] = await Promise.all([fetching, isDoubtful && isSkewed(opener, log, parts)])
  const series = await Series.open(parts, ahead)
  const base = cursor ? await series.addresses.base(index) : 0
  const beyond = { older, newer, isSkewed: skewed, beside: beside.isMore }
  return { series, at: cursor && base + cursor.place.offset, beyond }
}

/** Stored bytes of members that are opened on the other side of a cursor, for the records around a match. */
const BESIDE = 1024 * 1024
const NOTHING = { members: [], isMore: false }

/** The members on the side of a cursor's member that is not read: context may be there. */
async function besideOf(
  log: JoinedLog,
  here: Member,
  { attempt, bytes }: SearchWindow,
  { isForward, signal }: { isForward: boolean; signal: AbortSignal | undefined },
) {
  const most = bytes === Number.POSITIVE_INFINITY ? bytes : BESIDE * WIDER ** (attempt - 1)
  if (isForward) {
    const { members, older } = await log.find({ bytes: most, last: here }, signal)
    return { members: members.filter((member) => byTime(member, here) < 0), isMore: older }
  }
  const { members, newer } = await log.from(here, most, { signal })
  return { members: members.filter((member) => byTime(member, here) > 0), isMore: newer }
}

/** The members of a whole log from one on, or up to it. */
function membersIn(all: Member[], here: Member | null, isForward: boolean): Members | null {
  if (all.length === 0) return null
  if (!here) return { members: all, older: false, newer: false }
  const index = all.findIndex((member) => byTime(member, here) === 0)
  if (index < 0) throw gone()
  if (isForward) return { members: all.slice(index), older: index > 0, newer: false }
  return { members: all.slice(0, index + 1), older: false, newer: false }
}

/** A period without members is an empty text. */
const NO_ENTRY = { key: '', size: 0, modified: 0, etag: '""' }

/** A member and those after it, or those from the beginning of the log or of a period on; null if there are none. */
async function membersFrom(log: JoinedLog, here: Member | null, reach: SearchWindow, signal?: AbortSignal) {
  const { nearSince } = keyTimes(reach)
  const before =
    here || nearSince === undefined ? null : await log.find({ bytes: 1, until: nearSince }, signal)
  const first = here ?? before?.members.at(-1) ?? (await log.oldest(signal))
  if (!first) return null
  const { members, newer } = await log.from(first, reach.bytes / FORWARD_SHARE, { signal })
  if (members.length === 0) throw gone()
  return { members, newer, older: here !== null || (before?.members.length ?? 0) > 0 }
}

/** A member and those before it, or those up to the end of the log or of a period; null if there are none. */
async function membersUpTo(log: JoinedLog, here: Member | null, reach: SearchWindow, signal?: AbortSignal) {
  const { bytes } = reach
  const { since, until, nearSince, nearUntil } = keyTimes(reach)
  if (here) {
    // The member of a cursor may be named by the time when it began, long before the records that are wanted.
    const from = since === undefined ? undefined : Math.min(since, here.time)
    return { ...(await log.find({ bytes, last: here, since: from }, signal)), newer: false }
  }
  const found = await log.find({ bytes, since, until, countUntil: nearUntil }, signal)
  if (found.members.length === 0 && !found.older && !found.newer) return null
  return nearest(found, nearSince, nearUntil)
}

/** The members around a period. A log may have hundreds of objects in the margin that a slow shipper needs. */
function nearest({ members, older, newer }: Members, since = -Infinity, until = Infinity): Members {
  const first = members.findIndex(({ time }) => time >= since)
  const from = Math.max(0, (first < 0 ? members.length : first) - NEXT_TO)
  const to = members.findLastIndex(({ time }) => time <= until) + 1 + NEXT_TO
  return {
    members: members.slice(from, to),
    older: older || from > 0,
    newer: newer || to < members.length,
  }
}
