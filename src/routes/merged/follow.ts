import { acceptedTypes } from '../../http/accept.ts'
import { bad } from '../../http/params.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { LogError } from '../../log/error.ts'
import { followMerged } from '../../log/merge/follow.ts'
import { ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import type { Query } from '../parameters/read.ts'
import { recordOptions } from '../parameters/view-request.ts'
import { FOLLOW_HEADERS, TEXT_TYPE } from '../view/headers.ts'
import { allMissing, cursorOf, type MergedRoute, mergedCursor, sourceHeaders } from './route.ts'

/** `follow=true` of several logs: sends the newest records, stays open, and sends what is appended to any of them. */
export async function followLogs(
  request: Request,
  query: Query,
  route: MergedRoute,
  asked: ViewRequest,
): Promise<Response> {
  const { following, count } = route
  if (following === null)
    throw new LogError(
      'unsupported',
      'This service cannot keep answers open; poll with the next cursor instead.',
    )
  if (query.before !== undefined)
    throw bad('before', 'was given together with follow; give after instead, or leave it out')
  const events = acceptedTypes(request.headers.get('Accept')).has('text/event-stream')
  const { sources, ...rest } = await route.pick(query, request.signal)
  const lastId = request.headers.get('Last-Event-ID')
  const last = lastId
    ? { place: cursorOf(lastId, 'Last-Event-ID', query, sources), direction: 'after' as const }
    : mergedCursor(query, sources)
  const type = events ? 'text/event-stream' : asked.records ? 'application/x-ndjson' : TEXT_TYPE
  const headers = { ...FOLLOW_HEADERS, 'Content-Type': type, ETag: `W/"follow-${crypto.randomUUID()}"` }
  if (request.method === 'HEAD')
    return new Response(null, { headers: { ...headers, ...sourceHeaders(rest) } })
  if (count.following >= following.followers)
    throw new LogError('too-busy', 'Too many clients are following logs already; try again later.')
  const ended = new AbortController()
  const signal = AbortSignal.any([request.signal, ended.signal])
  let { missing } = rest
  const frames = followMerged(
    {
      sources: async () => (await route.pick(query, signal)).sources,
      request: { ...asked, cursor: last },
      writer: asked.records ? ndjsonWriter(recordOptions(query)) : textWriter(),
      events,
      tell: (unread) => {
        missing = allMissing(query, rest.missing, unread)
      },
    },
    following,
    signal,
  )
  count.following++
  // Errors are reported before the answer begins.
  const first = await frames.next().catch((error) => {
    count.following--
    throw error
  })
  const timer = following.duration === null ? null : setTimeout(() => ended.abort(), following.duration)
  const leave = () => {
    if (ended.signal.reason === LEFT) return
    if (!ended.signal.aborted) ended.abort(LEFT)
    if (timer !== null) clearTimeout(timer)
    count.following--
  }
  const told = { ...headers, ...sourceHeaders({ ...rest, missing }) }
  return bytesResponse(streamOf(frames, first, leave), told)
}

const LEFT = new Error('left')

function streamOf(
  frames: AsyncGenerator<Uint8Array>,
  first: IteratorResult<Uint8Array>,
  leave: () => void,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          let { done, value } = next ?? (await frames.next())
          next = null
          if (value?.length === 0) ({ done, value } = await frames.next())
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (error) {
          leave()
          controller.error(error)
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
