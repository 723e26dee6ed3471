import { acceptedTypes } from '../../core/http/accept.ts'
import { COMMON_HEADERS } from '../../core/http/conditional.ts'
import { bad } from '../../core/http/params.ts'
import { defaultSize } from '../../core/parameters.ts'
import type { Query } from '../../core/query.ts'
import { idOf } from '../../kit/observe/request-id.ts'
import { LogError } from '../../log/error.ts'
import { parseLevel } from '../../log/format/detect.ts'
import { combined, type Matcher, regexMatcher, textMatcher } from '../../log/pattern/pattern.ts'
import { levelsFrom, levelsIn, Selection } from '../../log/selection.ts'
import { decodeCursor } from '../../log/text/cursor.ts'
import type { ViewContext } from '../../log/view/context.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { instantOf, unexpected } from './meaning.ts'

export interface QueryRoute extends ViewContext {
  /** The largest tail that may be requested. @default none */
  maxSize?: number | undefined
}

export interface Asked {
  asked: ViewRequest
  /** Whether the answer depends on the clock. */
  clock: boolean
}

/** Turns query parameters into a request to the log. `records` requests whole records, as for JSON. */
export async function readViewRequest(
  query: Query,
  route: Pick<QueryRoute, 'clock' | 'zone' | 'maxSize'>,
  records: boolean,
): Promise<Asked> {
  if (query.first !== undefined && query.lines !== undefined)
    throw bad('first', 'was given together with lines; give one of the two')
  const now = route.clock.now()
  const since = instantOf('since', query.since, { zone: route.zone, now })
  const until = instantOf('until', query.until, { zone: route.zone, now, after: since?.at })
  const selection = new Selection({
    since: since?.at ?? null,
    until: until?.at ?? null,
    levels: levelsOf(query.level),
    matcher: await matcherOf(query),
  })
  checkContext(query, selection.isSearch)
  const charset = charsetOf(query)
  // Records of several logs are put in order, so their text must be known.
  const isDecoded =
    records ||
    query.files !== undefined ||
    query.lines !== undefined ||
    query.first !== undefined ||
    !selection.isAll
  const asked: ViewRequest = {
    file: query.file!,
    rotated: query.rotated ?? false,
    cursor: cursorOf(query, decodeCursor),
    fit: fitOf(query, route.maxSize),
    first: query.first !== undefined,
    selection,
    charset: isDecoded ? charset : undefined,
    records,
    context: query.context,
  }
  return { asked, clock: since?.clock === true || until?.clock === true }
}

/** How much is wanted. A number of lines is not cut by the default size: then what an answer may hold is the limit. */
function fitOf({ size, lines, first }: Query, maxSize: number | undefined): ViewRequest['fit'] {
  const counted = first ?? lines ?? null
  const most = counted === null ? defaultSize(maxSize) : (maxSize ?? Number.MAX_SAFE_INTEGER)
  return { size: size ?? most, lines: counted }
}

/** Answers that cannot have the records around matches. */
const WITHOUT_CONTEXT = ['follow', 'download', 'lane'] as const

function checkContext(query: Query, isSearch: boolean): void {
  if (query.context === undefined) return
  const other = WITHOUT_CONTEXT.find((name) => query[name])
  if (other) throw bad('context', `was given together with ${other}; leave one of the two out`)
  if (!isSearch)
    throw bad(
      'context',
      'was given without a filter; add one of level, q, regex, not, notregex, where and pattern, or leave it out',
    )
}

/** How the text of a log is written. A follow reads what is appended, as it is stored. */
export function charsetOf({ encoding, follow }: Query): ViewRequest['charset'] {
  if (follow && encoding !== undefined)
    throw bad('encoding', 'was given together with follow, which sends a log as it is stored; leave one out')
  if (follow || encoding === 'utf-8') return undefined
  return encoding ?? 'marked'
}

/** How the records of a request are written as JSON. */
export const recordOptions = ({ ansi = false, raw = false }: Query) => ({ colours: ansi, raw })

export function cannotFollow(): LogError {
  return new LogError(
    'unsupported',
    'This service cannot keep answers open; poll with the next cursor instead.',
  )
}

/**
 * How a follow is sent. Proxies and middleware must pass it on as it comes. nginx buffers unless told otherwise;
 * `no-transform` stops a compressor that would hold back short writes, such as hono/compress; and a follow has an
 * ETag of its own, because hono/etag reads an answer without one to its end, which never comes.
 */
export function followOf(request: Request, { before }: Query, common: Record<string, string>) {
  if (before !== undefined)
    throw bad('before', 'was given together with follow; give after instead, or leave it out')
  const events = acceptedTypes(request.headers.get('Accept')).has('text/event-stream')
  const headers = {
    ...common,
    ...(events && { 'Content-Type': 'text/event-stream' }),
    'Cache-Control': `${COMMON_HEADERS['Cache-Control']}, no-transform`,
    'X-Accel-Buffering': 'no',
    ETag: `W/"follow-${idOf(request)}"`,
  }
  return { events, headers, lastId: request.headers.get('Last-Event-ID') }
}

/** The place that a request continues from, and in which direction. `decode` reads the cursor of a parameter. */
export function cursorOf<P>({ before, after }: Query, decode: (text: string, parameter: string) => P) {
  if (before !== undefined && after !== undefined)
    throw bad('before', 'was given together with after; give one of the two')
  const direction = before === undefined ? ('after' as const) : ('before' as const)
  const text = before ?? after
  return text === undefined ? null : { place: decode(text, direction), direction }
}

/** `warn` and above, or with `=warn,fatal` exactly those, as bits. */
function levelsOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const exact = text.startsWith('=')
  const levels = (exact ? text.slice(1).split(',') : [text]).map(parseLevel)
  if (levels.includes(null)) throw unexpected('level', text)
  const found = levels as number[]
  return exact ? levelsIn(found) : levelsFrom(found[0]!)
}

async function matcherOf({ q = [], regex = [], not = [], notregex = [], where = [], pattern }: Query) {
  const regexes = (sources: readonly string[]) => Promise.all(sources.map(regexMatcher))
  const wanted = [...q.map(textMatcher), ...(await conditions(where)), ...(await regexes(regex))]
  if (pattern !== undefined)
    wanted.push((await import('../../log/pattern/message.ts')).messageMatcher(pattern))
  return combined(wanted, [...not.map(textMatcher), ...(await regexes(notregex))])
}

/** Conditions on fields; their code is loaded with the first one. */
async function conditions(texts: readonly string[]): Promise<Matcher[]> {
  if (texts.length === 0) return []
  const { whereMatcher } = await import('../../log/where/where.ts')
  return Promise.all(
    texts.map(async (text) => {
      const matcher = await whereMatcher(text)
      if (matcher === null) throw unexpected('where', text)
      return matcher
    }),
  )
}
