import { each } from '../../../kit/limits/each.ts'
import { isTurnOver, yieldToEventLoop } from '../../../kit/limits/yield.ts'
import { StoreError } from '../../../store/store.ts'
import { LogError } from '../../error.ts'
import { eventOf, renderBeat } from '../../follow/frame.ts'
import type { FollowLimits } from '../../follow/hub.ts'
import { isGone } from '../../text/open.ts'
import {
  encodeMerged,
  type LanePlace,
  type LaneState,
  LONGEST_CURSORS,
  laneKey,
  type MergedCursor,
  nodeKey,
  ordered,
} from '../cursor.ts'
import { type MergeRequest, worst } from '../merge.ts'
import type { MergedRecord } from '../places.ts'
import { knownState } from '../places.ts'
import { type MergedWriter, Output, writeAll } from '../render.ts'
import { bySource, GoneError, type Missing, MOST_SOURCES, type Source, tooMany } from '../source.ts'
import { FollowedLane, type FollowedLogs, type FollowedStep, HOLD_MS } from './lane.ts'

/** What is followed, and how it is sent. */
export interface MergedFollow extends Pick<FollowedLogs, 'followersOf' | 'key' | 'events'> {
  /** The logs, as they are now: those that a pattern matches may become more. */
  sources(signal: AbortSignal): Promise<readonly Source[]>
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
/** Bytes that are sent at once. */
export const SLICE = 64 * 1024
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Several logs that are followed as one, from the end or from a place. */
export class FollowedTimeline {
  /** How many clients it is sent to: for many, more is gathered. */
  followers = 1
  /** How many records of each log were sent, or left out with a word. */
  readonly sent = new Map<string, number>()
  readonly #follow: MergedFollow
  readonly #limits: FollowLimits
  readonly #signal: AbortSignal
  readonly #logs: FollowedLogs
  readonly #lanes = new Map<number, FollowedLane>()
  /** What the cursor says of logs that are not there, and of nodes that could not be listed. */
  #others: MergedCursor['lanes'] = new Map()
  /** The newest time that was sent. */
  #time: number
  readonly #out: EventOutput
  /** Set by an error that it ends with. */
  failure: unknown = null
  #renewing: Promise<void> | null = null
  #isChanged = false
  #wake = () => {}

  constructor(follow: MergedFollow, limits: FollowLimits, signal: AbortSignal) {
    this.#follow = follow
    this.#limits = limits
    this.#signal = signal
    this.#time = follow.request.cursor?.place.time ?? Number.NEGATIVE_INFINITY
    this.#out = new EventOutput(follow)
    const { followersOf, key, events, request } = follow
    const { selection } = request
    this.#logs = { followersOf, key, events, selection, signal, changed: () => this.#change() }
    signal.addEventListener('abort', this.#leave)
  }

  /** Opens the logs, and joins those without a place at their ends. Throws if no log can be read. */
  async open(): Promise<void> {
    const { sources, request } = this.#follow
    for (const source of (await sources(this.#signal)).toSorted(bySource))
      this.#add(source, this.#placeOf(source))
    this.#others = this.#unknownIn(request.cursor?.place.lanes ?? [])
    const { time } = this.cursor
    for (const node of request.unlisted ?? [])
      if (!this.#others.has(nodeKey(node)))
        this.#others.set(nodeKey(node), { place: { kind: 'time', time }, behind: true })
    const lanes = [...this.#lanes.values()]
    await each(lanes, OPENED_AT_ONCE, (lane) => lane.open())
    for (const lane of lanes) lane.place ??= { kind: 'time', time }
    throwIfNone(lanes)
    this.#checkLength()
  }

  /** The logs that cannot be read now, and those of the cursor that are gone. */
  get missing(): Missing[] {
    const nodes = new Set(this.sources.map(({ node }) => nodeKey(node)))
    const gone = [...this.#others].filter(([key]) => !nodes.has(key))
    return [
      ...failedIn([...this.#lanes.values()]),
      ...gone.map(([key, { name = '' }]) => ({ name, error: new GoneError(key) })),
    ]
  }

  /** Whether a log still reads what was written before. */
  get isBehind(): boolean {
    return [...this.#lanes.values()].some((lane) => lane.isBehind)
  }

  /** The logs that can be read now. */
  get readable(): Source[] {
    return [...this.#lanes.values()].filter(({ error }) => error === null).map(({ source }) => source)
  }

  /** Throws if the cursor of an event is longer than what a client that reconnects may send. */
  #checkLength(): void {
    const { length } = encodeMerged(this.cursor, this.sources)
    if (!this.#follow.events || length <= LONGEST_CURSORS) return
    const count = this.#lanes.size
    const most = Math.floor((count * LONGEST_CURSORS) / length)
    throw tooMany(
      this.sources,
      most,
      `Events would have a place in each of ${count} logs, and about ${most} fit`,
    )
  }

  /** Opens logs again whose places were lost before anything was sent. */
  async reopen(lost: readonly Source[]): Promise<void> {
    for (const lane of this.#lanes.values()) {
      if (!lost.includes(lane.source)) continue
      lane.close()
      lane.place = null
      await lane.open()
      lane.place ??= { kind: 'time', time: this.#limits.clock.now() }
    }
  }

  /** Records up to this time were sent. */
  reached(time: number): void {
    this.#time = Math.max(this.#time, time)
  }

  /** What a cursor says of logs that are not there, and of nodes. */
  #unknownIn(lanes: Iterable<[key: number, state: LaneState]>): MergedCursor['lanes'] {
    return new Map([...lanes].filter(([key]) => !this.#lanes.has(key)))
  }

  /** What is appended from now on. */
  async *appended(): AsyncGenerator<Uint8Array> {
    const { clock, heartbeat } = this.#limits
    let beatAt = clock.elapsed()
    let namedAt = clock.elapsed()
    for (const lane of this.#lanes.values()) this.#run(lane)
    while (!this.#signal.aborted) {
      const wait = Math.min(NAMES_MS, heartbeat, this.#isHeld ? HOLD_MS : NAMES_MS)
      await this.#changes(wait, GATHER_MS + Math.min(80, this.followers))
      yield* this.#ready()
      if (clock.elapsed() - namedAt > NAMES_MS) {
        namedAt = clock.elapsed()
        this.#renewing ??= this.#renew().finally(() => {
          this.#renewing = null
        })
      }
      if (!this.#follow.events || clock.elapsed() - beatAt < heartbeat) continue
      beatAt = clock.elapsed()
      yield renderBeat(this.#id())
    }
  }

  close(): void {
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
    for (const { failure } of [this, ...this.#lanes.values()]) if (failure !== null) throw failure
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
      this.reached(time)
      this.#count(source, 1)
      this.#out.record({ ...record, source, placed: time, late: time < before }, () => this.#id())
    } else if (this.#follow.events && change && change.kind !== 'rotated') {
      const records = change.kind === 'gap' ? change.records : undefined
      this.#count(source, records ?? 1)
      this.#out.add(
        encoder.encode(eventOf(change.kind, this.#id(), JSON.stringify({ file: source.name, records }))),
      )
    }
  }

  #count({ name }: Source, records: number): void {
    this.sent.set(name, (this.sent.get(name) ?? 0) + records)
  }

  #id(): string {
    return encodeMerged(this.cursor, this.sources)
  }

  get sources(): Source[] {
    return [...this.#lanes.values()].map(({ source }) => source)
  }

  /** The place after what was sent of each log. */
  get cursor(): MergedCursor {
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
    const begin = { place, time: this.cursor.time, isAsked: cursor === null && first }
    const lane = new FollowedLane(source, begin, this.#logs)
    this.#lanes.set(laneKey(source), lane)
    return lane
  }

  #run(lane: FollowedLane): void {
    // Its client was told that the log is missing, and without events could not be told where it goes on.
    if (isGone(lane.error) && !this.#follow.events) return
    void lane.run()
  }

  /** Logs that appeared meanwhile are followed from their beginning. A node that does not answer holds up no line. */
  async #renew(): Promise<void> {
    try {
      const known = await this.#follow.sources(this.#signal)
      for (const source of known.toSorted(bySource)) {
        const lane = this.#lanes.get(laneKey(source))
        const others = { time: this.#time, lanes: this.#others }
        if (lane) lane.renew(source)
        else this.#run(this.#add(source, knownState(others, source)?.place ?? { kind: 'start' }))
        this.#others.delete(laneKey(source))
      }
      this.#forget(new Set(known.map(laneKey)))
    } catch (error) {
      // The storage may answer again later.
      const isPassing = error instanceof StoreError || error instanceof LogError
      if (isPassing && error.code !== 'too-many-sources') return
      this.failure = error
      this.#change()
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
  async #changes(ms: number, gather: number): Promise<void> {
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
      await new Promise<void>((resolve) => clock.after(gather, resolve))
    this.#isChanged = false
  }
}

/** Throws if no log can be opened. */
function throwIfNone(lanes: readonly FollowedLane[]): void {
  if (lanes.every(({ error }) => error !== null)) throw worst(lanes.map(({ error }) => error))
}

/** The logs that cannot be opened, and why. */
function failedIn(lanes: readonly FollowedLane[]): Missing[] {
  return lanes
    .filter(({ error }) => error !== null)
    .map(({ source, error }) => ({
      name: source.name,
      error: isGone(error) ? new GoneError(laneKey(source)) : error,
    }))
}

/** Records as they are sent: of events, each with the place after it. */
export class EventOutput extends Output {
  readonly #follow: Pick<MergedFollow, 'events' | 'writer'>
  /** What an event is made from. */
  readonly #data = new Output()

  constructor(follow: Pick<MergedFollow, 'events' | 'writer'>) {
    super()
    this.#follow = follow
  }

  record(record: MergedRecord, id: () => string): void {
    const { events, writer } = this.#follow
    writeAll(record, writer, events ? this.#data : this)
    if (events) this.add(encoder.encode(eventOf('', id(), decoder.decode(this.#data.take()))))
  }
}
