import { claim } from '../../http/caller.ts'
import { respond } from '../../http/sliced.ts'
import { inTime } from '../../limits/clock.ts'
import { LogError } from '../../log/error.ts'
import type { LogFiles } from '../../log/files/files.ts'
import { Followers } from '../../log/follow/followers.ts'
import type { FollowLimits } from '../../log/follow/hub.ts'
import { followMerged } from '../../log/merge/live/follow.ts'
import type { ViewContext } from '../../log/view/context.ts'
import { filterKey } from '../parameters/query-text.ts'
import type { Query } from '../parameters/read.ts'
import { cannotFollow, cursorOf, followOf } from '../parameters/view-request.ts'
import type { MergedRequest } from './export.ts'
import { allMissing, cursorReader, type MergedRoute, sourceHeaders } from './route.ts'

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
  if (count.following >= following.followers)
    throw new LogError('too-busy', 'Too many clients are following logs already; try again later.')
  const ended = new AbortController()
  const signal = AbortSignal.any([request.signal, ended.signal])
  claim(request, signal)
  let { missing } = rest
  const frames = followMerged(
    {
      sources: async () => (await route.pick(query, signal)).sources,
      request: { ...asked, cursor, unlisted: rest.unlisted },
      followersOf: ({ context }) => followersOf(context, following),
      key: JSON.stringify([events, asked.selection.since, asked.selection.until, filterKey(query)]),
      writer,
      events,
      tell: (unread) => {
        missing = allMissing(query, rest.missing, unread)
      },
    },
    following,
    signal,
  )
  count.following++
  const { duration, clock } = following
  // Errors are reported before the answer begins, unless a busy service takes long to read: headers do not wait for that.
  const first = frames.next()
  await inTime(clock, HEADERS_MS, first).catch((error) => {
    count.following--
    throw error
  })
  const cancel = duration === null ? null : clock.after(duration, () => ended.abort())
  let isOpen = true
  const leave = () => {
    if (isOpen) count.following--
    isOpen = false
    ended.abort()
    cancel?.()
  }
  const told = { ...headers, ...sourceHeaders({ ...rest, missing }) }
  return respond(streamOf(frames, first, leave), told)
}

/** The hubs of the logs that timelines follow, by their files: followers of the same logs share them. */
const followers = new WeakMap<LogFiles, Followers>()

function followersOf(context: ViewContext, limits: FollowLimits): Followers {
  const known = followers.get(context.files) ?? new Followers(context, limits)
  followers.set(context.files, known)
  return known
}

/** How long the headers of an answer wait for its logs to be opened: they name those that cannot be read. */
const HEADERS_MS = 2000

/** The frames, of which the first is read already. `leave` is called at the end, however it comes. */
function streamOf(
  frames: AsyncGenerator<Uint8Array>,
  first: Promise<IteratorResult<Uint8Array>>,
  leave: () => void,
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<Uint8Array>> | null = first
  // A client may leave before anybody waits for it.
  first.catch(() => {})
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let { done, value } = await (next ?? frames.next())
          next = null
          if (value?.length === 0) ({ done, value } = await frames.next())
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (error) {
          leave()
          throw error
        }
      },
      async cancel() {
        leave()
        await frames.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
