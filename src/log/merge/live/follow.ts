import { isTurnOver, yieldToEventLoop } from '../../../kit/limits/yield.ts'
import { HELLO } from '../../follow/frame.ts'
import type { FollowLimits } from '../../follow/hub.ts'
import { encodeMerged, laneKey, type MergedCursor } from '../cursor.ts'
import { type MergedPage, mergePage } from '../merge.ts'
import { isProven, SharedTimeline, type SharedTimelines } from './shared.ts'
import { EventOutput, FollowedTimeline, type MergedFollow, SLICE } from './timeline.ts'

/** How often the newest records are looked for when a log moved meanwhile. */
const TRIES = 3
const NOTHING = new Uint8Array()

/** The timelines that clients share, and what tells one of them from others. */
interface Sharing {
  timelines: SharedTimelines
  key: string
}

/**
 * The newest records of several logs, or those after a place, and then what is appended to them, merged as it arrives.
 * What it yields first is there as soon as the logs have been read once, and may be empty: an answer can begin before
 * anything is appended. Clients that follow the same share the work.
 */
export async function* followMerged(
  follow: MergedFollow,
  limits: FollowLimits,
  signal: AbortSignal,
  sharing: Sharing,
): AsyncGenerator<Uint8Array> {
  const { events, request } = follow
  // Without events, a client that reads slowly could not be told what is left out.
  const shared = events && limits.shared ? sharing : null
  const isFollowed = shared && isAtEnd(request) && (yield* followShared(follow, limits, signal, shared))
  if (!isFollowed) yield* followAlone(follow, limits, signal, shared)
}

function isAtEnd({ cursor, first }: MergedFollow['request']): boolean {
  return cursor === null && !first
}

/**
 * Follows logs from their ends with others. False if the place in a log proves nothing, or if it moved meanwhile, so that
 * its newest records were not found.
 */
async function* followShared(
  follow: MergedFollow,
  limits: FollowLimits,
  signal: AbortSignal,
  { timelines, key }: Sharing,
): AsyncGenerator<Uint8Array, boolean> {
  const shared = await timelines.open(key, follow, limits)
  const reader = shared.join()
  try {
    if (!isProven(shared.place) || !(yield* recordsBefore(shared, follow, signal))) return false
    yield* shared.read(reader, signal)
    return true
  } finally {
    shared.leave(reader)
  }
}

/** The newest records so far; false if a log moved. Its page is gone before the client waits for more. */
async function* recordsBefore(
  { timeline, place }: SharedTimeline,
  follow: MergedFollow,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, boolean> {
  const page = await newestBefore(place, timeline, follow, signal)
  if (page.lost.length > 0) {
    page.release()
    return false
  }
  yield* recordsOf(page, place, timeline, follow)
  return true
}

/** Follows logs for one client, with `sharing` until they are at a place where others are, too. */
async function* followAlone(
  follow: MergedFollow,
  limits: FollowLimits,
  signal: AbortSignal,
  sharing: Sharing | null,
): AsyncGenerator<Uint8Array> {
  const { events, request, tell } = follow
  const left = new AbortController()
  const leave = () => left.abort()
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  const timeline = new FollowedTimeline(follow, limits, left.signal)
  let isOwn = true
  try {
    await timeline.open()
    if (isAtEnd(request)) yield* newest(timeline, follow, signal)
    else {
      tell?.(timeline.missing)
      yield events ? HELLO : NOTHING
    }
    const frames = timeline.appended()
    for (let next = await frames.next(); !next.done; next = await frames.next()) {
      yield next.value
      if (!sharing) continue
      let shared = sharing.timelines.get(sharing.key)
      const number = shared ? shared.after(timeline.cursor) : null
      if (shared ? number === null : timeline.isBehind) continue
      isOwn = false
      signal.removeEventListener('abort', leave)
      if (shared) timeline.close()
      else {
        // Others may follow this one from now on.
        shared = new SharedTimeline(timeline, frames, limits, left)
        sharing.timelines.share(sharing.key, shared)
      }
      const reader = shared.join(number ?? shared.next)
      try {
        yield* shared.read(reader, signal)
      } finally {
        shared.leave(reader)
      }
      return
    }
  } finally {
    signal.removeEventListener('abort', leave)
    if (isOwn) timeline.close()
  }
}

/** The newest records of logs that nobody else follows; one that moved meanwhile is opened again. */
async function* newest(
  timeline: FollowedTimeline,
  follow: MergedFollow,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let page = await newestBefore(timeline.cursor, timeline, follow, signal)
  for (let tries = 1; page.lost.length > 0 && tries < TRIES; tries++) {
    page.release()
    await timeline.reopen(page.lost)
    page = await newestBefore(timeline.cursor, timeline, follow, signal)
  }
  yield* recordsOf(page, timeline.cursor, timeline, follow)
}

/** The newest records before a place in each log. */
async function newestBefore(
  place: MergedCursor,
  timeline: FollowedTimeline,
  { request, writer, tell }: MergedFollow,
  signal: AbortSignal,
): Promise<MergedPage> {
  const sources = timeline.readable
  const keys = new Set(sources.map(laneKey))
  // Of a log without a place, an unfinished line would be read, too.
  const lanes = new Map([...place.lanes].filter(([key]) => keys.has(key)))
  const cursor = { place: { ...place, lanes }, direction: 'before' as const }
  const page = await mergePage(sources, { ...request, cost: writer.cost, cursor }, signal)
  tell?.([...page.missing, ...timeline.missing])
  timeline.reached(page.records.at(-1)?.placed ?? Number.NEGATIVE_INFINITY)
  return page
}

/** The records of a page, as they are sent. */
async function* recordsOf(
  page: MergedPage,
  end: MergedCursor,
  { sources }: FollowedTimeline,
  follow: MergedFollow,
): AsyncGenerator<Uint8Array> {
  try {
    yield follow.events ? HELLO : NOTHING
    const out = new EventOutput(follow)
    const places = follow.events ? page.places() : null
    let left = page.records.length
    for (const record of page.records) {
      const isLast = --left === 0
      const place = (await places?.next())?.value as MergedCursor
      // After the last one, the logs are at their ends: these are proven, also if what leads there is in several files.
      out.record(record, () => encodeMerged(isLast ? { ...end, time: record.placed } : place, sources))
      if (out.length >= SLICE || isTurnOver()) yield out.take()
      if (isTurnOver()) await yieldToEventLoop()
    }
    if (out.length > 0) yield out.take()
  } finally {
    page.release()
  }
}
