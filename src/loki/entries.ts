import { LogError } from '../log/error.ts'
import { lineEnd } from '../log/format/lines.ts'
import type { Cursor } from '../log/text/cursor.ts'
import type { View } from '../log/view/answer.ts'
import type { ViewRequest } from '../log/view/request.ts'
import { viewOf } from '../log/view/view.ts'
import type { LogFile } from './files.ts'
import { isChosen, type Labels, type LevelChoice, levelRequest } from './labels.ts'
import { LokiError } from './logql/query.ts'
import type { Pipeline } from './pipeline.ts'

/** A record in Loki's form. */
export interface Entry {
  /** Nanoseconds since the epoch; unique for each record of a file. */
  at: bigint
  labels: Labels
  line: string
}

/** Which entries of a file are wanted. */
export interface EntryQuery {
  of: LogFile
  /** Nanoseconds: from `start` on, before `end`. */
  start: bigint
  end: bigint
  pipeline: Pipeline
  levels: LevelChoice
  forward: boolean
  limit: number
}

const MILLI = 1_000_000n
/** The most records of one instant that can be ordered; a log with more in one millisecond cannot be read this way. */
const MAX_INSTANT = 100_000

/** A record and the millisecond it was written in. */
type Timed = Omit<Entry, 'at'> & { millis: number }

/**
 * The entries of a file nearest to the requested end, oldest first. Several records may share a millisecond or a
 * second; a client that pages by time would lose or repeat some of them. So the n-th record of an instant is given its
 * time plus n nanoseconds: the same in every answer, whichever direction it is read in.
 */
export async function entriesOf(query: EntryQuery, signal: AbortSignal): Promise<Entry[]> {
  const since = Number(query.start / MILLI)
  const until = Number((query.end + MILLI - 1n) / MILLI)
  const inRange = ({ at }: Entry) => at >= query.start && at < query.end
  let records: Timed[] = []
  let cursor: Cursor | null = null
  for (;;) {
    const page: Page = await pageOf({ query, since, until, cursor }, signal)
    records = query.forward ? [...records, ...page.records] : [...page.records, ...records]
    cursor = page.next
    const before = cursor === null || query.forward ? 0 : await countBefore({ query, records }, signal)
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

async function pageOf({ query, since, until, cursor }: PageRequest, signal: AbortSignal): Promise<Page> {
  const { forward, limit } = query
  const part: Part = {
    since,
    until,
    lines: limit + 1,
    first: forward,
    cursor: cursor && { place: cursor, direction: forward ? 'after' : 'before' },
  }
  const view = await viewOf(query.of.context, requestOf(query, part), signal)
  refuseCut(view)
  const { records, count } = recordsOf(view, query)
  // A forward page that is not full has reached the end of the requested range.
  const more = forward ? count > limit : view.prev !== null && count > 0
  return { records, next: more ? (forward ? view.next : view.prev) : null }
}

/** How many matching records of the oldest instant come before those that were read. */
async function countBefore(
  { query, records }: { query: EntryQuery; records: readonly Timed[] },
  signal: AbortSignal,
): Promise<number> {
  const oldest = records[0]?.millis
  if (oldest === undefined) return 0
  const instant = { since: oldest, until: oldest + 1, lines: MAX_INSTANT, first: true, cursor: null }
  const view = await viewOf(query.of.context, requestOf(query, instant), signal)
  refuseCut(view)
  const all = recordsOf(view, query).records
  return Math.max(0, all.length - records.filter(({ millis }) => millis === oldest).length)
}

interface Part extends Pick<ViewRequest, 'since' | 'until' | 'cursor'> {
  lines: number
  first: boolean
}

function requestOf({ of, pipeline, levels }: EntryQuery, { lines, ...part }: Part): ViewRequest {
  return {
    file: of.file,
    rotated: false,
    ...part,
    fit: { size: of.context.limits.answerBytes, lines },
    ...levelRequest(levels),
    matcher: pipeline.matcher(of),
    records: true,
    each: true,
  }
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

/** The records of a view whose level is wanted, and how many it has in all. */
function recordsOf(view: View, { of, pipeline, levels }: EntryQuery): { records: Timed[]; count: number } {
  const decoder = new TextDecoder()
  const reader = { format: view.format, zone: of.context.zone }
  const records: Timed[] = []
  let count = 0
  let last = Number.NaN
  for (const piece of view.pieces ?? []) {
    const head = lineEnd(piece, 0, piece.length)
    const time = view.format.time(piece, 0, head, of.context.zone)
    // A record without a time has that of the one before it.
    if (!Number.isNaN(time)) last = time
    if (Number.isNaN(last)) continue
    count++
    if (!isChosen(view.format.level(piece, 0, head, piece.length), levels)) continue
    const bytes = view.format.unwrap?.(piece, 0, piece.length) ?? piece
    const labels = pipeline.labels({ bytes, from: 0, to: bytes.length }, reader, of)
    records.push({ millis: Math.floor(last), labels, line: decoder.decode(piece).replace(/\r?\n$/, '') })
  }
  view.memory?.release()
  return { records, count }
}

/** Each record with its time in nanoseconds; `before` of the first one's instant were not read. */
function numbered(records: readonly Timed[], before: number): Entry[] {
  let place = before
  return records.map(({ millis, labels, line }, i) => {
    place = i === 0 ? before : records[i - 1]!.millis === millis ? place + 1 : 0
    return { at: BigInt(millis) * MILLI + BigInt(place), labels, line }
  })
}

/** Whether a file cannot match: its lines have no times, or no levels although levels are requested. */
export function isSilent(error: unknown): boolean {
  return (
    error instanceof LogError && ['no-time', 'no-level', 'not-viewable', 'unknown-file'].includes(error.code)
  )
}
