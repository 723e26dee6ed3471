import type { Grant } from '../core/access/grant.ts'
import { searchOf } from '../core/http/params.ts'
import { respond } from '../core/http/sliced.ts'
import type { Query } from '../core/query.ts'
import type { ForwardToPeer } from '../core/routing.ts'
import type { LevelHistogram } from '../kit/answers.ts'
import { LogError } from '../log/error.ts'
import { COLUMNS } from '../log/histogram/chart.ts'
import type { Range } from '../log/histogram/histogram.ts'
import type { LogReader } from '../log/merge/reader.ts'
import { followLimits, type LogOptions, type ProcessLimits, SCAN_MILLIS } from '../log/options.ts'
import { AttemptTimer } from '../store/remote/retry.ts'
import { StoreError } from '../store/store.ts'
import type { Peer } from './peer.ts'

/** How long a peer may take until its answer begins, beyond what a search may take, and how long it may then be silent. */
export const BEFORE_MS = 5000
const SILENT_MS = 60_000
/** A chart of 10,000 buckets, or 200 fields with their values and 100 patterns, stay below it. */
const LONGEST_JSON = 4 * 1024 * 1024

/** What a peer must know to answer as the coordinator would. */
const ASKED = ['Accept', 'If-None-Match', 'If-Match', 'If-Range', 'Range', 'Last-Event-ID']
const TOLD = [
  'Content-Type',
  'Content-Length',
  'Content-Range',
  'Content-Disposition',
  'Cache-Control',
  'Accept-Ranges',
  'ETag',
  'Last-Modified',
  'Link',
  'Vary',
  'X-Accel-Buffering',
  'X-Nodestate-File',
  'X-Nodestate-Missing',
  'X-Nodestate-Note',
]
/** Nothing that a browser would run. */
const TYPES =
  /^(text\/(plain|csv|event-stream)|application\/(json|x-ndjson|octet-stream|gzip|zstd|zip|x-bzip2|x-xz))\b/
const JSON_RESOURCES = new Set<Parameters<ForwardToPeer>[0]>(['histogram', 'fields', 'groups'])
const LINKS = /^(<\?[^<>\s]*>; rel="(prev|next)"(, )?)+$/

export interface HandOnOptions {
  limits: ProcessLimits
  /** Milliseconds that a search may take. */
  scanMillis: number
  /** Clients that may follow at once. */
  followers: number
}

/** What an answer of a peer may take, from the options of a fleet. */
export function forwardLimits(options: LogOptions): Omit<HandOnOptions, 'limits'> {
  return {
    scanMillis: options.limits?.scanMillis ?? SCAN_MILLIS,
    followers: followLimits(options)?.followers ?? 0,
  }
}

/**
 * Asks a peer to answer about its own log, so that a search reads no further than its disk. Null where the store must be
 * read instead: for a token that sees only some files, for an older peer, and for every answer that is not a success, so
 * that there is one place where problems are made.
 */
export function handOnTo(peer: Peer, options: HandOnOptions): ForwardToPeer {
  const { count, clock } = options.limits
  return async (name, request, query, grant) => {
    if (name === 'list' || !canHandOn(query, grant)) return null
    if (query.follow && count.following >= options.followers)
      throw new LogError('too-busy', 'Too many clients are following logs already; try again later.')
    const timer = new AttemptTimer(clock, request.signal)
    timer.start(options.scanMillis + BEFORE_MS)
    try {
      const answer = await peer.wire.send(
        {
          method: request.method === 'HEAD' ? 'HEAD' : 'GET',
          path: `api/v1/log/${name}?${known(request, query)}`,
          headers: headersOf(ASKED, request.headers),
        },
        timer,
      )
      if (isUsable(answer, name)) return await passOn(peer, answer, timer, query.follow ? count : null)
      await answer.body?.cancel()
    } catch (error) {
      request.signal.throwIfAborted()
      // The store says why the peer does not answer.
      if (error instanceof LogError) throw error
    }
    timer.abort()
    return null
  }
}

function canHandOn(query: Query, { files }: Grant): boolean {
  return files === null && !query.unknown
}

/** The parameters that the resource knows: a peer refuses the others. */
function known(request: Request, { given }: Query): URLSearchParams {
  const names = new Set<string>(given)
  return new URLSearchParams([...searchOf(request.url)].filter(([name]) => names.has(name)))
}

function isUsable({ status, headers }: Response, name: Parameters<ForwardToPeer>[0]): boolean {
  if (status === 304) return true
  if (status !== 200 && status !== 206) return false
  if (/\bunknown-parameter\b/.test(headers.get('X-Nodestate-Note') ?? '')) return false
  const link = headers.get('Link')
  const type = headers.get('Content-Type') ?? ''
  const isJson = /^application\/json\b/.test(type)
  if (isJson !== JSON_RESOURCES.has(name)) return false
  return TYPES.test(type) && (link === null || LINKS.test(link))
}

async function passOn(
  peer: Peer,
  answer: Response,
  timer: AttemptTimer,
  count: { following: number } | null,
): Promise<Response> {
  const headers: Record<string, string> = {
    ...headersOf(TOLD, answer.headers),
    'X-Content-Type-Options': 'nosniff',
  }
  const { status } = answer
  if (answer.body === null) {
    timer.end()
    return respond(null, headers, status)
  }
  if (/^application\/json\b/.test(headers['Content-Type'] ?? '')) {
    const body = JSON.stringify(await peer.wire.json(answer, timer, LONGEST_JSON))
    timer.end()
    delete headers['Content-Length']
    return respond(body, headers, status)
  }
  return respond(passing(answer.body, timer, count), headers, status)
}

/** A body as it arrives. One that is silent for too long fails, and so cuts the connection to the client. */
function passing(
  body: ReadableStream<Uint8Array>,
  timer: AttemptTimer,
  count: { following: number } | null,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOpen = true
  if (count) count.following++
  const leave = () => {
    if (isOpen && count) count.following--
    isOpen = false
    timer.end()
  }
  timer.stop()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          timer.start(SILENT_MS)
          const { done, value } = await timer.bound(reader.read())
          timer.stop()
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (cause) {
          leave()
          reader.cancel().catch(() => {})
          throw new StoreError('unavailable', 'The peer did not complete its answer', { cause })
        }
      },
      async cancel() {
        leave()
        timer.abort()
        await reader.cancel().catch(() => {})
      },
    },
    { highWaterMark: 0 },
  )
}

function headersOf(names: readonly string[], headers: Headers): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null) found[name] = value
  }
  return found
}

/** Counts the records of a log at its peer; null if they must be counted here. `missing` are logs that are not counted. */
export function countAt(peer: Peer, options: Omit<HandOnOptions, 'followers'>) {
  return async (...[query, signal]: Parameters<LogReader['count']>) => {
    const found = await chartAt(peer, options, query, signal, chartOf)
    return found && { ...found.body, notes: found.notes, missing: found.missing }
  }
}

/** Asks a peer for the range of a chart of its log; undefined if it must be found here. */
export function rangeAt(peer: Peer, options: Omit<HandOnOptions, 'followers'>): LogReader['range'] {
  return async (query, signal) => (await chartAt(peer, options, query, signal, rangeOf))?.body
}

async function chartAt<T>(
  peer: Peer,
  { limits, scanMillis }: Omit<HandOnOptions, 'followers'>,
  query: string,
  signal: AbortSignal | undefined,
  parse: (body: unknown) => T,
) {
  const timer = new AttemptTimer(limits.clock, signal)
  timer.start(scanMillis + BEFORE_MS)
  try {
    const answer = await peer.wire.send({ path: `api/v1/log/histogram?${query}` }, timer)
    if (answer.status === 200 && isUsable(answer, 'histogram')) {
      const notes = (answer.headers.get('X-Nodestate-Note') ?? '').split(', ').filter(isNote)
      const missing = answer.headers.get('X-Nodestate-Missing')
      return { body: parse(await peer.wire.json(answer, timer, LONGEST_JSON)), notes, missing }
    }
    await answer.body?.cancel()
  } catch {
    signal?.throwIfAborted()
  } finally {
    timer.end()
  }
  return null
}

/** The range of a chart. Throws if it is none. */
function rangeOf(body: unknown): Range | null {
  const { range } = body as { range: Range | null }
  if (range === null || [range.from, range.to].every(Number.isFinite)) return range
  throw new StoreError('unavailable', 'The peer sent a range that makes no sense')
}

const isNote = (note: string) => /^[a-z-]{1,40}$/.test(note)

/** A chart that can be added to others. Throws if it is none. */
function chartOf(body: unknown): LevelHistogram {
  const chart = body as LevelHistogram
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
  const isChart =
    typeof chart.complete === 'boolean' &&
    JSON.stringify(chart.levels) === JSON.stringify(COLUMNS) &&
    [chart.from, chart.to, chart.step].every(Number.isFinite) &&
    chart.buckets.every(
      ({ time, counts }) =>
        Number.isFinite(time) && counts.length === COLUMNS.length && counts.every(isCount),
    )
  if (!isChart) throw new StoreError('unavailable', 'The peer sent a chart that makes no sense')
  return chart
}
