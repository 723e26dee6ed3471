import { claim } from '../../core/http/caller.ts'
import { respond } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import { inTime } from '../../kit/limits/clock.ts'
import { perOwner } from '../../kit/limits/once.ts'
import type { LogFiles } from '../../log/files/files.ts'
import { Followers } from '../../log/follow/followers.ts'
import type { FollowLimits } from '../../log/follow/hub.ts'
import { followStream } from '../../log/follow/stream.ts'
import { followMerged } from '../../log/merge/live/follow.ts'
import { SharedTimelines } from '../../log/merge/live/shared.ts'
import type { ViewContext } from '../../log/view/context.ts'
import { filterKey, handedQuery } from '../parameters/query-text.ts'
import { cannotFollow, cursorOf, followOf, recordOptions } from '../parameters/view-request.ts'
import type { MergedRequest } from './export.ts'
import { allMissing, cursorReader, elsewhere, type MergedRoute, sourceHeaders } from './route.ts'

/** `follow=true` of several logs: sends the newest records, stays open, and sends what is appended to any of them. */
export async function followLogs(
  request: Request,
  query: Query,
  route: MergedRoute,
  { asked, common, writer }: MergedRequest,
): Promise<Response> {
  const { following, count } = route
  if (following === null) throw cannotFollow()
  const { events, headers, lastId } = followOf(request, query, common)
  const { sources, ...rest } = await route.pick(query, request.signal)
  const decode = cursorReader(query, sources)
  const cursor = lastId
    ? { place: decode(lastId, 'Last-Event-ID'), direction: 'after' as const }
    : cursorOf(query, decode)
  if (request.method === 'HEAD')
    return new Response(null, { headers: { ...headers, ...sourceHeaders(rest) } })
  const ended = new AbortController()
  const signal = AbortSignal.any([request.signal, ended.signal])
  claim(request, signal)
  let { missing } = rest
  const others = elsewhere(route, handedQuery(query, asked.selection))
  const key = JSON.stringify([events, asked.selection.since, asked.selection.until, filterKey(query)])
  const { owner, viewer } = route.sharing
  const [logs, written] = [[query.files ?? query.file, query.node], recordOptions(query)]
  const frames = followMerged(
    {
      sources: async (signal) => (await route.pick(query, signal)).sources,
      request: { ...asked, cursor, unlisted: rest.unlisted, elsewhere: others },
      followersOf: ({ context }) => followersOf(context, following),
      key,
      writer,
      events,
      tell: (unread) => {
        missing = allMissing(query, rest.missing, unread)
      },
    },
    following,
    signal,
    { timelines: timelinesOf(owner), key: JSON.stringify([viewer, ...logs, common, written, key]) },
  )
  // The headers name the logs that cannot be read, as far as they are known by then.
  const body = await followStream(() => opened(frames, ended, following), following, count, request.signal)
  return respond(body, { ...headers, ...sourceHeaders({ ...rest, missing }) })
}

const timelinesOf = perOwner((_: object) => new SharedTimelines())

/** The hubs of the logs that timelines follow, by their files: followers of the same logs share them. */
const followers = new WeakMap<LogFiles, Followers>()

function followersOf(context: ViewContext, limits: FollowLimits): Followers {
  const known = followers.get(context.files) ?? new Followers(context, limits)
  followers.set(context.files, known)
  return known
}

/** How long the headers of an answer wait for its logs to be opened: they name those that cannot be read. */
const HEADERS_MS = 2000

/** The frames, once the first is there. Errors are thrown here, unless a busy service takes long to open the logs. */
async function opened(frames: AsyncGenerator<Uint8Array>, ended: AbortController, { clock }: FollowLimits) {
  let first: Promise<IteratorResult<Uint8Array>> | null = frames.next()
  await inTime(clock, HEADERS_MS, first)
  // The client may leave before the first one is read.
  first.catch(() => {})
  return {
    async next() {
      let { done, value } = await (first ?? frames.next())
      first = null
      if (value?.length === 0) ({ done, value } = await frames.next())
      return done ? null : { bytes: value }
    },
    end() {
      ended.abort()
      frames.return(undefined).catch(() => {})
    },
  }
}
