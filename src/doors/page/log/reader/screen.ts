import type { Client } from '../../../client.ts'
import { type Look, NOWHERE, type Place } from '../../url.ts'
import { clockOf, type ZoneChoice } from '../find/clock.ts'
import { isFiltered, queryOf } from '../find/query.ts'
import { VirtualList } from '../list/list.ts'
import type { RowLook } from '../record/look.ts'
import { timeIn } from '../record/record.ts'
import { estimateRow, renderRow } from '../record/rows.ts'
import { Columns } from './columns.ts'
import { Hits } from './hits.ts'
import { isUnsettled, LogWindow, momentsOf, timeNear, zoneIn } from './window.ts'

export interface DisplayOptions extends Pick<RowLook, 'sources' | 'others'> {
  wrap: boolean
  fields: readonly string[]
  /** Classes that hide columns. */
  classes: string
  zone: ZoneChoice
}

export interface ScreenOptions extends DisplayOptions {
  client: Client
  look: Look
  /** Anything that the toolbar or the status line shows has changed. */
  changed(): void
  /** The place in the log changed: what a link should name. */
  moved(place: Place): void
  say(message: string): void
}

export interface Presenting {
  marked: boolean
  expand: boolean
  /** Pixels from the top of the list to the record; null for the middle of the list. */
  top: number | null
}

/** A log on the screen: the window of loaded records, the list that draws them, and how they are displayed. */
export class Screen {
  window: LogWindow
  /** Records that arrived while the user was reading elsewhere. */
  unseen = 0
  /** Moments of the first and last record in view. */
  seen: [number, number] | null = null
  /** Minutes east of UTC, as the log's times have it; null until a record with a time is loaded. */
  zone: number | null = null
  /** The selected records, from the one that was clicked first to the last. */
  selected: { from: number; to: number } | null = null
  readonly look: Look
  readonly list: VirtualList
  readonly hits: Hits
  readonly columns: Columns
  readonly say: (message: string) => void
  readonly changed: () => void
  readonly #box: HTMLElement
  readonly #abort = new AbortController()
  readonly #open = new Set<number>()
  readonly #whole = new Set<number>()
  #revealed: number | null = null
  #options: ScreenOptions
  #fillTimer: ReturnType<typeof setTimeout> | undefined
  #movedTimer: ReturnType<typeof setTimeout> | undefined
  #seenTimer: ReturnType<typeof setTimeout> | undefined

  constructor(box: HTMLElement, options: ScreenOptions) {
    this.#box = box
    this.#options = options
    this.look = options.look
    this.say = options.say
    this.changed = options.changed
    this.hits = new Hits(options.client, options.look)
    this.columns = new Columns(box.parentElement!)
    this.columns.showFields(options.fields, [])
    this.window = this.#makeWindow()
    this.list = new VirtualList(box, {
      first: () => this.window.firstSeq,
      render: (seq) => this.#render(seq),
      estimate: (seq) => estimateRow(this.window.item(seq) ?? '', this.#charactersPerLine),
      complete: () => this.window.atEnd,
      resized: () => this.#relayout(),
      scrolled: (first, last, atEnd) => this.#scrolled(first, last, atEnd),
    })
  }

  close(): void {
    this.#abort.abort()
    clearTimeout(this.#movedTimer)
    clearTimeout(this.#seenTimer)
    this.window.close()
    this.list.destroy()
  }

  /** Aborted when the screen is closed. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get closed(): boolean {
    return this.signal.aborted
  }

  get following(): boolean {
    return this.window.live !== 'off'
  }

  #makeWindow(): LogWindow {
    const mine = (act: () => void) => () => {
      if (!this.closed) act()
    }
    return new LogWindow(this.#options.client, queryOf(this.look), {
      reset: mine(() => {
        this.zone = zoneIn(this.window) ?? this.zone
        this.selected = null
        this.#revealed = null
        this.#open.clear()
        this.#whole.clear()
        // What other records needed is forgotten.
        this.columns.filled.clear()
        this.columns.showFields(this.#options.fields, this.window.items)
        this.list.reset(this.window.items.length)
      }),
      spliced: (index, removed, added) => {
        const { items, firstSeq } = this.window
        const isAtEnd = index + added === items.length
        if (index > 0 && !isAtEnd) this.#shift(firstSeq + index)
        else if (this.columns.measure(items.slice(index, index + added))) this.list.refresh()
        // What was the first record may be the first of its day.
        else if (index === 0 && added > 0) this.list.refresh([firstSeq + added])
        if (isAtEnd && this.following && !this.list.stick) this.unseen += added
        this.list.splice(index, removed, added)
        this.changed()
      },
      settled: mine(() => this.list.refresh()),
      status: mine(() => {
        this.changed()
        this.#fill()
      }),
    })
  }

  /** Another part of the same log: a new window under the same list. */
  reopen(): void {
    const { items, firstSeq } = this.window
    this.window.close()
    this.unseen = 0
    this.window = Object.assign(this.#makeWindow(), { items, firstSeq })
  }

  /** Shows the records in another way. */
  display(options: DisplayOptions): void {
    const before = this.#options
    const differs = (...names: (keyof DisplayOptions)[]) =>
      names.some((name) => JSON.stringify(options[name]) !== JSON.stringify(before[name]))
    this.#options = { ...before, ...options }
    if (differs('fields')) this.columns.showFields(options.fields, this.window.items)
    if (differs('fields', 'wrap', 'classes')) this.#relayout()
    else if (differs('zone', 'sources', 'others')) this.list.refresh()
    else return
    this.changed()
  }

  #render(seq: number): HTMLElement {
    const { window, hits, look, columns } = this
    const { sources, others, zone } = this.#options
    const item = window.item(seq) ?? ''
    const row = renderRow(item, seq, {
      marks: hits.marks,
      // For the times of records, which say their zone themselves.
      clock: clockOf(zone, 0),
      open: this.#open.has(seq),
      whole: this.#whole.has(seq),
      reveal: this.#revealed === seq,
      around: !look.all && isFiltered(look),
      selected: this.#isSelected(seq),
      fields: columns.fields,
      sources,
      others,
      unsettled: isUnsettled(window, seq),
      day: this.#dayOf(seq),
    })
    if (look.all && hits.isHit(item)) row.classList.add('hit')
    return row
  }

  /** The day of a record, if the one above it is of another. */
  #dayOf(seq: number): string | null {
    const { window } = this
    const own = timeIn(window.item(seq))
    const before = seq === window.firstSeq ? null : timeNear(window, seq - 1)
    if (own === null || before === null) return null
    const clock = clockOf(this.#options.zone, 0)
    const [day, last] = [own, before].map((time) => clock.text(time).slice(0, 10))
    return day === last ? null : day!
  }

  /** Characters in a line of the list when lines wrap, otherwise 0. */
  get #charactersPerLine(): number {
    const width = this.#box.clientWidth
    if (width < NARROW) return Math.max(20, width / 7)
    return this.#options.wrap ? Math.max(20, (width - 60) / 7.5) : 0
  }

  /** A record came in between: what was expanded below it has another seq now. */
  #shift(seq: number): void {
    const moved = (each: number) => (each < seq ? each : each + 1)
    for (const set of [this.#open, this.#whole]) {
      const all = [...set].map(moved)
      set.clear()
      for (const each of all) set.add(each)
    }
    if (this.#revealed !== null) this.#revealed = moved(this.#revealed)
    if (this.selected !== null)
      this.selected = { from: moved(this.selected.from), to: moved(this.selected.to) }
  }

  /** Selects a record, with all between it and the one that was clicked first if that is wanted; null for none. */
  mark(seq: number | null, extend = false): void {
    // Only rows in the document are drawn again, and there are never many of them.
    const drawn = () => this.list.shown().filter((each) => this.#isSelected(each))
    const before = drawn()
    const to = seq === null ? null : Math.min(Math.max(seq, this.window.firstSeq), this.window.endSeq - 1)
    const from = (extend ? this.selected?.from : null) ?? to
    this.selected = to === null ? null : { from: from!, to }
    this.list.refresh([...before, ...drawn()])
    this.changed()
  }

  /** The selected records in order. */
  get bounds(): [number, number] | null {
    if (this.selected === null) return null
    const { from, to } = this.selected
    return from <= to ? [from, to] : [to, from]
  }

  #isSelected(seq: number): boolean {
    const { bounds } = this
    return bounds !== null && seq >= bounds[0] && seq <= bounds[1]
  }

  toggle(seq: number): void {
    if (!this.#open.delete(seq)) this.#open.add(seq)
    this.list.refresh([seq])
    this.list.show(seq)
  }

  /** Shows all of a record that was clipped. */
  showWhole(seq: number): void {
    this.#whole.add(seq)
    this.list.refresh([seq])
  }

  present(seq: number, { marked, expand, top }: Presenting): void {
    if (expand) this.#open.add(seq)
    const show = () => (top === null ? this.list.show(seq, 'center') : this.list.place(seq, top))
    show()
    if (!marked) return
    this.mark(seq)
    show()
  }

  /** Selects a hit and shows it, even inside collapsed lines, far inside a long line, or beyond the right edge. */
  reveal(seq: number): void {
    const { list, hits } = this
    this.mark(seq)
    const before = this.#revealed
    this.#revealed = seq
    list.refresh(before === null ? [seq] : [before, seq])
    list.show(seq, 'center')
    if (hits.marks.length === 0) return
    if (shownMark(list.element(seq)) === null && !this.#open.has(seq)) {
      this.#open.add(seq)
      list.refresh([seq])
      list.show(seq, 'center')
    }
    scrollToMark(this.#box, list, shownMark(list.element(seq)))
  }

  /** Rows have other heights now. What the user reads stays in view: a hit, the selected record, or the top one. */
  #relayout(): void {
    const { list } = this
    const hit = this.#revealed
    const seen = hit !== null && isMarkInView(this.#box, shownMark(list.element(hit)))
    list.relayout(this.selected?.to ?? null, this.following)
    if (!seen) return
    if (shownMark(list.element(hit)) === null) list.show(hit, 'start')
    scrollToMark(this.#box, list, shownMark(list.element(hit)))
  }

  placeOf(seq: number): Place {
    const place = this.window.place(seq)
    const time = timeIn(this.window.item(seq)) ?? ''
    return { at: place?.cursor ?? '', offset: place?.offset ?? 0, record: true, time }
  }

  /** The place in view: the selected record, the end, or the record at the top. */
  here(): Place {
    const chosen = this.selected?.to
    if (chosen !== undefined && this.list.isInView(chosen)) return this.placeOf(chosen)
    if (this.list.atEnd && this.window.atEnd) return NOWHERE
    return { ...this.placeOf(this.list.top().seq), record: false }
  }

  /** Where the list ends, although the log goes on: at its first (-1) or its last (1) record in view. */
  get stopped(): 1 | -1 | null {
    const { window, list } = this
    if (!window.full) return null
    if (list.atEnd && !window.atEnd) return 1
    return window.older !== null && list.beyond.above < 4 ? -1 : null
  }

  #scrolled(first: number, last: number, atEnd: boolean): void {
    const wasUnseen = this.unseen
    if (atEnd) this.unseen = 0
    const before = String(this.seen)
    this.seen = momentsOf(this.window, first, last)
    if (wasUnseen !== this.unseen) this.changed()
    // The chart follows scrolling eight times a second; updating it every frame cost a third of the frame.
    else if (String(this.seen) !== before)
      this.#seenTimer ??= setTimeout(() => {
        this.#seenTimer = undefined
        this.changed()
      }, 120)
    this.#fill()
    clearTimeout(this.#movedTimer)
    this.#movedTimer = setTimeout(() => {
      if (this.window.loading !== 'open') this.#options.moved(this.here())
    }, 300)
  }

  /** Loads more where the loaded records end near what is in view. */
  #fill(): void {
    // Not at once: what was just loaded must be brought to its place first.
    this.#fillTimer ??= setTimeout(() => {
      this.#fillTimer = undefined
      const { window, list } = this
      if (this.closed || list.heights.length === 0 || window.failure !== null || window.loading !== null)
        return
      const { above, below } = list.beyond
      const enough = Math.max(1200, this.#box.clientHeight * 1.5)
      if (above < enough && window.older !== null) void window.loadOlder()
      else if (below < enough && !window.atEnd) void window.loadNewer()
    }, 0)
  }
}

/** Below this width every record wraps; the style sheet says the same. */
const NARROW = 640

/** The first mark of a search hit in a row that can be seen, or would be if the list scrolled there. */
function shownMark(row: HTMLElement | undefined): HTMLElement | null {
  for (const mark of row?.querySelectorAll<HTMLElement>('mark') ?? []) {
    const { width, right } = mark.getBoundingClientRect()
    const cell = mark.closest('.s, .g')
    if (width > 0 && (cell === null || right <= cell.getBoundingClientRect().right + 1)) return mark
  }
  return null
}

function isMarkInView(box: HTMLElement, mark: HTMLElement | null): boolean {
  if (mark === null) return false
  const view = box.getBoundingClientRect()
  const { top, bottom } = mark.getBoundingClientRect()
  return bottom > view.top && top < view.bottom
}

/** Scrolls the list, in both directions, until a mark in one of its rows is in view. */
function scrollToMark(box: HTMLElement, list: VirtualList, mark: HTMLElement | null): void {
  if (mark === null) return
  const view = box.getBoundingClientRect()
  const place = mark.getBoundingClientRect()
  if (place.top < view.top || place.bottom > view.bottom)
    list.scrollBy(place.top - view.top - view.height / 2.5)
  // The time column stays at the left edge and would cover what is under it.
  const time = box.querySelector('.row .t')?.getBoundingClientRect().width ?? 0
  const left = view.left + time + 30
  if (place.left < left || place.right > view.left + box.clientWidth - 10)
    box.scrollLeft += place.left - left - (view.right - left) / 3
}
