import { jsonResponse, textTag } from '../../core/http/conditional.ts'
import { toProblem } from '../../core/http/problem.ts'
import { noteHeader } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import type { FollowLimits } from '../../log/follow/hub.ts'
import { decodeMerged, laneKey, type MergedCursor } from '../../log/merge/cursor.ts'
import type { MergedRecord } from '../../log/merge/places.ts'
import type { Elsewhere } from '../../log/merge/reader.ts'
import { GoneError, type Missing, namedBy, type Source } from '../../log/merge/source.ts'
import { badCursor } from '../../log/text/cursor.ts'
import type { QueryRoute } from '../parameters/view-request.ts'

/** What the routes over several logs need. */
export interface MergedRoute extends Pick<QueryRoute, 'clock' | 'zone' | 'maxSize'> {
  /** The logs that a request names; throws if there are none, or too many. */
  pick(query: Query, signal: AbortSignal): Promise<Sources>
  /** Who reads a log that is elsewhere. @default all are here */
  readerOf?: Elsewhere['readerOf'] | undefined
  /** Whose clients share what they follow, and which of the logs they may see. */
  sharing: { owner: object; viewer: string }
  /** How logs are followed, null if they cannot be, and how many clients do. */
  following: FollowLimits | null
  count: { following: number }
}

/** The logs of an answer, and what is not in it. */
export interface Sources {
  sources: Source[]
  missing: Missing[]
  /** The nodes that could not be listed; they are missing, too. */
  unlisted?: readonly string[]
  /** Up to when every log is complete, ISO 8601; only a fleet knows. */
  settled?: string | null
  /** Whether a node did not answer, so that its copy in the bucket was read instead. @default false */
  isCopy?: boolean
}

/** How logs that are elsewhere are read; `filters` is null if they cannot be told what is wanted. */
export function elsewhere({ readerOf }: MergedRoute, filters: string | null): Elsewhere | undefined {
  return readerOf && filters !== null ? { readerOf, filters } : undefined
}

/** A record with what reads it. */
export function readable({ bytes, format, source }: MergedRecord) {
  const { file, node, context } = source
  return { bytes, reader: { format, zone: context.zone }, origin: { file, ...(node !== null && { node }) } }
}

/** Reads the cursors of a request. At least one log of a cursor must be asked for. */
export function cursorReader(query: Query, sources: readonly Source[]) {
  return (text: string, parameter: string): MergedCursor => {
    const cursor = decodeMerged(text, parameter, sources)
    const isKnown = sources.some((source) => cursor.lanes.has(laneKey(source)))
    const others = [...cursor.lanes.values()]
    if (!isKnown && others.every(({ name }) => name !== undefined && !isAsked(query, name)))
      throw badCursor(parameter)
    return cursor
  }
}

/** What is not in an answer, each log once: one that a cursor knows is gone, unless it is not asked for now. */
export function allMissing(query: Query, picked: readonly Missing[], unread: readonly Missing[]): Missing[] {
  const named = unread.flatMap((each) => {
    if (!(each.error instanceof GoneError)) return [each]
    const { key } = each.error
    const name = each.name || (picked.find((other) => keyOf(query, other.name) === key)?.name ?? '?')
    return name === '?' || isAsked(query, name) ? [{ ...each, name }] : []
  })
  return [...picked.filter(({ name }) => !named.some((other) => other.name === name)), ...named]
}

function isAsked(query: Query, name: string): boolean {
  const { node, file } = parted(query, name)
  return namedBy(query.files ?? [query.file!])(file) && (node === null || namedBy(query.node!)(node))
}

function keyOf(query: Query, name: string): number {
  const { node, file } = parted(query, name)
  return laneKey({ node, log: file })
}

/** The node and the log that a name consists of; only a fleet's have a node. */
function parted({ node: nodes }: Query, name: string): { node: string | null; file: string } {
  if (nodes === undefined) return { node: null, file: name }
  const slash = name.indexOf('/')
  return { node: name.slice(0, slash), file: name.slice(slash + 1) }
}

/** How long the names in a header may be: servers and clients take heads of 16 KiB. */
const MOST_NAMED = 3000

/** `X-Nodestate-Missing`, if something is, `X-Nodestate-Settled`, and the notes of an answer. */
export function sourceHeaders(
  { missing, settled, isCopy }: Omit<Sources, 'sources'>,
  notes: Iterable<string | false | null | undefined> = [],
): Record<string, string> {
  const named: string[] = []
  let left = MOST_NAMED
  for (const { name, error } of missing) {
    const text = `${encoded(name)};${codeOf(error)}`
    left -= text.length + 2
    if (left < 0) break
    named.push(text)
  }
  if (missing.length > named.length) named.push(`+${missing.length - named.length}`)
  return {
    ...(named.length > 0 && { 'X-Nodestate-Missing': named.join(', ') }),
    ...(settled && { 'X-Nodestate-Settled': settled }),
    ...noteHeader([...notes, isCopy && 'copy']),
  }
}

function codeOf(error: unknown): string {
  return error instanceof GoneError ? 'gone' : toProblem(error).code
}

function encoded(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/')
}

/** A JSON answer over several logs; its tag is made from what it says. */
export function mergedJson(
  request: Request,
  body: unknown,
  headers: Record<string, string>,
  isLasting = true,
): Response {
  const text = JSON.stringify(body)
  const etag = isLasting ? textTag(`${text}\n${headers['X-Nodestate-Missing'] ?? ''}`) : null
  return jsonResponse(request, text, etag, headers)
}
