import { LogError } from '../log/error.ts'
import { LEVELS, type LineFormat } from '../log/format/detect.ts'
import { lineEnd } from '../log/format/lines.ts'
import type { Matcher } from '../log/pattern/pattern.ts'
import type { Cursor } from '../log/text/cursor.ts'
import type { Zone } from '../log/time.ts'
import type { View } from '../log/view/answer.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { ViewRequest } from '../log/view/request.ts'
import { viewOf } from '../log/view/view.ts'
import type { LevelChoice } from './labels.ts'
import { LokiError } from './query.ts'

/** A record in Loki's form. */
export interface Entry {
  /** Nanoseconds since the epoch; unique for each record of a file. */
  at: bigint
  level: string | null
  line: string
}

/** Which entries of a file are wanted. */
export interface EntryQuery {
  file: string
  /** Nanoseconds: from `start` on, before `end`. */
  start: bigint
  end: bigint
  matcher: Matcher | null
  levels: LevelChoice
  forward: boolean
  limit: number
}

const MILLI = 1_000_000n
/** The most records of one instant that can be ordered; a log with more in one millisecond cannot be read this way. */
const MAX_INSTANT = 100_000

/** A record and the millisecond it was written in. */
interface Timed {
  millis: number
  level: string | null
  line: string
}

/**
 * The entries of a file nearest to the requested end, oldest first. Several records may share a millisecond or a
 * second; a client that pages by time would lose or repeat some of them. So the n-th record of an instant is given its
 * time plus n nanoseconds: the same in every answer, whichever direction it is read in.
 */
export async function entriesOf(
  context: ViewContext,
  query: EntryQuery,
  signal: AbortSignal,
): Promise<Entry[]> {
  const since = Number(query.start / MILLI)
  const until = Number((query.end + MILLI - 1n) / MILLI)
  const inRange = ({ at }: Entry) => at >= query.start && at < query.end
  let records: Timed[] = []
  let cursor: Cursor | null = null
  for (;;) {
    const page: Page = await pageOf(context, { query, since, until, cursor }, signal)
    records = query.forward ? [...records, ...page.records] : [...page.records, ...records]
    cursor = page.next
    const before =
      cursor === null || query.forward ? 0 : await countBefore(context, { query, records }, signal)
    const entries = numbered(records, before).filter(inRange)
    // The last instant of a forward page may have more records, but the order of those so far is fixed.
    if (entries.length >= query.limit || cursor === null)
      return query.forward ? entries.slice(0, query.limit) : entries.slice(-query.limit)
  }
}

interface Page {
  records: Timed[]
  /** Where the next page begins, in the direction of the query. */
  next: Cursor | null
}

interface PageRequest {
  query: EntryQuery
  since: number
  until: number
  cursor: Cursor | null
}

async function pageOf(
  context: ViewContext,
  { query, since, until, cursor }: PageRequest,
  signal: AbortSignal,
): Promise<Page> {
  const { forward, limit } = query
  const view = await viewOf(
    context,
    requestOf(context, query, {
      since,
      until,
      lines: limit + 1,
      first: forward,
      cursor: cursor && { place: cursor, direction: forward ? 'after' : 'before' },
    }),
    signal,
  )
  refuseCut(view)
  const records = recordsOf(view, context.zone)
  // A forward page that is not full has reached the end of the requested range.
  const more = forward ? records.length > limit : view.prev !== null && records.length > 0
  const wanted = records.filter(({ level }) => isChosen(level, query.levels))
  return { records: wanted, next: more ? (forward ? view.next : view.prev) : null }
}

/** How many matching records of the oldest instant come before those that were read. */
async function countBefore(
  context: ViewContext,
  { query, records }: { query: EntryQuery; records: readonly Timed[] },
  signal: AbortSignal,
): Promise<number> {
  const oldest = records[0]?.millis
  if (oldest === undefined) return 0
  const instant = { since: oldest, until: oldest + 1, lines: MAX_INSTANT, first: true, cursor: null }
  const view = await viewOf(context, requestOf(context, query, instant), signal)
  refuseCut(view)
  const all = recordsOf(view, context.zone).filter(({ level }) => isChosen(level, query.levels))
  return Math.max(0, all.length - records.filter(({ millis }) => millis === oldest).length)
}

interface Part extends Pick<ViewRequest, 'since' | 'until' | 'cursor'> {
  lines: number
  first: boolean
}

function requestOf(context: ViewContext, { file, matcher, levels }: EntryQuery, part: Part): ViewRequest {
  const { lines, ...rest } = part
  // With records that have no level among the wanted ones, levels are chosen afterwards.
  const chosen = levels.none ? null : levels.mask
  return {
    file,
    rotated: false,
    ...rest,
    fit: { size: context.limits.answerBytes, lines },
    level: chosen === null ? null : Math.max(0, 31 - Math.clz32(chosen & -chosen)),
    levels: chosen ?? undefined,
    matcher,
    records: true,
    each: true,
  }
}

function isChosen(level: string | null, { mask, none }: LevelChoice): boolean {
  if (level === null) return none
  return (mask & (1 << (LEVELS as readonly string[]).indexOf(level))) !== 0
}

/** Loki cannot mark an answer as partial, so this is an error. */
function refuseCut({ notes, memory }: View): void {
  if (!notes.includes('scan-budget') && !notes.includes('answer-budget')) return
  memory?.release()
  throw new LokiError(
    'The search took more than one request may; narrow the time range or the selector.',
    504,
  )
}

function recordsOf(view: View, zone: Zone): Timed[] {
  const decoder = new TextDecoder()
  const records: Timed[] = []
  let last = Number.NaN
  for (const piece of view.pieces ?? []) {
    const head = lineEnd(piece, 0, piece.length)
    const time = view.format.time(piece, 0, head, zone)
    // A record without a time has that of the one before it.
    if (!Number.isNaN(time)) last = time
    if (Number.isNaN(last)) continue
    const line = decoder.decode(piece).replace(/\r?\n$/, '')
    records.push({ millis: Math.floor(last), level: levelName(view.format, piece, head), line })
  }
  view.memory?.release()
  return records
}

function levelName(format: LineFormat, bytes: Uint8Array, end: number): string | null {
  return LEVELS[format.level(bytes, 0, end, bytes.length)] ?? null
}

/** Each record with its time in nanoseconds; `before` of the first one's instant were not read. */
function numbered(records: readonly Timed[], before: number): Entry[] {
  let place = before
  return records.map(({ millis, level, line }, i) => {
    place = i === 0 ? before : records[i - 1]!.millis === millis ? place + 1 : 0
    return { at: BigInt(millis) * MILLI + BigInt(place), level, line }
  })
}

/** Whether a file cannot match: its lines have no times, or no levels although levels are requested. */
export function isSilent(error: unknown): boolean {
  return (
    error instanceof LogError && ['no-time', 'no-level', 'not-viewable', 'unknown-file'].includes(error.code)
  )
}
