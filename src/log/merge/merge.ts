import { BudgetError } from '../../kit/limits/budget.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { AHEAD } from '../search/range.ts'
import type { Selection } from '../selection.ts'
import { readsForward } from '../text/open.ts'
import type { Note } from '../view/answer.ts'
import { Ahead } from './ahead.ts'
import { type LanePlace, laneKey, type MergedCursor } from './cursor.ts'
import { Lane, type LaneOptions, type MergeLane } from './lane.ts'
import {
  isBeyond,
  lostIn,
  MergedRecords,
  missingIn,
  type PlaceAround,
  placesAfter,
  placesAround,
  startsOf,
  stateIn,
} from './places.ts'
import type { Elsewhere } from './reader.ts'
import type { LaneRecord } from './records/items.ts'
import { insertInto } from './records/order.ts'
import { bySource, type Missing, type Source } from './source.ts'

/** Which part of the timeline is wanted. */
export interface MergeRequest {
  selection: Selection
  /** How the texts of the logs are written. */
  charset?: LaneOptions['charset']
  cursor: { place: MergedCursor; direction: 'before' | 'after' } | null
  /** Whether the first records that fit are wanted rather than the last. @default false */
  first?: boolean | undefined
  fit: { size: number; lines: number | null }
  /** Nodes whose logs are not known, because they could not be listed. @default none */
  unlisted?: readonly string[] | undefined
  /** Who reads logs that are elsewhere. @default all are read here */
  elsewhere?: Elsewhere | undefined
  /** Whether there is one log, which is searched as if by itself. @default false */
  alone?: boolean | undefined
  /** How many records around each match, in its own log, are wanted, too. `fit.lines` counts matches then. */
  context?: LaneOptions['context']
  /** What a record takes of that. @default its length, and one line */
  cost?: ((bytes: Uint8Array, source: Source) => { size: number; lines: number }) | undefined
  /** What stands between two groups of a log's records that do not touch. @default nothing */
  separator?: ((source: Source) => number) | undefined
}

/** A page of the timeline, oldest record first. */
export interface MergedPage {
  records: MergedRecords
  /** Where the page before begins; null when there is none. */
  prev: MergedCursor | null
  next: MergedCursor
  notes: Note[]
  missing: Missing[]
  /** The logs among those whose places were not found. */
  lost: readonly Source[]
  /** Whether nothing is left in the direction of the page. */
  complete: boolean
  /** The place after each record, in order. Each is only valid until the next. */
  places(): AsyncGenerator<MergedCursor>
  /** Whether it was read from older to newer records. */
  forward: boolean
  /** For a page of one log: where a page in the same direction begins that has this record first, for each of them. */
  starts(): AsyncGenerator<LanePlace>
  /** How far the next record is at least. */
  frontier: number
  /** The state of all files; it changes with each of them. */
  state: string
  /** Releases the memory of the records, when they have been sent. */
  release(): void
}

/** Merges pages of several logs into a page of their timeline. */
export async function mergePage(
  sources: readonly Source[],
  request: MergeRequest,
  signal?: AbortSignal,
): Promise<MergedPage> {
  refuseAlike(sources)
  const merge = new Merge(sources, request, { signal })
  const { archives, scans } = sources[0]!.context
  // One slot for all of them: if each log waited for its own, 32 of them would be refused.
  const search = () => (request.selection.isSearch ? scans.run(() => merge.page(), signal) : merge.page())
  return archives ? archives.run(search, signal) : search()
}

/** Names may be made up so that a cursor would take one log for another. */
function refuseAlike(sources: readonly Source[]): void {
  if (new Set(sources.map(laneKey)).size === sources.length) return
  throw new LogError(
    'too-many-sources',
    'Two of these logs have names that a cursor cannot tell apart; view one of them by itself.',
  )
}

/** A log whose next record waits for its turn, and when that is. */
interface Waiting {
  lane: MergeLane
  /** Its place among the logs, which decides at the same time. */
  rank: number
  time: number
}

/** Several logs that are read as one, in one direction. */
export class Merge {
  records = new MergedRecords()
  /** The logs that cannot be read. */
  readonly failed = new Map<MergeLane, unknown>()
  /** Whether a budget ended the page. */
  isCut = false
  readonly #request: MergeRequest
  readonly signal: AbortSignal | undefined
  protected readonly clock: Clock
  readonly #all: boolean
  readonly #forward: boolean
  readonly #lanes: MergeLane[]
  readonly #ahead: Ahead
  /** The logs some of whose records belong to pages that were given without them. */
  readonly #behind: ReadonlySet<MergeLane>
  /** What still fits. */
  #size: number
  #lines: number
  /** The record of each log that was taken last, if the records around matches are wanted. */
  readonly #last = new Map<MergeLane, Pick<LaneRecord, 'distance' | 'far'>>()

  /** With `all`, the whole timeline is read, one page after the other. */
  constructor(
    sources: readonly Source[],
    request: MergeRequest,
    { signal, all = false }: { signal?: AbortSignal | undefined; all?: boolean },
  ) {
    this.#all = all
    this.#request = request
    this.signal = signal
    this.clock = sources[0]!.context.clock
    const { fit } = request
    this.#forward = readsForward(request)
    this.#size = fit.size
    this.#lines = fit.lines ?? Number.POSITIVE_INFINITY
    this.#lanes = sources.toSorted(bySource).map((source) => {
      const place = stateIn(request, source)?.place ?? null
      return this.#laneOf(source, { forward: this.#forward, place })
    })
    this.#behind = new Set(this.#lanes.filter(({ source }) => stateIn(request, source)?.behind === true))
    this.#ahead = new Ahead({
      lanes: this.#lanes,
      forward: this.#forward,
      isSearch: request.selection.isSearch,
      fit: { size: this.#size, lines: this.#lines },
      all,
      alone: request.alone,
      clock: this.clock,
    })
  }

  /** A log is read where it is, if somebody can do that. */
  #laneOf(source: Source, options: LaneOptions): MergeLane {
    const { selection, charset, context, elsewhere } = this.#request
    const here = (place: LaneOptions['place']) =>
      new Lane(source, selection, { ...options, charset, context, place })
    const reader = context === undefined ? elsewhere?.readerOf(source) : undefined
    if (!reader) return here(options.place)
    return reader.lane(source, { ...options, filters: elsewhere!.filters, all: this.#all, here })
  }

  /** The page, with the places around it. */
  async page(): Promise<MergedPage> {
    try {
      await this.fill()
      return await this.#placed()
    } catch (error) {
      this.release()
      throw error
    }
  }

  /** Reads until the page is full, or nothing is left. */
  async fill(): Promise<void> {
    for (let lane = this.#emit(); lane && !this.isCut; lane = this.#emit()) {
      if (lane.hasHead) await this.#tried(lane, () => lane.load(this.#ahead.memory, this.signal))
      else if (lane.isCut) this.isCut = true
      else
        await this.#ahead.readOn(
          this.#answering(),
          { size: this.#size, lines: this.#lines },
          (each, ...read) => this.#tried(each, () => each.read(...read, this.signal)),
        )
    }
    if (this.#answering().length === 0) throw worst([...this.failed.values()])
  }

  /** Begins the next page, when the records of this one are written. */
  begin(): void {
    for (const lane of this.#lanes) lane.drop()
    this.#ahead.begin()
    this.records = new MergedRecords()
    this.#size = this.#request.fit.size
    this.isCut = false
  }

  /** Whether nothing is left in this direction. */
  get isComplete(): boolean {
    return !this.isCut && this.#answering().every((lane) => !lane.hasHead && lane.isDone)
  }

  get notes(): Note[] {
    const answering = this.#answering()
    const notes = new Set(answering.flatMap((lane) => [...lane.notes]))
    for (const note of ['scan-budget', 'answer-budget'] as const) notes.delete(note)
    if (this.isCut) notes.add('scan-budget')
    if (answering.some((lane) => lane.falls)) notes.add('time-order')
    if (answering.some((lane) => !lane.notes.has('unknown-field'))) notes.delete('unknown-field')
    return [...notes]
  }

  release(): void {
    for (const lane of this.#lanes) lane.release()
  }

  async #placed(): Promise<MergedPage> {
    if (!this.#forward) this.records.reverse()
    if (this.#request.context !== undefined) this.#findGaps()
    const outcome = {
      request: this.#request,
      lanes: this.#lanes,
      failed: this.failed,
      forward: this.#forward,
      records: this.records,
    }
    const cursors = await placesAround(outcome)
    return {
      records: this.records,
      ...cursors,
      complete: this.isComplete,
      places: () => placesAfter(outcome, cursors.next),
      starts: () => startsOf(this.records),
      forward: this.#forward,
      frontier: this.#lanes[0]!.frontier,
      notes: this.notes,
      missing: missingIn(outcome),
      lost: lostIn(outcome),
      state: this.#lanes.map((lane) => lane.state).join('\n'),
      release: () => this.release(),
    }
  }

  #answering(): MergeLane[] {
    return this.#lanes.filter((lane) => !this.failed.has(lane))
  }

  /** A log that cannot be read is left out and named. */
  async #tried(lane: MergeLane, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.signal?.throwIfAborted()
      if (this.#mayGoOn(lane, error)) {
        this.isCut = true
        return
      }
      if (!(error instanceof LogError || error instanceof StoreError)) throw error
      lane.release()
      this.failed.set(lane, error)
    }
  }

  /** Whether the next page can go on where a log lacks time or memory: others may release some until then. */
  #mayGoOn(lane: MergeLane, error: unknown): boolean {
    if (error instanceof BudgetError) return true
    const isBusy = error instanceof LogError && error.code === 'too-busy'
    return isBusy && (this.#all || (lane.hasHead && this.records.length > 0))
  }

  /**
   * Takes records until the next one is not known or not loaded, and returns the log that it may be in. Null when the page is full, or
   * nothing is left. A log that was searched up to some time without a match holds up nothing before that time.
   */
  #emit(): MergeLane | null {
    const comesFirst = (a: Waiting, b: Waiting) => this.#comesFirst(a, b)
    const order = this.#lanes
      .map((lane, rank): Waiting => ({ lane, rank, time: lane.frontier }))
      .filter(({ lane }) => !this.failed.has(lane) && (lane.hasHead || !lane.isDone))
      .sort((a, b) => (comesFirst(a, b) ? -1 : 1))
    for (let first = order.shift(); first; first = order.shift()) {
      const { lane } = first
      if (!lane.hasHead) return lane
      const rival = order[0]
      while (lane.hasHead && (!rival || comesFirst(first, rival))) {
        const head = lane.head!
        if (!head.isLoaded) return this.#mayFit(head) ? lane : null
        if (!this.#take(lane, head)) return null
        lane.advance()
        first.time = lane.frontier
      }
      if (this.#isFull()) return null
      if (lane.hasHead || !lane.isDone) insertInto(order, first, comesFirst)
    }
    return null
  }

  #isFull(): boolean {
    if (this.records.length === 0) return false
    return this.#size <= 0 || (this.#lines <= 0 && !this.#answering().some((lane) => this.#owes(lane)))
  }

  /** Whether the next record of a log may be one of those after the last match of a page that has its matches. */
  #owes(lane: MergeLane): boolean {
    const { context = 0 } = this.#request
    const { distance = context } = this.#last.get(lane) ?? {}
    if (distance >= context) return false
    return lane.head ? this.#follows(lane.head) : !lane.isDone
  }

  /** Whether a record is context of a match before it, in the direction of reading. */
  #follows({ distance = 0 }: LaneRecord): boolean {
    return distance > 0 && distance !== AHEAD
  }

  /** Says of each record with context whether it touches the one before it. */
  #findGaps(): void {
    const last = new Map<Source, PlaceAround>()
    for (const { source, around } of this.records) {
      const before = last.get(source)
      const [end, start] = this.#forward ? [before?.far, around!.near] : [before?.near, around!.far]
      around!.isApart = before !== undefined && end !== start
      last.set(source, around!)
    }
  }

  /** Whether the next record of a log is taken before that of another: at the same time, as their names are sorted. */
  #comesFirst(a: Waiting, b: Waiting): boolean {
    if (a.time === b.time) return a.rank < b.rank === this.#forward
    return this.#forward ? a.time < b.time : a.time > b.time
  }

  /** Whether a long record may fit that is not loaded. */
  #mayFit(record: LaneRecord): boolean {
    const { size, lines } = this.#request.fit
    if (size === 0 || lines === 0) return false
    if (this.records.length === 0) return true
    return record.length <= this.#size && (this.#lines > 0 || this.#follows(record))
  }

  /** False if the record does not fit. A page has at least one, however long. */
  #take(lane: MergeLane, record: LaneRecord): boolean {
    const { cursor, fit } = this.#request
    if (fit.size === 0 || fit.lines === 0) return false
    const around = this.#aroundOf(record)
    if (around && this.#lines <= 0 && !this.#follows(record)) return false
    if (!this.#pay(lane, record)) return false
    const isPassed = cursor !== null && isBeyond(cursor.place.time, record.placed, this.#forward)
    this.records.add(lane, record.length, this.#behind.has(lane) && isPassed, around)
    if (around) this.#last.set(lane, { distance: record.distance, far: around.far })
    return true
  }

  #aroundOf({ distance, near = 0, far = 0 }: LaneRecord): PlaceAround | undefined {
    if (this.#request.context === undefined) return undefined
    return { isMatch: distance === 0, near, far, isApart: false }
  }

  /**
   * Takes the room for a record; false if it does not fit. With context, matches are counted, and what stands between
   * groups takes room, too.
   */
  #pay(lane: MergeLane, record: LaneRecord): boolean {
    const { context, cost, separator } = this.#request
    const own = cost?.(record.bytes!, lane.source)
    let size = own?.size ?? record.length
    let lines = own?.lines ?? 1
    if (context !== undefined) {
      const last = this.#last.get(lane)
      if (last && last.far !== record.near) size += separator?.(lane.source) ?? 0
      lines = record.distance === 0 ? 1 : 0
    }
    if (this.records.length > 0 && (size > this.#size || lines > this.#lines)) return false
    this.#size -= size
    this.#lines -= lines
    return true
  }
}

/** What is said when no log can be read: that the storage fails, if it does for one of them. */
export function worst(errors: readonly unknown[]): unknown {
  return errors.find((error) => error instanceof StoreError) ?? errors[0]
}
