import type { ConcurrencyLimit } from '../../limits/concurrency-limit.ts'
import { each } from '../../limits/each.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { Fit } from '../search/span.ts'
import type { Note } from '../view/answer.ts'
import type { ViewContext } from '../view/context.ts'
import { ONE_MORE } from '../view/request.ts'
import { type LanePlace, type LaneState, laneKey, type MergedCursor, nodeKey, ordered } from './cursor.ts'
import { Lane, type LaneRecord, type MergeFilter } from './lane.ts'
import { insertInto, REACH } from './order.ts'
import { bySource, GoneError, type Missing, type Source } from './source.ts'

/** Which part of the timeline is wanted. */
export interface MergeRequest extends MergeFilter {
  cursor: { place: MergedCursor; direction: 'before' | 'after' } | null
  /** Whether the first records that fit are wanted rather than the last. @default false */
  first?: boolean | undefined
  /** How much fits into the page. */
  fit: { size: number; lines: number | null }
  /** Whether the logs are followed: unfinished lines are left out, and what comes late is marked. @default false */
  live?: boolean | undefined
  /** Nodes whose logs are not known, because they could not be listed. @default none */
  unlisted?: readonly string[] | undefined
  /** What a record takes of that. */
  cost(bytes: Uint8Array, source: Source): { size: number; lines: number }
}

/** A record of the timeline. */
export interface MergedRecord extends LaneRecord {
  source: Source
  /** Whether it belongs to a page that was given without it. */
  late: boolean
}

/** A page of the timeline, oldest record first. */
export interface MergedPage {
  records: MergedRecord[]
  /** Where the page before begins; null when there is none. */
  prev: MergedCursor | null
  next: MergedCursor
  notes: Note[]
  missing: Missing[]
  /** Whether nothing is left in the direction of the page. */
  complete: boolean
  /** The place after each record, in order. Each is only valid until the next. */
  places(): AsyncGenerator<MergedCursor>
  /** The state of all files; it changes with each of them. */
  state: string
  /** Releases the memory of the records, when they have been sent. */
  release(): void
}

const MIB = 1024 * 1024
/** Every log may read this much, however many share a budget. */
const LEAST_SCAN = 4 * MIB
/** How many logs are read at once: on a disk, and over a network, where a short page of each costs only the way there. */
const NEAR_AT_ONCE = 2
const FAR_AT_ONCE = 32
const SEARCHED_AT_ONCE = 16
/** More than its share of a page is read of each log, because shares are not even. */
const SHARE = 1.25
const SMALLEST_READ = 4096
/** A new log is found up to this long after its first line, when followers have newer lines of the others already. */
const UNSEEN_MS = 5000

/** Merges pages of several logs into a page of their timeline. */
export async function mergePage(
  sources: readonly Source[],
  request: MergeRequest,
  signal?: AbortSignal,
): Promise<MergedPage> {
  const merge = new Merge(sources, request, signal)
  const { archives, scans } = sources[0]!.context
  // One slot for all of them: if each log waited for its own, 32 of them would be refused.
  const search = () => (isSearch(request) ? scans.run(() => merge.run(), signal) : merge.run())
  return archives ? archives.run(search, signal) : search()
}

/** Whether records are looked for, so that much may be read for few of them. */
function isSearch({ level, matcher }: MergeRequest): boolean {
  return level !== null || matcher !== null
}

/** The slots of something that has one already. */
export const IN_SLOT: ConcurrencyLimit = {
  run: (job) => job(),
  enter: async () => () => {},
  load: { running: 0, waiting: 0 },
}

class Merge {
  readonly #request: MergeRequest
  readonly #signal: AbortSignal | undefined
  readonly #forward: boolean
  readonly #isFiltered: boolean
  readonly #lanes: Lane[]
  /** The place of each log among their names. */
  readonly #ranks: Map<Lane, number>
  readonly #failed = new Map<Lane, unknown>()
  readonly #records: MergedRecord[] = []
  /** Which record of which log each of them is. */
  readonly #taken: { lane: Lane; index: number }[] = []
  #size: number
  #lines: number
  #isCut = false
  #reads = 0

  constructor(sources: readonly Source[], request: MergeRequest, signal: AbortSignal | undefined) {
    this.#request = request
    this.#signal = signal
    const { cursor, first = false, fit } = request
    this.#isFiltered = isSearch(request)
    this.#forward = cursor ? cursor.direction === 'after' : first
    this.#size = fit.size
    this.#lines = fit.lines ?? Number.POSITIVE_INFINITY
    const live = request.live === true
    this.#lanes = sources.toSorted(bySource).map((source) => {
      const place = this.#stateOf(source)?.place ?? null
      return new Lane(source, request, { forward: this.#forward, live, place })
    })
    this.#ranks = new Map(this.#lanes.map((lane, i) => [lane, i]))
  }

  async run(): Promise<MergedPage> {
    try {
      return await this.#page()
    } catch (error) {
      this.#release()
      throw error
    }
  }

  async #page(): Promise<MergedPage> {
    const started = Date.now()
    while (await this.#readAhead(started)) if (this.#emit()) break
    const answering = this.#lanes.filter((lane) => !this.#failed.has(lane))
    if (answering.length === 0) throw worst([...this.#failed.values()])
    if (!this.#forward) {
      this.#records.reverse()
      this.#taken.reverse()
    }
    const notes = new Set(answering.flatMap((lane) => [...lane.notes]))
    for (const note of ['scan-budget', 'answer-budget'] as const) notes.delete(note)
    if (this.#isCut) notes.add('scan-budget')
    if (answering.some((lane) => lane.falls)) notes.add('time-order')
    if (answering.some((lane) => !lane.notes.has('unknown-field'))) notes.delete('unknown-field')
    const cursors = await this.#cursors(answering)
    return {
      records: this.#records,
      ...cursors,
      complete: !this.#isCut && answering.every((lane) => !lane.head && lane.isDone),
      places: () => this.#places(cursors.next),
      notes: [...notes],
      missing: this.#missing(),
      state: this.#lanes.map((lane) => lane.state).join('\n'),
      release: () => this.#release(),
    }
  }

  /** Where a source begins: one that the cursor does not know begins at its moment. */
  #stateOf(source: Source): LaneState | null {
    const { cursor } = this.#request
    if (!cursor) return null
    const { time, lanes } = cursor.place
    const state = lanes.get(laneKey(source)) ?? lanes.get(nodeKey(source.node))
    const unseen = this.#request.live ? UNSEEN_MS : 0
    return state ?? { place: { kind: 'time', time: time - unseen }, behind: false }
  }

  /** Reads until the next record of every log is known. False if a log's cannot be found within the budget. */
  async #readAhead(started: number): Promise<boolean> {
    for (;;) {
      const waiting = this.#active().filter((lane) => !lane.head && lane.isOpen)
      if (waiting.length === 0) break
      const { files } = waiting[0]!.source.context
      const far = this.#isFiltered ? SEARCHED_AT_ONCE : FAR_AT_ONCE
      await each(waiting, files.isNear ? NEAR_AT_ONCE : far, (lane) => this.#read(lane, started))
      this.#reads++
    }
    this.#isCut = this.#active().some((lane) => !lane.head && lane.isCut)
    return !this.#isCut
  }

  #active(): Lane[] {
    return this.#lanes.filter((lane) => !this.#failed.has(lane))
  }

  /** A log that cannot be read is left out and named. */
  async #read(lane: Lane, started: number): Promise<void> {
    const { source } = lane
    const { limits, parallel = 1 } = source.context
    const share = this.#share(lane)
    const count = this.#lanes.length
    const context: ViewContext = {
      ...source.context,
      scans: IN_SLOT,
      parallel: Math.max(1, Math.floor(parallel / count)),
      limits: {
        ...limits,
        scanBytes: Math.max(LEAST_SCAN, Math.floor(limits.scanBytes / count)),
        scanMillis: Math.max(1, limits.scanMillis - (Date.now() - started)),
        scanChunk: this.#isFiltered ? Math.max(MIB / 4, Math.floor((8 * MIB) / count)) : chunkFor(share.size),
      },
    }
    delete context.archives
    try {
      await lane.read(share, context, this.#signal)
    } catch (error) {
      this.#signal?.throwIfAborted()
      if (!(error instanceof LogError || error instanceof StoreError)) throw error
      lane.release()
      this.#failed.set(lane, error)
    }
  }

  /** How much of a log is read next: its share of what is left, and more each time. */
  #share(lane: Lane): Fit {
    const rest = Math.min(this.#size, this.#lines * lane.average)
    const edge = REACH * lane.average
    const lead = this.#reads === 0 ? lane.lead : 0
    const size = Math.max(SMALLEST_READ, Math.min(this.#part(rest), rest + edge) + edge + lead)
    if (!this.#isFiltered) return { size, lines: null }
    // All of the log between two matches is read, so each of them counts.
    const records = Math.ceil(rest / lane.average)
    const edges = REACH - Math.min(REACH, lane.undecided) + (lead > 0 ? REACH : 0)
    return { size, lines: Math.max(1, Math.min(this.#part(records), records + REACH) + edges) }
  }

  /** The part of the rest that is expected of each log. */
  #part(rest: number): number {
    const lanes = this.#lanes.filter((each) => each.isOpen).length
    return Math.ceil((SHARE * rest) / Math.max(1, lanes)) * 2 ** Math.min(8, this.#reads)
  }

  /** Takes records until one log has to be read further. True when the page is full, or nothing is left. */
  #emit(): boolean {
    const order = this.#active()
      .filter((lane) => lane.head)
      .sort((a, b) => (this.#comesFirst(a, b) ? -1 : 1))
    for (let lane = order.shift(); lane; lane = order.shift()) {
      const rival = order[0]
      for (let head = lane.head; head && (!rival || this.#comesFirst(lane, rival)); head = lane.head) {
        if (!this.#take(lane, head)) return true
        lane.next++
      }
      if (this.#isFull()) return true
      if (lane.head) insertInto(order, lane, (a, b) => this.#comesFirst(a, b))
      else if (lane.isOpen || lane.isCut) return false
    }
    return true
  }

  #isFull(): boolean {
    return this.#records.length > 0 && (this.#size <= 0 || this.#lines <= 0)
  }

  /** Whether the next record of a log is taken before that of another: at the same time, as their names are sorted. */
  #comesFirst(a: Lane, b: Lane): boolean {
    const difference = a.head!.placed - b.head!.placed || this.#ranks.get(a)! - this.#ranks.get(b)!
    return this.#forward ? difference < 0 : difference > 0
  }

  /** False if the record does not fit. A page has at least one, however long. */
  #take(lane: Lane, { bytes, format, time, placed }: LaneRecord): boolean {
    const { cursor, fit } = this.#request
    if (fit.size === 0 || fit.lines === 0) return false
    const { size, lines } = this.#request.cost(bytes, lane.source)
    if (this.#records.length > 0 && (size > this.#size || lines > this.#lines)) return false
    this.#size -= size
    this.#lines -= lines
    const behind = this.#request.live === true || this.#stateOf(lane.source)?.behind === true
    const late = cursor !== null && behind && this.#isPassed(placed, cursor.place.time)
    this.#taken.push({ lane, index: lane.next })
    this.#records.push({ bytes, format, time, placed, source: lane.source, late })
    return true
  }

  #isPassed(placed: number, time: number): boolean {
    return this.#forward ? placed < time : placed > time
  }

  async #cursors(answering: readonly Lane[]): Promise<Pick<MergedPage, 'prev' | 'next'>> {
    const { cursor } = this.#request
    const oldest = this.#records[0]?.placed
    const newest = this.#records.at(-1)?.placed
    const now = this.#lanes[0]!.source.context.now()
    const from = cursor?.place.time
    // Late records do not turn the time back.
    const onwardTime = this.#forward
      ? Math.max(newest ?? from ?? now, from ?? Number.NEGATIVE_INFINITY)
      : Math.min(oldest ?? from ?? now, from ?? Number.POSITIVE_INFINITY)
    const nearTime = from ?? (this.#forward ? oldest : newest) ?? now
    const onward = new Map<number, LaneState>()
    const back = new Map<number, LaneState>()
    await Promise.all(
      this.#lanes.map(async (lane) => {
        const key = laneKey(lane.source)
        if (this.#failed.has(lane)) {
          const place = this.#kept(lane, nearTime)
          onward.set(key, { place, behind: true })
          back.set(key, { place, behind: true })
          return
        }
        const state = this.#stateOf(lane.source)
        const isBehind =
          state?.behind === true && (lane.head ? this.#isPassed(lane.head.placed, from!) : lane.isOpen)
        onward.set(key, { place: await lane.onward(), behind: isBehind })
        back.set(key, { place: await lane.backward(), behind: state?.behind === true })
      }),
    )
    for (const [key, state] of this.#others(nearTime)) {
      onward.set(key, state)
      back.set(key, state)
    }
    const ahead = { time: onwardTime, lanes: ordered(onward) }
    const behind = { time: nearTime, lanes: ordered(back) }
    const [before, next] = this.#forward ? [behind, ahead] : [ahead, behind]
    const isStart = answering.every((lane) => before.lanes.get(laneKey(lane.source))?.place.kind === 'start')
    // A log that cannot be read has a page before this one, unless nothing else has and nothing came of this one.
    const waits =
      this.#records.length > 0 && [...this.#failed.values()].some((error) => error instanceof StoreError)
    return { prev: isStart && !waits ? null : before, next }
  }

  /** The place after each record: `next`, with the places of the logs as they were then. */
  async *#places(next: MergedCursor): AsyncGenerator<MergedCursor> {
    const lanes = new Map(next.lanes)
    const set = async (lane: Lane, index: number) => {
      const place = await (this.#forward ? lane.onward(index) : lane.backward(index))
      lanes.set(laneKey(lane.source), { place, behind: false })
    }
    for (const lane of this.#active()) await set(lane, this.#forward ? lane.given : lane.next)
    let time = this.#request.cursor?.place.time ?? Number.NEGATIVE_INFINITY
    for (const [i, { lane, index }] of this.#taken.entries()) {
      await set(lane, this.#forward ? index + 1 : index)
      time = Math.max(time, this.#records[i]!.placed)
      yield { time, lanes }
    }
  }

  /** The logs of the cursor that are not there, and the nodes that could not be listed. */
  #others(time: number): Map<number, LaneState> {
    const { cursor, unlisted = [] } = this.#request
    const others = new Map<number, LaneState>()
    const known = this.#known()
    for (const [key, state] of cursor?.place.lanes ?? [])
      if (!known.has(key)) others.set(key, unlisted.length > 0 ? { ...state, behind: true } : state)
    for (const node of unlisted) {
      const key = nodeKey(node)
      const place = cursor ? { kind: 'time' as const, time } : this.#divided(time)
      if (!others.has(key)) others.set(key, { place, behind: true })
    }
    return others
  }

  /** What the cursor knows of the logs that are there. */
  #known(): Set<number> {
    const keys = this.#lanes.flatMap(({ source }) => [laneKey(source), nodeKey(source.node)])
    return new Set(keys)
  }

  /** Where a log that could not be read continues: at its place, or where the first page divided it. */
  #kept(lane: Lane, time: number): LanePlace {
    const error = this.#failed.get(lane)
    if (error instanceof LogError && error.code === 'cursor-gone') return { kind: 'time', time }
    return this.#stateOf(lane.source)?.place ?? this.#divided(time)
  }

  /** Without a cursor, all that a log has now belongs before the end of the page, or after its beginning. */
  #divided(time: number): LanePlace {
    const { now } = this.#lanes[0]!.source.context
    return this.#forward ? { kind: 'start' } : { kind: 'time', time: Math.max(now(), time + 0.001) }
  }

  #missing(): Missing[] {
    const { cursor, unlisted = [] } = this.#request
    const known = this.#known()
    const failed = [...this.#failed].map(([{ source }, error]) => ({ name: source.name, error }))
    // A log of a node that could not be listed may still be there.
    const gone =
      unlisted.length > 0 ? [] : [...(cursor?.place.lanes ?? [])].filter(([key]) => !known.has(key))
    return [...failed, ...gone.map(([key, { name = '' }]) => ({ name, error: new GoneError(key) }))]
  }

  #release(): void {
    for (const lane of this.#lanes) lane.release()
  }
}

/** What is said when no log can be read: that the storage fails, if it does for one of them. */
function worst(errors: readonly unknown[]): unknown {
  return errors.find((error) => error instanceof StoreError) ?? errors[0]
}

/** Bytes per read when every record is wanted: little more than what is wanted. */
function chunkFor(size: number): number {
  return Math.min(MIB, Math.max(16 * 1024, size + ONE_MORE))
}
