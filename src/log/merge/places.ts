import { StoreError } from '../../store/store.ts'
import { isGone } from '../text/open.ts'
import { type LanePlace, type LaneState, laneKey, type MergedCursor, nodeKey, ordered } from './cursor.ts'
import type { MergeLane } from './lane.ts'
import type { LaneRecord } from './records/items.ts'
import { GoneError, type Missing, type Source } from './source.ts'

/** A record of the timeline. */
export interface MergedRecord extends Pick<LaneRecord, 'format' | 'time' | 'placed'> {
  bytes: Uint8Array
  source: Source
  /** Whether it belongs to a page that was given without it. */
  late: boolean
  /** Where it is in its log, if the records around matches are wanted. */
  around?: PlaceAround | undefined
}

/** A record of a timeline with context. */
export interface PlaceAround {
  /** Whether it matches; the others are there only as context. */
  isMatch: boolean
  /** How far its ends are from where reading began. */
  near: number
  far: number
  /** Whether the record of the same log before it does not touch it. */
  isApart: boolean
}

/** The records of a page, by their places in their logs, which hold them. Each is made when it is needed. */
export class MergedRecords {
  /** How many bytes they have. */
  bytes = 0
  readonly #lanes: MergeLane[] = []
  readonly #indexes: number[] = []
  readonly #late: boolean[] = []
  readonly #around: (PlaceAround | undefined)[] = []

  get length(): number {
    return this.#lanes.length
  }

  /** Adds the next record of a log. */
  add(lane: MergeLane, length: number, late: boolean, around: PlaceAround | undefined): void {
    this.bytes += length
    this.#lanes.push(lane)
    this.#indexes.push(lane.index)
    this.#late.push(late)
    this.#around.push(around)
  }

  reverse(): void {
    for (const column of [this.#lanes, this.#indexes, this.#late, this.#around]) column.reverse()
  }

  /** Which record of which log one of them is. */
  laneAt(i: number): [lane: MergeLane, index: number] {
    return [this.#lanes[i]!, this.#indexes[i]!]
  }

  /** The record at a place, counted from the end if it is below zero. */
  at(place: number): MergedRecord | undefined {
    const i = place < 0 ? this.length + place : place
    const lane = this.#lanes[i]
    if (!lane) return undefined
    const { bytes, format, time, placed } = lane.recordAt(this.#indexes[i]!)
    const { source } = lane
    return { bytes: bytes!, format, time, placed, source, late: this.#late[i]!, around: this.#around[i] }
  }

  *[Symbol.iterator](): Generator<MergedRecord, void> {
    for (let i = 0; i < this.length; i++) yield this.at(i)!
  }

  map<T>(made: (record: MergedRecord) => T): T[] {
    return Array.from(this, made)
  }
}

/** What the places of a page depend on in its request. */
interface PlacesRequest {
  cursor: { place: MergedCursor } | null
  unlisted?: readonly string[] | undefined
}

/** A page whose records are known, and what became of its logs. */
interface PageOutcome {
  request: PlacesRequest
  lanes: readonly MergeLane[]
  failed: ReadonlyMap<MergeLane, unknown>
  forward: boolean
  /** The records of the page, oldest first. */
  records: MergedRecords
}

/** Where a source begins: one that the cursor does not know begins at its moment. Null without a cursor. */
export function stateIn({ cursor }: PlacesRequest, source: Source): LaneState | null {
  if (!cursor) return null
  const { time } = cursor.place
  return knownState(cursor.place, source) ?? { place: { kind: 'time', time }, behind: false }
}

/** What a cursor says of a log, or of its node. */
export function knownState({ lanes }: MergedCursor, source: Source): LaneState | undefined {
  return lanes.get(laneKey(source)) ?? lanes.get(nodeKey(source.node))
}

/** Whether a time comes after another one in the direction of reading. */
export function isBeyond(time: number, other: number, forward: boolean): boolean {
  return forward ? time > other : time < other
}

/** Where the pages before and after a page begin; no page before if there is none. */
export async function placesAround(
  page: PageOutcome,
): Promise<{ prev: MergedCursor | null; next: MergedCursor }> {
  const { request, lanes, failed, forward, records } = page
  const times = timesOf(page)
  const onward = others(page, times.near)
  const back = new Map(onward)
  await Promise.all(
    lanes.map(async (lane) => {
      const key = laneKey(lane.source)
      // What was given of a log before it failed is not given again.
      if (failed.has(lane) && lane.next === lane.given) {
        const state = { place: keptPlace(page, lane, times.near), behind: true }
        onward.set(key, state)
        back.set(key, state)
        return
      }
      onward.set(key, { place: await lane.onward(), behind: failed.has(lane) || isBehind(page, lane) })
      const behind = stateIn(request, lane.source)?.behind === true
      back.set(key, { place: await lane.backward(), behind })
    }),
  )
  const ahead = { time: times.onward, lanes: ordered(onward) }
  const behind = { time: times.near, lanes: ordered(back) }
  const [before, next] = forward ? [behind, ahead] : [ahead, behind]
  const isStart = lanes.every(
    (lane) => failed.has(lane) || before.lanes.get(laneKey(lane.source))?.place.kind === 'start',
  )
  // A log that cannot be read, or not be listed, has a page before this one, unless nothing else has and nothing came of this one.
  const isMissing = [...failed.values()].some((error) => error instanceof StoreError)
  const waits = records.length > 0 && (isMissing || (request.unlisted?.length ?? 0) > 0)
  return { prev: isStart && !waits ? null : before, next }
}

/** The place after each record of a page: `next`, with the places of the logs as they were then. */
export async function* placesAfter(
  { request, lanes: all, failed, forward, records }: PageOutcome,
  next: MergedCursor,
): AsyncGenerator<MergedCursor> {
  const lanes = new Map(next.lanes)
  const set = async (lane: MergeLane, index: number) => {
    const place = await (forward ? lane.onward(index) : lane.backward(index))
    lanes.set(laneKey(lane.source), { place, behind: false })
  }
  for (const lane of all) if (!failed.has(lane)) await set(lane, forward ? lane.given : lane.next)
  let time = request.cursor?.place.time ?? Number.NEGATIVE_INFINITY
  for (let i = 0; i < records.length; i++) {
    const [lane, index] = records.laneAt(i)
    await set(lane, forward ? index + 1 : index)
    time = Math.max(time, records.at(i)!.placed)
    yield { time, lanes }
  }
}

/** Where a page in the same direction begins that has this record first, for each of those that were taken. */
export async function* startsOf(records: MergedRecords): AsyncGenerator<LanePlace> {
  for (let i = 0; i < records.length; i++) {
    const [lane, index] = records.laneAt(i)
    yield await lane.onward(index)
  }
}

/** The logs whose places were not found. */
export function lostIn({ failed }: PageOutcome): Source[] {
  return [...failed].filter(([, error]) => isGone(error)).map(([{ source }]) => source)
}

/** The logs that are not in a page, and why. */
export function missingIn(page: PageOutcome): Missing[] {
  // The list may be a second old: then a log that was deleted shows by its place.
  const failed = [...page.failed].map(([{ source }, error]) => ({
    name: source.name,
    error: isGone(error) ? new GoneError(laneKey(source)) : error,
  }))
  // A log of a node that could not be listed may still be there.
  const gone = page.request.unlisted?.length ? [] : unknownIn(page)
  return [...failed, ...gone.map(([key, { name = '' }]) => ({ name, error: new GoneError(key) }))]
}

/** The moments that the cursors of both sides stand for. */
function timesOf({ request, lanes, forward, records }: PageOutcome): { onward: number; near: number } {
  const now = lanes[0]!.source.context.clock.now()
  const from = request.cursor?.place.time
  const [first, last] = forward ? [records.at(0), records.at(-1)] : [records.at(-1), records.at(0)]
  const reached = last?.placed ?? from ?? now
  // Late records do not turn the time back.
  const onward = from !== undefined && isBeyond(from, reached, forward) ? from : reached
  return { onward, near: from ?? first?.placed ?? now }
}

/** Whether some of a log's records still belong to pages that were given without them. */
function isBehind({ request, forward }: PageOutcome, lane: MergeLane): boolean {
  if (stateIn(request, lane.source)?.behind !== true) return false
  return lane.hasHead ? isBeyond(request.cursor!.place.time, lane.frontier, forward) : lane.isOpen
}

/** The logs of the cursor that are not there, and the nodes that could not be listed. */
function others(page: PageOutcome, time: number): Map<number, LaneState> {
  const { cursor, unlisted = [] } = page.request
  const behind = unlisted.length > 0 ? { behind: true } : {}
  const states = new Map(unknownIn(page).map(([key, state]) => [key, { ...state, ...behind }]))
  for (const node of unlisted) {
    const key = nodeKey(node)
    const place = cursor ? { kind: 'time' as const, time } : dividedAt(page, time)
    if (!states.has(key)) states.set(key, { place, behind: true })
  }
  return states
}

/** What the cursor says of logs that are not there. */
function unknownIn({ request, lanes }: PageOutcome): [key: number, state: LaneState][] {
  const known = new Set(lanes.flatMap(({ source }) => [laneKey(source), nodeKey(source.node)]))
  return [...(request.cursor?.place.lanes ?? [])].filter(([key]) => !known.has(key))
}

/** Where a log that could not be read continues: at its place, or where the first page divided it. */
function keptPlace(page: PageOutcome, lane: MergeLane, time: number): LanePlace {
  if (isGone(page.failed.get(lane))) return { kind: 'time', time }
  return stateIn(page.request, lane.source)?.place ?? dividedAt(page, time)
}

/** Without a cursor, all that a log has now belongs before the end of the page, or after its beginning. */
function dividedAt({ lanes, forward }: PageOutcome, time: number): LanePlace {
  const now = lanes[0]!.source.context.clock.now()
  return forward ? { kind: 'start' } : { kind: 'time', time: Math.max(now, time + 0.001) }
}
