import { BudgetError } from '../../kit/limits/budget.ts'
import type { MemoryBudget } from '../../kit/limits/memory-budget.ts'
import { StoreError } from '../../store/store.ts'
import { type LineFormat, PLAIN } from '../format/detect.ts'
import { MAX_RECORD } from '../search/records.ts'
import type { Fit } from '../search/span.ts'
import { EVERY_RECORD, type Selection } from '../selection.ts'
import type { Note, View } from '../view/answer.ts'
import type { ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { type LogPage, openPage, pageAfter, viewOf } from '../view/view.ts'
import type { LanePlace } from './cursor.ts'
import { keyedPlace, placeAt, plainPlace } from './place.ts'
import { Items, type LaneRecord } from './records/items.ts'
import { Collected, LoadedRecords } from './records/long.ts'
import { type Searched, searchedIn } from './records/neighbours.ts'
import { NEIGHBOUR_RECORDS, placeOn } from './records/order.ts'
import { Track } from './records/track.ts'
import { noTimes, type Source } from './source.ts'

/** How a log is read. */
export interface LaneOptions {
  forward: boolean
  place: LanePlace | null
  /** How its text is written. */
  charset?: ViewRequest['charset']
  /** How many records around each match are wanted, too. */
  context?: ViewRequest['context']
}

/** How much is read of a log at once. */
export interface LaneRead extends Fit {
  /** About how many bytes are searched for it. */
  stretch: number
  /** How many logs are read together. */
  count: number
}

/** A log of a timeline, whoever reads it. */
export type MergeLane = Pick<Lane, keyof Lane>

/** How much of the way back may be read again to know the neighbours of a page's first records. */
const MAX_LEAD = 1024 * 1024

/** One log that is read in one direction, a page at a time, and the times by which its records are placed. */
export class Lane {
  readonly source: Source
  /** Whether its own node reads it. */
  readonly isElsewhere: boolean = false
  readonly notes = new Set<Note>()
  /** The next record to give. */
  next = 0
  /** Whether everything up to the far end was read. */
  isDone = false
  /** Whether a budget ended the reading. */
  isCut = false
  /** Whether placed times fall, so that directions may differ. */
  falls = false
  found = 0
  readonly #forward: boolean
  readonly #selection: Selection
  readonly #charset: ViewRequest['charset']
  readonly #context: ViewRequest['context']
  readonly #items = new Items()
  readonly #track: Track
  #place: LanePlace | null
  /** Where the first record that was not given begins. */
  #near: number
  /** How many items have a placed time. */
  #decided = 0
  /** Items before this one are on the other side of missing bytes. */
  #barrier = 0
  #given = 0
  #bytes = 0
  #collected: Collected | null = null
  readonly #loaded: LoadedRecords

  /** `place` is where to begin; without one, at the end of the log, or forward at its start. */
  constructor(source: Source, selection: Selection, { forward, place, charset, context }: LaneOptions) {
    this.#charset = charset
    this.#context = context
    this.#track = new Track(forward)
    this.#near = place?.kind === 'place' ? Math.abs(place.lead) : 0
    this.source = source
    this.#loaded = new LoadedRecords(source.context.clock)
    this.#selection = selection
    this.#forward = forward
    this.#place = place
    if (place?.kind === 'start' && !forward) this.isDone = true
  }

  /** Whether the place of the next record is decided. */
  get hasHead(): boolean {
    return this.next < this.#decided
  }

  /** The next record if its place is decided. */
  get head(): LaneRecord | null {
    return this.hasHead ? this.recordAt(this.next) : null
  }

  /** Which record the next one is, for `recordAt`. */
  get index(): number {
    return this.next
  }

  /** A record that was read and not dropped. */
  recordAt(index: number): LaneRecord {
    return this.#items.at(index)
  }

  /** Where the next record is placed; if that is not decided, how far it is at least. */
  get frontier(): number {
    return this.hasHead ? this.#items.placed[this.next]! : this.bound
  }

  /** The time up to which everything is decided. */
  get bound(): number {
    const last = this.#items.placed[this.#decided - 1]
    return last ?? (this.#forward ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)
  }

  /** The time at which reading began. */
  get start(): number {
    return this.#decided > 0 ? this.#items.placed[0]! : this.bound
  }

  /** Whether it may have more records than those that are decided. */
  get isOpen(): boolean {
    return !this.isDone && !this.isCut
  }

  /** The state of its files; it changes with each of them. */
  get state(): string {
    return this.#track.state
  }

  get average(): number {
    return this.#items.length === 0 ? 256 : Math.ceil(this.#bytes / this.#items.length)
  }

  /** How many bytes of the log were read. */
  get distance(): number {
    return this.#track.far
  }

  /** Bytes that are read again before anything new. */
  get lead(): number {
    return this.#place?.kind === 'place' && !this.#track.last ? Math.abs(this.#place.lead) : 0
  }

  get given(): number {
    return this.#given
  }

  advance(): void {
    this.next++
    this.#skipUnwanted()
  }

  #skipUnwanted(): void {
    while (this.next < this.#items.length && !this.#items.wanted[this.next]) this.next++
  }

  /** Reads the next records: about `wanted.size` bytes, and at most `wanted.lines` of them. */
  async read(wanted: LaneRead, context = this.source.context, signal?: AbortSignal): Promise<void> {
    const { last } = this.#track
    if (!last && this.#place) await this.#find(this.#place, context, signal)
    try {
      let page = await this.#page(wanted, context, signal)
      // A record that is longer than what is wanted is read alone.
      if (this.#isSplit(page.view) && wanted.size < MAX_RECORD) {
        page.view.memory?.release()
        page = await this.#page({ ...wanted, size: MAX_RECORD, lines: 1 }, context, signal)
      }
      this.#take(page)
    } catch (error) {
      // What was read before counts.
      if (!(error instanceof BudgetError)) throw error
      this.isCut = true
    }
    this.#track.last?.view.series.trim()
    this.#decide()
    this.#skipUnwanted()
  }

  async #page(wanted: LaneRead, context: ViewContext, signal: AbortSignal | undefined): Promise<LogPage> {
    const { last } = this.#track
    const request = this.#request(wanted, context)
    const next = last && (await pageAfter(last, context, request))
    return next ?? (await openPage(context, request, { signal }))!
  }

  #isSplit({ prev, next }: View): boolean {
    return (this.#forward ? next : prev)?.splitsRecord === true
  }

  /** A place that was made for the other direction is found again without what leads to it. */
  async #find(asked: LanePlace, context: ViewContext, signal: AbortSignal | undefined): Promise<void> {
    const place = await keyedPlace(asked, this.source, signal)
    this.#place = place
    if (place.kind !== 'place' || place.lead === 0 || place.lead > 0 === this.#forward) return
    const { cursor } = await plainPlace(this.source, place, context, signal)
    this.#place = { kind: 'place', cursor, lead: 0 }
    this.#near = 0
  }

  #request({ size, lines, stretch, count }: LaneRead, { memory }: ViewContext): ViewRequest {
    const { file, rotated = true, matcher = this.#selection.matcher } = this.source
    const place = this.#place?.kind === 'place' ? this.#place.cursor : null
    const cursor = this.#track.last ? this.#track.cursor : place
    this.#collected = new Collected({ stretch, count, memory })
    return {
      selection: this.#selection.with({ ...this.#period(), matcher }),
      file,
      rotated,
      charset: this.#charset,
      context: this.#context,
      cursor: cursor && { place: cursor, direction: this.#forward ? 'after' : 'before' },
      fit: { size, lines },
      first: this.#forward && cursor === null,
      records: true,
      each: true,
      collector: this.#collected,
    }
  }

  /** A log without a place is divided at a moment: what one direction leaves out, the other gives. */
  #period(): Pick<Selection, 'since' | 'until'> {
    const { since, until } = this.#selection
    if (this.#place?.kind !== 'time') return { since, until }
    const { time } = this.#place
    return this.#forward
      ? { since: Math.max(time, since ?? time), until }
      : { since, until: Math.min(time, until ?? time) }
  }

  #take(page: LogPage): void {
    const { view } = page
    const { from, to, format, notes, series } = view
    if (!format.timed && !(format === PLAIN && isEmpty(view))) {
      view.memory?.release()
      throw noTimes()
    }
    this.#track.add(page)
    for (const note of notes) this.notes.add(note)
    const isGap = notes.includes('gap')
    if (isGap) this.#barrier = this.#items.length
    const records = searchedIn(view, this.#collected!.within(from, to), this.source.context.zone)
    for (const record of this.#forward ? records : records.reverse()) {
      const { start, end } = record
      const near = this.#track.distanceOf(start, end)
      this.#add(record, near, format)
    }
    // The items have them. The array stays: their memory is given back when it is collected.
    if (view.pieces) view.pieces.length = 0
    this.isCut = notes.includes('scan-budget') || notes.includes('answer-budget')
    const isStuck = to <= from && !isGap
    if (this.#forward)
      this.isDone = !this.isCut && (isStuck || (!this.source.context.files.joined && to >= series.end))
    else this.isDone = view.prev === null
  }

  #add(record: Searched, near: number, format: LineFormat): void {
    const length = record.end - record.start
    const far = near + length
    this.#items.add(record, near, far, format)
    this.#bytes += length
    if (far <= this.#near) {
      this.#given++
      this.next++
      return
    }
    if (!this.#items.wanted.at(-1)) return
    this.found++
    // A record that has grown since: only its new part was not given.
    if (near < this.#near) this.#items.cutLast(this.#near, this.#forward)
  }

  /** Places the records whose neighbours are known. */
  #decide(): void {
    const before = this.#decided
    // The moment of a log that shows none is that of its place.
    const moment = this.#place?.kind === 'time' ? this.#place.time : Number.NEGATIVE_INFINITY
    const placing = { forward: this.#forward, isAll: this.isDone, moment }
    this.#decided = placeOn(this.#items, before, placing)
    // A page has to come to an end, even if a budget ends before enough neighbours are known.
    if (this.isCut && this.#decided <= this.#given)
      this.#decided = placeOn(this.#items, this.#decided, { ...placing, isAll: true })
    const { wanted, placed } = this.#items
    let last = before - 1
    while (last >= 0 && !wanted[last]) last--
    for (let i = before; i < this.#decided; i++) {
      if (!wanted[i]) continue
      if (last >= 0 && (this.#forward ? placed[i]! < placed[last]! : placed[i]! > placed[last]!))
        this.falls = true
      last = i
    }
  }

  /** Where a page in the same direction begins, if the next record is this one. */
  async onward(next = this.next): Promise<LanePlace> {
    const { near } = this.#items
    const at = near[next]
    if (at === undefined && this.isDone && !this.#forward) return { kind: 'start' }
    if (!this.#track.first) return this.#place ?? { kind: 'start' }
    const here = at ?? this.#track.far
    let first = Math.max(this.#barrier, next - NEIGHBOUR_RECORDS)
    while (first < next && here - near[first]! > MAX_LEAD) first++
    const from = first < next ? near[first]! : here
    return this.#placeAt(from, this.#track.signed(here - from))
  }

  /** Where a page in the other direction begins, which does not have this record; without one, before all of them. */
  async backward(next: number | null = null): Promise<LanePlace> {
    if (!this.#track.first) return this.#place ?? { kind: 'start' }
    const { near, far } = this.#items
    const here = next === null ? this.#near : (near[next] ?? this.#track.far)
    if (this.#forward && this.#track.first.prev === null && here === 0) return { kind: 'start' }
    const first = next ?? this.#given
    let last = Math.min(this.#items.length, first + NEIGHBOUR_RECORDS) - 1
    while (last >= first && (far[last]! - here > MAX_LEAD || last < this.#barrier)) last--
    const from = last >= first ? far[last]! : here
    return this.#placeAt(from, -this.#track.signed(from - here))
  }

  /** A place in the log. That in an empty one is its start: nothing else finds its file after a rotation. */
  async #placeAt(distance: number, lead: number): Promise<LanePlace> {
    const cursor = await this.#track.cursorAt(distance)
    const isUnproven = cursor.offset === 0 && cursor.print.length === 0
    if (isUnproven && this.#track.first!.prev === null) return { kind: 'start' }
    return placeAt(this.source, cursor, lead)
  }

  /** Reads the bytes of the next record, which is a long one. Throws `too-busy` if there is no memory for them. */
  async load(memory: MemoryBudget | undefined, signal?: AbortSignal): Promise<void> {
    const { next } = this
    const long = this.#items.longAt(next)
    const bytes = await this.#loaded
      .load(long.in!, long, memory)
      .catch((error) => this.#loadAgain(error, next, signal))
    this.#items.load(next, bytes)
  }

  /** A file that was rotated meanwhile is found by its place. */
  async #loadAgain(error: unknown, index: number, signal?: AbortSignal): Promise<Uint8Array> {
    if (!(error instanceof StoreError)) throw error
    const [near, far] = [this.#items.near[index]!, this.#items.far[index]!]
    const from = this.#forward ? near : far
    const cursor = { place: await this.#track.cursorAt(from), direction: 'after' as const }
    const { file, rotated = true, context } = this.source
    const fit = { size: far - near, lines: 1 }
    const what = { selection: EVERY_RECORD, file, rotated, cursor, charset: this.#charset }
    const request = { ...what, fit, records: true, each: true }
    const { pieces, memory } = await viewOf(context, request, signal)
    memory?.release()
    if (pieces?.[0]?.length !== far - near) throw error
    return pieces[0]
  }

  /** Goes on to another page: forgets what was given, except what tells how the next records are placed. */
  drop(): void {
    const count = Math.max(0, this.next - NEIGHBOUR_RECORDS)
    const { near, far } = this.#items
    const onward = near[count] ?? this.#track.far
    for (let i = 0; i < count; i++) this.#bytes -= far[i]! - near[i]!
    this.#items.drop(count, this.next)
    this.next -= count
    this.#decided -= count
    this.#barrier = Math.max(0, this.#barrier - count)
    this.#given = Math.max(0, this.#given - count)
    this.#track.drop(onward)
    this.#loaded.release()
    this.isCut = false
  }

  release(): void {
    this.#track.release()
    this.#loaded.release()
  }
}

function isEmpty({ series, pieces }: View): boolean {
  return (pieces === null || pieces.length === 0) && series.end === 0
}
