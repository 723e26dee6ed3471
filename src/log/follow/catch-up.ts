import { Budget } from '../../kit/limits/budget.ts'
import { PLAIN } from '../format/detect.ts'
import { EVERYTHING } from '../joined/reach.ts'
import { openLog } from '../open.ts'
import { type Filter, filterOf } from '../search/filter.ts'
import { type Found, findPage } from '../search/page.ts'
import type { WalkRange } from '../search/range.ts'
import { MAX_RECORD } from '../search/records.ts'
import { EVERY_RECORD } from '../selection.ts'
import { type Cursor, fingerprint, isStartPlace, PRINT_READ } from '../text/cursor.ts'
import { checkFormat, formatOf, SAMPLE } from '../text/format.ts'
import { gone, type OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { holds, type Text } from '../text/text.ts'
import { budgetOf, type ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { inSession, Session } from '../view/session.ts'
import { moveChange } from './change.ts'
import type { Batch } from './channel.ts'
import {
  changePacket,
  type Frame,
  joinPackets,
  packetOf,
  packetSize,
  recordsPacket,
  type SentPart,
} from './frame.ts'

/** Bytes per read of a follower that reads the log itself, unless many wait for their clients. */
export const PAGE_BYTES = 256 * 1024

export interface FollowSource {
  context: ViewContext
  view: ViewRequest
  frame: Frame
  filter: Filter
  /** Whether bytes are sent unchanged. */
  raw: boolean
  signal: AbortSignal
}

/** How much of a log a follower reads at once. */
interface CatchUpRoom {
  size: number
  /** Counts these bytes instead of `size`, for a record that is longer; false if waiting clients hold too much. */
  hold(bytes: number): boolean
}

/** Some records, and how many they are. */
interface CountedPage extends Batch {
  records: number
}

/** The next page on the way to a place; `arrived` if there is nothing in between, null while it cannot be found. */
export async function pageTowards(
  goal: Cursor,
  place: Cursor,
  source: FollowSource & CatchUpRoom,
): Promise<CountedPage | 'arrived' | null> {
  const { context, view, frame, size, signal } = source
  const budget = new Budget({ bytes: 64 * PAGE_BYTES, signal, clock: context.clock })
  const opener = { ...context, budget }
  // Without this, the series would begin with older files that are never read.
  const request = { ...view, rotated: false, cursor: { place, direction: 'after' as const } }
  const log = await openLog(opener, request)
  const { series, at } = log
  const to = await addressOf(series, goal)
  if (to === null || to < at!) return null
  if (to === at) return 'arrived'
  const session = new Session(context, request, opener, log)
  // Cutting out missing bytes moves addresses, so distances are measured from the end.
  const left = { all: series.end - at!, beyond: series.end - to }
  return session.cutting(async () => {
    const { open } = session
    const { end } = open.series
    if (end - open.at! < left.all && !isStartPlace(place)) return gapAt(open, source)
    const until = Math.min(end - left.beyond, open.end ?? end)
    const page = source.raw
      ? await bytesUntil(open, Math.min(until, open.at! + size))
      : await recordsUntil(open, until, source, { budget, ...place })
    return frame.events ? withChanges(page, open, place, source) : page
  })
}

/** Reports that the bytes before the open place are missing. A client without events cannot be told, so its stream fails. */
async function gapAt(
  { series, at, end: to = series.end }: OpenLog,
  { frame, view: { file } }: FollowSource,
): Promise<CountedPage> {
  if (!frame.events) throw gone()
  const { part, base } = await series.addresses.at(at!)
  const offset = at! - base + (part.begin ?? 0)
  const after = await series.read(at!, Math.min(at! + PRINT_READ, to, base + part.entry.size))
  const end = { name: part.name, id: part.entry.id ?? null, offset, print: fingerprint(after, offset) }
  return { packet: changePacket({ kind: 'gap', file }, frame, end), end, records: 0 }
}

async function bytesUntil({ series, at }: OpenLog, end: number): Promise<CountedPage> {
  const bytes = await series.read(at!, end)
  return { packet: packetOf(bytes), end: await series.cursor(end), records: 0 }
}

async function recordsUntil(
  { series, at }: OpenLog,
  to: number,
  { filter, frame, context, signal, size, hold }: FollowSource & CatchUpRoom,
  { budget, splitsRecord }: Pick<Cursor, 'splitsRecord'> & { budget: Budget },
): Promise<CountedPage> {
  const { clock } = context
  if (filter.undecided) {
    filter.format = await formatOf(series, clock)
    filter.undecided = filter.format === PLAIN
  }
  const reading = { chunk: PAGE_BYTES, clock }
  const range = { series, lo: at!, hi: to, forward: true, filter, budget, splitsRecord, reading }
  const page = await findPage(range, { fit: { size, lines: null }, countBy: 'lines' })
  const rendered = async (found: Found): Promise<CountedPage> => {
    const end = await series.cursor(found.to, found.splitsRecord)
    const packet = recordsPacket(await withCursors(series, found), frame, filter, end)
    // The rest of a record was counted with its beginning.
    return { packet, end, records: Math.max(0, found.pieces.length - (splitsRecord ? 1 : 0)) }
  }
  if (!page.splitsRecord) return rendered(page)
  const first = firstRecord(page, { ...range, budget: new Budget({ signal, clock }) })
  for (const most of LONG_RECORDS) {
    // A record is read only if there is room for it, and as JSON it may be longer.
    if (!hold(most)) break
    const found = await first(most)
    if (found.splitsRecord && most < MAX_RECORD) continue
    const batch = await rendered(found)
    if (hold(packetSize(batch.packet))) return batch
    break
  }
  return rendered(await first(PAGE_BYTES))
}

/** Room for a record that is longer than a page, step by step: most are not much longer, and others need room, too. */
const LONG_RECORDS = [MAX_RECORD / 8, MAX_RECORD / 4, MAX_RECORD / 2, MAX_RECORD]

/** Reads the record that a page has the beginning of, or the first bytes of it. */
function firstRecord(page: Found, range: WalkRange): (size: number) => Promise<Found> {
  const lo = page.ends[0]! - page.pieces[0]!.length
  const splitsRecord = range.splitsRecord === true && lo === range.lo
  return (size) => findPage({ ...range, lo, splitsRecord }, { fit: { size, lines: 1 }, countBy: 'records' })
}

/** The page, with an event where the log continues in another file. */
function withChanges(
  { packet, end, records }: CountedPage,
  log: OpenLog,
  place: Cursor,
  { frame, view: { file } }: FollowSource,
): CountedPage {
  const { parts } = log.series
  const from = parts[0]!.name
  const isRenamed = from !== place.name
  const packets = [packet]
  if (isRenamed) packets.unshift(changePacket({ kind: 'rotated', file: place.name, to: from }, frame, place))
  // A joined log goes on in new objects all the time.
  if (end.name !== from && log.certain !== undefined) {
    const passed = parts.slice(
      0,
      parts.findIndex(({ name }) => name === end.name),
    )
    const isWhole = log.certain && !passed.some(({ entry }) => entry.gap)
    const change = moveChange(file, { from, to: end.name, isWhole, isRenamed })
    // A client that leaves within this page must have been told of the gap.
    if (change?.kind === 'gap') packets.unshift(changePacket(change, frame, place))
    else if (change) packets.push(changePacket(change, frame, end))
  }
  return { packet: joinPackets(packets), end, records }
}

export async function withCursors(
  series: Series,
  { pieces, ends }: { pieces: readonly Uint8Array[]; ends: readonly number[] },
): Promise<SentPart[]> {
  const records = []
  for (let i = 0; i < pieces.length; i++) {
    const bytes = pieces[i]!
    const { part, base } = await series.addresses.at(ends[i]! - 1)
    const offset = ends[i]! - base + (part.begin ?? 0)
    const inPart = Math.min(bytes.length, ends[i]! - base)
    const print = fingerprint(bytes, offset - bytes.length, bytes.length - inPart)
    records.push({ bytes, end: { name: part.name, id: part.entry.id ?? null, offset, print } })
  }
  return records
}

/**
 * The address of a place in a series, or null when it is in none of its files. A copy or an archive has another identity
 * than the file that the place was in.
 */
async function addressOf(series: Series, place: Cursor): Promise<number | null> {
  const isNamed = ({ name, entry: { id } }: Text) =>
    place.id !== null && id !== undefined ? id === place.id : name === place.name
  const newest = [...series.parts.keys()].reverse()
  const others = place.print.length === 0 ? [] : newest.filter((i) => !isNamed(series.parts[i]!))
  for (const i of [...newest.filter((i) => isNamed(series.parts[i]!)), ...others])
    if (await holds(series.parts[i]!, place)) return (await series.addresses.base(i)) + place.offset
  return null
}

/** The filter of a follow: times are checked for every record, because future records cannot be bisected. */
export async function liveFilter(
  context: ViewContext,
  asked: ViewRequest,
  signal: AbortSignal | undefined,
): Promise<Filter> {
  const { zone, clock } = context
  const { selection, file } = asked
  const opening = {
    // A new file is empty, or begins with the rest of a record: its predecessors show the format.
    request: { file, selection, rotated: true, cursor: null },
    reach: () => EVERYTHING,
    openerOf: () => ({ ...context, budget: budgetOf(context, signal) }),
  }
  const filter = await inSession(context, opening, async ({ series }) => {
    const format = await formatOf(series, clock)
    // Only a whole line shows that a log has no known format.
    const undecided = format === PLAIN && !(await hasLine(series))
    if (!undecided) checkFormat(format, selection)
    return { ...filterOf(selection, { format, zone }), undecided }
  })
  return filter!
}

/** Whether a log has a whole line, or the beginning of a long one. */
async function hasLine({ parts }: Series): Promise<boolean> {
  for (const part of parts.toReversed()) {
    const head = await part.head(SAMPLE)
    if (head.length >= SAMPLE || head.includes(10)) return true
  }
  return false
}

/** The filter that everything passes. */
export function openFilter({ zone }: ViewContext): Filter {
  return { format: PLAIN, zone, selection: EVERY_RECORD, since: null, until: null }
}
