import { LogError } from '../error.ts'
import { type LineFormat, PLAIN } from '../format/detect.ts'
import { lineEnd } from '../format/lines.ts'
import type { Fit } from '../search/span.ts'
import type { Cursor } from '../text/cursor.ts'
import type { Note, View } from '../view/answer.ts'
import type { ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { stateOf } from '../view/retry.ts'
import { viewOf } from '../view/view.ts'
import type { LanePlace } from './cursor.ts'
import { placedTimes, REACH } from './order.ts'
import type { Source } from './source.ts'

/** Which records of each log are wanted. */
export type MergeFilter = Pick<ViewRequest, 'since' | 'until' | 'level' | 'levels' | 'matcher'>

/** A record of one of the logs. */
export interface LaneRecord {
  bytes: Uint8Array
  format: LineFormat
  /** Its own time in ms, or that of the record before it; only known of records that are decided. */
  time: number
  /** By which it is placed, likewise. */
  placed: number
}

/** A record as it was read, with how far its ends are from where reading began. */
interface Item extends LaneRecord {
  near: number
  far: number
}

/** A page of the log: which part of the way it covers. */
interface Page {
  view: View
  near: number
  far: number
}

/** How a log is read. */
export interface LaneOptions {
  forward: boolean
  live: boolean
  place: LanePlace | null
}

/** How much of the way back may be read again to know the neighbours of a page's first records. */
const MAX_LEAD = 1024 * 1024
const LF = 10
/** The longest record that is read whole: a longer one is split by every search. */
const MAX_RECORD = 8 * 1024 * 1024

/** One log that is read in one direction, a page at a time, and the times by which its records are placed. */
export class Lane {
  readonly source: Source
  readonly notes = new Set<Note>()
  /** The next record to give. */
  next = 0
  /** Whether everything up to the far end was read. */
  isDone = false
  /** Whether a budget ended the reading. */
  isCut = false
  /** Whether placed times fall, so that directions may differ. */
  falls = false
  readonly #forward: boolean
  readonly #filter: MergeFilter
  readonly #items: Item[] = []
  readonly #pages: Page[] = []
  #place: LanePlace | null
  /** How many items have a placed time. */
  #decided = 0
  /** How far the log was read. */
  #far = 0
  /** Items before this one are on the other side of missing bytes. */
  #barrier = 0
  #given = 0
  #bytes = 0

  readonly #live: boolean
  /** Where the first record that was not given begins. */
  #near: number

  /**
   * `place` is where to begin; without one, at the end of the log, or forward at its start. A `live` log is still being
   * written: its last line is left out until it ends.
   */
  constructor(source: Source, filter: MergeFilter, { forward, live, place }: LaneOptions) {
    this.#live = live
    this.#near = place?.kind === 'place' ? Math.abs(place.lead) : 0
    this.source = source
    this.#filter = filter
    this.#forward = forward
    this.#place = place
    if (place?.kind === 'start' && !forward) this.isDone = true
  }

  /** The next record if its place is decided. */
  get head(): LaneRecord | null {
    return this.next < this.#decided ? this.#items[this.next]! : null
  }

  /** Whether it may have more records than those that are decided. */
  get isOpen(): boolean {
    return !this.isDone && !this.isCut
  }

  /** The state of its files; it changes with each of them. */
  get state(): string {
    return this.#pages[0] ? stateOf(this.#pages[0].view.series) : ''
  }

  /** How many records were read whose place is not decided. */
  get undecided(): number {
    return this.#items.length - this.#decided
  }

  /** The size of an average record. */
  get average(): number {
    return this.#items.length === 0 ? 256 : Math.ceil(this.#bytes / this.#items.length)
  }

  /** Bytes that are read again before anything new. */
  get lead(): number {
    return this.#place?.kind === 'place' ? Math.abs(this.#place.lead) : 0
  }

  /** Reads on: about so many bytes of records, and at most so many of them. */
  async read({ size, lines }: Fit, context = this.source.context, signal?: AbortSignal): Promise<void> {
    if (this.#pages.length === 0) await this.#turn(context, signal)
    for (let most = size; ; most *= 8) {
      const view = await viewOf(context, this.#request({ size: most, lines }), signal)
      const isSplit = (this.#forward ? view.next : view.prev)?.splitsRecord === true
      if (!isSplit || most >= MAX_RECORD) {
        this.#take(view)
        this.#decide()
        return
      }
      view.memory?.release()
    }
  }

  /** A place that was made for the other direction is found again without what leads to it. */
  async #turn(context: ViewContext, signal: AbortSignal | undefined): Promise<void> {
    const place = this.#place
    if (place?.kind !== 'place' || place.lead === 0 || place.lead > 0 === this.#forward) return
    const after = place.lead > 0
    const cursor = { place: place.cursor, direction: after ? ('after' as const) : ('before' as const) }
    const nothing = { since: null, until: null, level: null, matcher: null, fit: { size: 0, lines: null } }
    const { file, rotated = true } = this.source
    const view = await viewOf(context, { ...nothing, file, rotated, records: false, cursor }, signal)
    const at = (after ? view.from : view.to) + place.lead
    this.#place = { kind: 'place', cursor: await view.series.cursor(at), lead: 0 }
    this.#near = 0
  }

  #request(fit: Fit): ViewRequest {
    const { file, rotated = true, matcher = this.#filter.matcher } = this.source
    const last = this.#pages.at(-1)?.view
    const cursor = last ? (this.#forward ? last.next : last.prev) : this.#cursor()
    const direction = this.#forward ? 'after' : 'before'
    const { since, until } = this.#period()
    return {
      ...this.#filter,
      matcher,
      file,
      since,
      until,
      rotated,
      cursor: cursor && { place: cursor, direction },
      fit,
      first: this.#forward && cursor === null,
      records: true,
      each: true,
    }
  }

  #cursor(): Cursor | null {
    return this.#place?.kind === 'place' ? this.#place.cursor : null
  }

  /** A log without a place is divided at a moment: what one direction leaves out, the other gives. */
  #period(): Pick<ViewRequest, 'since' | 'until'> {
    const { since, until } = this.#filter
    if (this.#place?.kind !== 'time') return { since, until }
    const { time } = this.#place
    return this.#forward
      ? { since: Math.max(time, since ?? time), until }
      : { since, until: Math.min(time, until ?? time) }
  }

  #take(view: View): void {
    const { pieces, ends, from, to, format, notes } = view
    if (!format.timed && !(format === PLAIN && isEmpty(view))) {
      view.memory?.release()
      throw new LogError('no-time', 'No times were recognized in the lines of this log; view it by itself.')
    }
    const near = this.#far
    this.#far += to - from
    this.#pages.push({ view, near, far: this.#far })
    for (const note of notes) this.notes.add(note)
    if (notes.includes('gap')) this.#barrier = this.#items.length
    const count = pieces?.length ?? 0
    for (let n = 0; n < count; n++) {
      const i = this.#forward ? n : count - 1 - n
      const bytes = pieces![i]!
      const end = ends[i]!
      const distance = this.#forward ? end - bytes.length - from : to - end
      if (this.#live && end >= view.series.end && bytes.at(-1) !== LF) this.#leaveOut(near + distance, bytes)
      else this.#add(bytes, near + distance, view)
    }
    this.isCut = notes.includes('scan-budget') || notes.includes('answer-budget')
    const isStuck = count === 0 && !notes.includes('gap')
    if (this.#forward)
      this.isDone = !this.isCut && (isStuck || (!this.source.context.files.joined && to >= view.series.end))
    else this.isDone = view.prev === null
  }

  /** Leaves out a record whose last line is not finished: forward, reading ends before it; backward, it begins there. */
  #leaveOut(near: number, bytes: Uint8Array): void {
    if (!this.#forward) this.#near = near + bytes.length
    else {
      this.#far = near
      this.#pages.at(-1)!.far = near
    }
  }

  #add(bytes: Uint8Array, near: number, { format }: View): void {
    const lead = this.#near
    const far = near + bytes.length
    this.#bytes += bytes.length
    const time = format.time(bytes, 0, lineEnd(bytes, 0, bytes.length), this.source.context.zone)
    const item = { bytes, format, time, near, far, placed: Number.NaN }
    if (far <= lead) {
      this.#items.push(item)
      this.#given++
      this.next++
      return
    }
    // A record that has grown since: only its new part was not given.
    if (near < lead) {
      const cut = lead - near
      item.bytes = this.#forward ? bytes.subarray(cut) : bytes.subarray(0, bytes.length - cut)
      item.near = lead
    }
    this.#items.push(item)
  }

  /** Places the records whose neighbours are known. */
  #decide(): void {
    const items = this.#items
    const first = Math.max(0, this.#decided - REACH)
    const times = this.#times(first)
    const isAll = this.isDone || this.isCut
    const from = this.#decided - first
    const to = isAll ? times.length : Math.max(from, times.length - REACH)
    const placed = this.#forward
      ? placedTimes(times, from, to)
      : placedTimes(times.toReversed(), times.length - to, times.length - from).reverse()
    for (let i = 0; i < placed.length; i++) {
      const item = items[this.#decided + i]!
      item.placed = placed[i]!
      item.time = times[from + i]!
      const before = items[this.#decided + i - 1]?.placed ?? Number.NaN
      if (this.#forward ? item.placed < before : item.placed > before) this.falls = true
    }
    this.#decided += placed.length
  }

  /** The times of records as far as they are known: one without a time has that of the record before it. */
  #times(first: number): number[] {
    const times = this.#items.slice(first).map(({ time }) => time)
    const known = times.findLastIndex((time) => !Number.isNaN(time))
    if (known < 0) return this.isDone || this.isCut ? times.fill(this.#moment()) : []
    // Forward, the one before is read first; backward, it comes later. At the log's beginning, the next one decides.
    const inherit = (i: number, from: number) => {
      if (Number.isNaN(times[i]!)) times[i] = times[from]!
    }
    const onward = () => {
      for (let i = 1; i < times.length; i++) inherit(i, i - 1)
    }
    const back = () => {
      for (let i = times.length - 2; i >= 0; i--) inherit(i, i + 1)
    }
    if (this.#forward) {
      onward()
      back()
      return times
    }
    back()
    if (!this.isDone && !this.isCut) return times.slice(0, known + 1)
    onward()
    return times
  }

  /** The moment of a log that shows none: that of its place. */
  #moment(): number {
    return this.#place?.kind === 'time' ? this.#place.time : Number.NEGATIVE_INFINITY
  }

  /** How many records were given before. */
  get given(): number {
    return this.#given
  }

  /** Where a page in the same direction begins, if the next record is this one. */
  async onward(next = this.next): Promise<LanePlace> {
    const at = this.#items[next]
    if (!at && this.isDone && !this.#forward) return { kind: 'start' }
    if (this.#pages.length === 0) return this.#place ?? { kind: 'start' }
    const here = at ? at.near : this.#far
    let first = Math.max(this.#barrier, next - REACH)
    while (first < next && here - this.#items[first]!.near > MAX_LEAD) first++
    const from = first < next ? this.#items[first]!.near : here
    return { kind: 'place', cursor: await this.#cursorAt(from), lead: this.#signed(here - from) }
  }

  /** Where a page in the other direction begins, which does not have this record; without one, before all of them. */
  async backward(next: number | null = null): Promise<LanePlace> {
    if (this.#pages.length === 0) return this.#place ?? { kind: 'start' }
    const here = next === null ? this.#near : (this.#items[next]?.near ?? this.#far)
    if (this.#forward && this.#pages[0]!.view.prev === null && here === 0) return { kind: 'start' }
    const first = next ?? this.#given
    let last = Math.min(this.#items.length, first + REACH) - 1
    while (last >= first && (this.#items[last]!.far - here > MAX_LEAD || last < this.#barrier)) last--
    const from = last >= first ? this.#items[last]!.far : here
    return { kind: 'place', cursor: await this.#cursorAt(from), lead: -this.#signed(from - here) }
  }

  /** A distance along the way of reading as one in the log. */
  #signed(distance: number): number {
    return this.#forward ? distance : -distance
  }

  async #cursorAt(distance: number): Promise<Cursor> {
    const page =
      this.#pages.find(({ near, far }) => distance >= near && distance <= far) ?? this.#pages.at(-1)!
    const { view } = page
    const last = this.#pages.at(-1)!
    const isWhole = page.far - page.near === view.to - view.from
    if (page === last && distance === this.#far && isWhole) {
      const edge = this.#forward ? view.next : view.prev
      if (edge) return edge
    }
    const inside = distance - page.near
    return view.series.cursor(this.#forward ? view.from + inside : view.to - inside)
  }

  /** Releases the memory of everything that was read. */
  release(): void {
    for (const { view } of this.#pages) view.memory?.release()
  }
}

function isEmpty({ series, pieces }: View): boolean {
  return (pieces === null || pieces.length === 0) && series.end === 0
}
