import { BudgetError } from '../../limits/budget.ts'
import type { Clock } from '../../limits/clock.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { Selection } from '../selection.ts'
import { readsForward } from '../text/open.ts'
import type { Note } from '../view/answer.ts'
import { Ahead } from './ahead.ts'
import { type LanePlace, laneKey, type MergedCursor } from './cursor.ts'
import { Lane, type LaneOptions, type LaneRecord, type MergeLane } from './lane.ts'
import { isBeyond, lostIn, missingIn, placesAfter, placesAround, startsOf, stateIn } from './places.ts'
import { insertInto } from './records/order.ts'
import { bySource, type Missing, type Source } from './source.ts'
import { ThereLane } from './there.ts'

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
  /** The filters and times as a query, for logs that are read on their own nodes. @default all are read here */
  handedOn?: string | null | undefined
  /** Whether there is one log, which is searched as if by itself. @default false */
  alone?: boolean | undefined
  /** What a record takes of that. */
  cost(bytes: Uint8Array, source: Source): { size: number; lines: number }
}

/** A record of the timeline. */
export interface MergedRecord extends Pick<LaneRecord, 'format' | 'time' | 'placed'> {
  bytes: Uint8Array
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

/** Several logs that are read as one, in one direction. */
export class Merge {
  records: MergedRecord[] = []
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
  /** Which record of which log each of the records is. */
  readonly #taken: { lane: MergeLane; index: number }[] = []
  /** What still fits. */
  #size: number
  #lines: number

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

  /** A log is read where it is, if its node can do that. */
  #laneOf(source: Source, options: LaneOptions): MergeLane {
    const { selection, charset, handedOn } = this.#request
    const ask = source.context.laneThere
    const here = (place: LaneOptions['place']) => new Lane(source, selection, { ...options, charset, place })
    if (!ask || handedOn == null) return here(options.place)
    return new ThereLane(source, { ...options, ask, filters: handedOn, all: this.#all, here })
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
      if (lane.head) await this.#tried(lane, () => lane.load(this.#ahead.memory, this.signal))
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
    this.records = []
    this.#taken.length = 0
    this.#size = this.#request.fit.size
    this.isCut = false
  }

  /** Whether nothing is left in this direction. */
  get isComplete(): boolean {
    return !this.isCut && this.#answering().every((lane) => !lane.head && lane.isDone)
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
    if (!this.#forward) {
      this.records.reverse()
      this.#taken.reverse()
    }
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
      places: () => placesAfter(outcome, this.#taken, cursors.next),
      starts: () => startsOf(this.#taken),
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
    return isBusy && (this.#all || (lane.head !== null && this.records.length > 0))
  }

  /**
   * Takes records until the next one is not known or not loaded, and returns the log that it may be in. Null when the page is full, or
   * nothing is left. A log that was searched up to some time without a match holds up nothing before that time.
   */
  #emit(): MergeLane | null {
    const comesFirst = (a: MergeLane, b: MergeLane) => this.#comesFirst(a, b)
    const order = this.#answering()
      .filter((lane) => lane.head || !lane.isDone)
      .sort((a, b) => (comesFirst(a, b) ? -1 : 1))
    for (let lane = order.shift(); lane; lane = order.shift()) {
      if (!lane.head) return lane
      const rival = order[0]
      for (let head = lane.head; head && (!rival || comesFirst(lane, rival)); head = lane.head) {
        if (head.bytes === null) return this.#mayFit(head) ? lane : null
        if (!this.#take(lane, head, head.bytes)) return null
        lane.advance()
      }
      if (this.#isFull()) return null
      if (lane.head || !lane.isDone) insertInto(order, lane, comesFirst)
    }
    return null
  }

  #isFull(): boolean {
    return this.records.length > 0 && (this.#size <= 0 || this.#lines <= 0)
  }

  /** Whether the next record of a log is taken before that of another: at the same time, as their names are sorted. */
  #comesFirst(a: MergeLane, b: MergeLane): boolean {
    const [own, other] = [a.frontier, b.frontier]
    if (own === other) return this.#lanes.indexOf(a) < this.#lanes.indexOf(b) === this.#forward
    return this.#forward ? own < other : own > other
  }

  /** Whether a long record may fit that is not loaded. */
  #mayFit({ length }: LaneRecord): boolean {
    const { size, lines } = this.#request.fit
    if (size === 0 || lines === 0) return false
    return this.records.length === 0 || (length <= this.#size && this.#lines > 0)
  }

  /** False if the record does not fit. A page has at least one, however long. */
  #take(lane: MergeLane, { format, time, placed }: LaneRecord, bytes: Uint8Array): boolean {
    const { cursor, fit } = this.#request
    if (fit.size === 0 || fit.lines === 0) return false
    const { size, lines } = this.#request.cost(bytes, lane.source)
    if (this.records.length > 0 && (size > this.#size || lines > this.#lines)) return false
    this.#size -= size
    this.#lines -= lines
    const behind = stateIn(this.#request, lane.source)?.behind === true
    const isPassed = cursor !== null && isBeyond(cursor.place.time, placed, this.#forward)
    this.#taken.push({ lane, index: lane.next })
    this.records.push({ bytes, format, time, placed, source: lane.source, late: behind && isPassed })
    return true
  }
}

/** What is said when no log can be read: that the storage fails, if it does for one of them. */
export function worst(errors: readonly unknown[]): unknown {
  return errors.find((error) => error instanceof StoreError) ?? errors[0]
}
