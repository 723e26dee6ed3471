import { each } from '../../../kit/limits/each.ts'
import { isTurnOver, yieldToEventLoop } from '../../../kit/limits/yield.ts'
import { StoreError } from '../../../store/store.ts'
import { LogError } from '../../error.ts'
import { eventOf, HELLO, renderBeat } from '../../follow/frame.ts'
import type { FollowLimits } from '../../follow/hub.ts'
import { isGone } from '../../text/open.ts'
import {
  encodeMerged,
  type LanePlace,
  type LaneState,
  laneKey,
  type MergedCursor,
  nodeKey,
  ordered,
} from '../cursor.ts'
import { type MergedPage, type MergeRequest, mergePage, worst } from '../merge.ts'
import type { MergedRecord } from '../places.ts'
import { knownState } from '../places.ts'
import { type MergedWriter, Output, writeAll } from '../render.ts'
import { bySource, GoneError, type Missing, MOST_SOURCES, type Source } from '../source.ts'
import { FollowedLane, type FollowedLogs, type FollowedStep, HOLD_MS } from './lane.ts'

/** What is followed, and how it is sent. */
export interface MergedFollow extends Pick<FollowedLogs, 'followersOf' | 'key' | 'events'> {
  /** The logs, as they are now: those that a pattern matches may become more. */
  sources(): Promise<readonly Source[]>
  request: Omit<MergeRequest, 'cost'>
  writer: MergedWriter
  /** Says before anything is sent which logs cannot be merged. */
  tell?(missing: readonly Missing[]): void
}

/** How long the names of logs are valid. */
const NAMES_MS = 2000
/** How long lines that arrive together are gathered: a writer often writes several. */
const GATHER_MS = 20
/** A log that a cursor does not know may have been found this long after its first line. */
const UNSEEN_MS = 5000
/** How many logs are opened at once. */
const OPENED_AT_ONCE = 8
/** How often the newest records are looked for when a log moved meanwhile. */
const TRIES = 3
/** Bytes that are sent at once. */
const SLICE = 64 * 1024
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/**
 * The newest records of several logs, and then what is appended to them, merged as it arrives. What it yields first is
 * there as soon as the logs have been read once, and may be empty: an answer can begin before anything is appended.
 */
export async function* followMerged(
  follow: MergedFollow,
  limits: FollowLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const timeline = new FollowedTimeline(follow, limits, signal)
  try {
    await timeline.open()
    yield follow.events ? HELLO : new Uint8Array()
    yield* timeline.newest()
    yield* timeline.appended()
  } finally {
    timeline.close()
  }
}

class FollowedTimeline {
  readonly #follow: MergedFollow
  readonly #limits: FollowLimits
  readonly #signal: AbortSignal
  readonly #logs: FollowedLogs
  readonly #lanes = new Map<number, FollowedLane>()
  /** What the cursor says of logs that are not there, and of nodes that could not be listed. */
  #others: MergedCursor['lanes'] = new Map()
  /** The newest time that was sent. */
  #time: number
  readonly #out = new Output()
  /** What an event is made from. */
  readonly #data = new Output()
  /** The newest records, until they are sent. */
  #opening: MergedPage | null = null
  #isChanged = false
  #wake = () => {}

  constructor(follow: MergedFollow, limits: FollowLimits, signal: AbortSignal) {
    this.#follow = follow
    this.#limits = limits
    this.#signal = signal
    this.#time = follow.request.cursor?.place.time ?? Number.NEGATIVE_INFINITY
    const { followersOf, key, events, request } = follow
    const { selection } = request
    this.#logs = { followersOf, key, events, selection, signal, changed: () => this.#change() }
    signal.addEventListener('abort', this.#leave)
  }

  /** Opens the logs, and reads the newest records, unless it begins at a place. Throws if no log can be read. */
  async open(): Promise<void> {
    const { sources, request, tell } = this.#follow
    const known = await sources()
    for (const source of known.toSorted(bySource)) this.#add(source, this.#placeOf(source))
    const lanes = [...this.#lanes.values()]
    if (request.cursor === null && !request.first) {
      this.#opening = await this.#openAtEnd(lanes)
      tell?.([...this.#opening.missing, ...failedOf(lanes)])
      return
    }
    this.#others = this.#unknownIn(request.cursor?.place.lanes ?? [])
    const { time } = this.#cursor()
    for (const node of request.unlisted ?? [])
      if (!this.#others.has(nodeKey(node)))
        this.#others.set(nodeKey(node), { place: { kind: 'time', time }, behind: true })
    await each(lanes, OPENED_AT_ONCE, (lane) => lane.open())
    const failed = failedOf(lanes)
    const nodes = new Set(known.map(({ node }) => nodeKey(node)))
    const gone = [...this.#others].filter(([key]) => !nodes.has(key))
    tell?.([...failed, ...gone.map(([key, { name = '' }]) => ({ name, error: new GoneError(key) }))])
  }

  /** Joins the logs at their ends, and reads the newest records before. */
  async #openAtEnd(lanes: readonly FollowedLane[]): Promise<MergedPage> {
    const { request, writer } = this.#follow
    for (let tries = 1; ; tries++) {
      await each(lanes, OPENED_AT_ONCE, async (lane) => lane.place ?? lane.open())
      const failed = new Set(failedOf(lanes).map(({ name }) => name))
      const place = { time: this.#limits.clock.now(), lanes: this.#cursor().lanes }
      const asked = { ...request, cost: writer.cost, cursor: { place, direction: 'before' as const } }
      // Of a log without a place, an unfinished line would be read, too.
      const opened = this.#sources.filter(({ name }) => !failed.has(name))
      const page = await mergePage(opened, asked, this.#signal)
      const lost = lanes.filter(({ source }) => page.lost.includes(source))
      if (lost.length === 0 || tries >= TRIES) {
        this.#time = page.records.at(-1)?.placed ?? Number.NEGATIVE_INFINITY
        for (const lane of lanes) lane.place ??= { kind: 'time', time: place.time }
        this.#others = this.#unknownIn(page.next.lanes)
        return page
      }
      page.release()
      for (const lane of lost) {
        lane.close()
        lane.place = null
      }
    }
  }

  /** What a cursor says of logs that are not there, and of nodes. */
  #unknownIn(lanes: Iterable<[key: number, state: LaneState]>): MergedCursor['lanes'] {
    return new Map([...lanes].filter(([key]) => !this.#lanes.has(key)))
  }

  /** The newest records, as they are sent. */
  async *newest(): AsyncGenerator<Uint8Array> {
    const page = this.#opening
    if (!page) return
    const places = this.#follow.events ? page.places() : null
    let left = page.records.length
    for (const record of page.records) {
      const isLast = --left === 0
      const place = (await places?.next())?.value as MergedCursor
      // After the last one, the logs are at their ends: these are proven, also if what leads there is in several files.
      this.#write(record, () => (isLast ? this.#cursor() : place))
      if (this.#out.length >= SLICE || isTurnOver()) yield this.#out.take()
      if (isTurnOver()) await yieldToEventLoop()
    }
    page.release()
    // It keeps the records and the logs that they are in: a follower that waits for days must not.
    this.#opening = null
    if (this.#out.length > 0) yield this.#out.take()
  }

  /** What is appended from now on. */
  async *appended(): AsyncGenerator<Uint8Array> {
    const { clock, heartbeat } = this.#limits
    let beatAt = clock.elapsed()
    let namedAt = clock.elapsed()
    for (const lane of this.#lanes.values()) this.#run(lane)
    while (!this.#signal.aborted) {
      await this.#changes(Math.min(NAMES_MS, heartbeat, this.#isHeld ? HOLD_MS : NAMES_MS))
      yield* this.#ready()
      if (clock.elapsed() - namedAt > NAMES_MS) {
        await this.#renew()
        namedAt = clock.elapsed()
      }
      if (!this.#follow.events || clock.elapsed() - beatAt < heartbeat) continue
      beatAt = clock.elapsed()
      yield renderBeat(encodeMerged(this.#cursor(), this.#sources))
    }
  }

  close(): void {
    // A client may leave before anything of it is written.
    this.#opening?.release()
    this.#signal.removeEventListener('abort', this.#leave)
    this.#leave()
  }

  readonly #leave = (): void => {
    for (const lane of this.#lanes.values()) lane.end()
    this.#change()
  }

  /** Everything that can be sent now. */
  async *#ready(): AsyncGenerator<Uint8Array> {
    const before = this.#time
    for (let lane = this.#first(); lane; lane = this.#first()) {
      this.#send(lane, lane.head!, before)
      if (this.#out.length >= SLICE || isTurnOver()) {
        yield this.#out.take()
        await yieldToEventLoop()
      }
      if (this.#signal.aborted) return
    }
    for (const { failure } of this.#lanes.values()) if (failure !== null) throw failure
    if (this.#out.length > 0) yield this.#out.take()
  }

  /** The log whose next record is the oldest; null if there is none, or one that reads what it missed may have it. */
  #first(): FollowedLane | null {
    let first: FollowedLane | null = null
    for (const lane of this.#lanes.values()) {
      if (!lane.head) {
        if (lane.holds) return null
        continue
      }
      if (!first || lane.head.time < first.head!.time) first = lane
    }
    return first
  }

  #send(lane: FollowedLane, { record, change, time }: FollowedStep, before: number): void {
    const { source } = lane
    lane.take()
    if (record) {
      this.#time = Math.max(this.#time, time)
      this.#write({ ...record, source, placed: time, late: time < before }, () => this.#cursor())
    } else if (this.#follow.events && change && change.kind !== 'rotated') {
      const records = change.kind === 'gap' ? change.records : undefined
      const data = JSON.stringify({ file: source.name, records })
      this.#out.add(encoder.encode(eventOf(change.kind, this.#id(this.#cursor()), data)))
    }
  }

  /** Writes a record; as an event with the place after it. */
  #write(record: MergedRecord, place: () => MergedCursor): void {
    const { events, writer } = this.#follow
    writeAll(record, writer, events ? this.#data : this.#out)
    if (events)
      this.#out.add(encoder.encode(eventOf('', this.#id(place()), decoder.decode(this.#data.take()))))
  }

  #id(cursor: MergedCursor): string {
    return encodeMerged(cursor, this.#sources)
  }

  get #sources(): Source[] {
    return [...this.#lanes.values()].map(({ source }) => source)
  }

  /** The place after what was sent of each log. */
  #cursor(): MergedCursor {
    const lanes = new Map(this.#others)
    for (const [key, { place }] of this.#lanes) if (place) lanes.set(key, { place, behind: false })
    const time = Number.isFinite(this.#time) ? this.#time : this.#limits.clock.now()
    return { time, lanes: ordered(lanes) }
  }

  /** Where a log begins: at its place in the cursor, or a little before its moment if it is not there. */
  #placeOf(source: Source): LanePlace | null {
    const { cursor, first, selection } = this.#follow.request
    if (!cursor && !first) return null
    if (!cursor) return selection.since === null ? { kind: 'start' } : { kind: 'time', time: selection.since }
    const { time } = cursor.place
    return knownState(cursor.place, source)?.place ?? { kind: 'time', time: time - UNSEEN_MS }
  }

  #add(source: Source, place: LanePlace | null): FollowedLane {
    const { cursor, first = false } = this.#follow.request
    // Before the first records that are asked for, nothing is missing.
    const begin = { place, time: this.#cursor().time, isAsked: cursor === null && first }
    const lane = new FollowedLane(source, begin, this.#logs)
    this.#lanes.set(laneKey(source), lane)
    return lane
  }

  #run(lane: FollowedLane): void {
    // Its client was told that the log is missing, and without events could not be told where it goes on.
    if (isGone(lane.error) && !this.#follow.events) return
    void lane.run()
  }

  /** Logs that appeared meanwhile are followed from their beginning. */
  async #renew(): Promise<void> {
    try {
      const known = await this.#follow.sources()
      for (const source of known.toSorted(bySource)) {
        const lane = this.#lanes.get(laneKey(source))
        const others = { time: this.#time, lanes: this.#others }
        if (lane) lane.renew(source)
        else this.#run(this.#add(source, knownState(others, source)?.place ?? { kind: 'start' }))
        this.#others.delete(laneKey(source))
      }
      this.#forget(new Set(known.map(laneKey)))
    } catch (error) {
      if (error instanceof LogError && error.code === 'too-many-sources') throw error
      // The storage may answer again later.
      if (!(error instanceof StoreError || error instanceof LogError)) throw error
    }
  }

  /** Logs that are not listed any more may come back; of many, the first ones are forgotten. */
  #forget(listed: ReadonlySet<number>): void {
    for (const [key, lane] of this.#lanes) {
      if (this.#lanes.size <= 2 * MOST_SOURCES) return
      if (listed.has(key)) continue
      lane.end()
      this.#lanes.delete(key)
    }
  }

  /** Whether a log reads what it missed. */
  get #isHeld(): boolean {
    return [...this.#lanes.values()].some((lane) => lane.holds)
  }

  #change(): void {
    this.#isChanged = true
    this.#wake()
  }

  /** Waits for something to send, and gathers what arrives together; or waits for some time. */
  async #changes(ms: number): Promise<void> {
    const { clock } = this.#limits
    if (!this.#isChanged)
      await new Promise<void>((resolve) => {
        const cancel = clock.after(ms, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
    this.#wake = () => {}
    if (this.#isChanged && !this.#isHeld && !this.#signal.aborted)
      await new Promise<void>((resolve) => clock.after(GATHER_MS, resolve))
    this.#isChanged = false
  }
}

/** The logs that cannot be opened, and why. Throws if there are no others. */
function failedOf(lanes: readonly FollowedLane[]): Missing[] {
  const failed = lanes.filter(({ error }) => error !== null)
  if (failed.length === lanes.length) throw worst(failed.map(({ error }) => error))
  return failed.map(({ source, error }) => ({
    name: source.name,
    error: isGone(error) ? new GoneError(laneKey(source)) : error,
  }))
}
