import type { Client } from '../../../client.ts'
import { type Look, NOWHERE, type Place } from '../../url.ts'
import { isNarrowed, queryOf } from '../find/query.ts'
import { VirtualList } from '../list/list.ts'
import { textOf, timeIn } from '../record/record.ts'
import { Display, type DisplayOptions } from './display.ts'
import { Hits } from './hits.ts'
import { type Goal, goalAt, momentGoal, Places, type Presenting } from './places.ts'
import { momentsOf, zoneIn } from './survey.ts'
import { LogWindow } from './window.ts'

export interface ReaderOptions extends DisplayOptions {
  client: Client
  look: Look
  /** Anything that the toolbar or the status line shows has changed. */
  changed(): void
  /** The place in the log changed: what a link should name. */
  moved(place: Place): void
  say(message: string): void
}

/**
 * A log on the screen: the window of loaded records, the list that draws them, and what a person does with
 * them: go somewhere, find, select, copy.
 */
export class Reader {
  window: LogWindow
  /** Records that arrived while the user was reading elsewhere. */
  unseen = 0
  /** Moments of the first and last record in view. */
  seen: [number, number] | null = null
  /** Minutes east of UTC, as the log's times have it; null until a record with a time is loaded. */
  zone: number | null = null
  readonly look: Look
  readonly list: VirtualList
  readonly display: Display
  readonly hits: Hits
  readonly #options: ReaderOptions
  readonly #places: Places
  readonly #box: HTMLElement
  readonly #abort = new AbortController()
  /** Where this view was opened; undefined once the user has moved in it. */
  #origin: Goal | null | undefined
  #fillTimer: ReturnType<typeof setTimeout> | undefined
  #movedTimer: ReturnType<typeof setTimeout> | undefined
  #seenTimer: ReturnType<typeof setTimeout> | undefined

  constructor(box: HTMLElement, options: ReaderOptions) {
    this.#box = box
    this.#options = options
    this.look = options.look
    this.hits = new Hits(options.client, options.look)
    this.#places = new Places(this)
    this.window = this.#makeWindow()
    this.list = new VirtualList(box, {
      first: () => this.window.firstSeq,
      render: (seq) => this.display.render(seq),
      estimate: (seq) => this.display.estimate(seq),
      complete: () => this.window.atEnd,
      resized: () => this.display.relayout(),
      scrolled: (first, last, atEnd) => this.#scrolled(first, last, atEnd),
    })
    this.display = new Display(box, this, options)
    const touched = () => this.#touched()
    for (const name of ['wheel', 'pointerdown', 'touchstart'])
      box.addEventListener(name, touched, { passive: true, signal: this.#abort.signal })
  }

  /**
   * Loads what the look names: a goal in it, a linked place, or the newest records. A goal of null is the end of the
   * log; undefined is a view that nobody came to from another.
   */
  async start(goal: Goal | null | undefined): Promise<void> {
    await this.hits.prepare(this.look.marks)
    if (this.closed) return
    const { at, time } = this.look
    const wanted = goal === undefined && at === '' && time !== '' ? momentGoal(time) : goal
    this.#origin = wanted
    const there = wanted ? await this.#places.near(wanted) : false
    if (goal === undefined) this.#touched()
    if (there) return
    if (this.closed) return
    if (goal === undefined && at !== '') {
      if (!(await this.#places.openLinked())) return
    } else {
      await this.window.openTail(this.look.size || undefined)
      if (this.closed || this.window.failure !== null) return
      this.list.toEnd()
    }
    if (this.look.follow) void this.window.follow()
  }

  close(): void {
    this.#abort.abort()
    clearTimeout(this.#movedTimer)
    clearTimeout(this.#seenTimer)
    this.window.close()
    this.list.destroy()
  }

  get closed(): boolean {
    return this.#abort.signal.aborted
  }

  /** Something that the toolbar or the status line shows has changed. */
  changed(): void {
    this.#options.changed()
  }

  say(message: string): void {
    this.#options.say(message)
  }

  get following(): boolean {
    return this.window.live !== 'off'
  }

  async follow(on: boolean): Promise<void> {
    if (!on) {
      this.window.unfollow()
      return
    }
    await this.end()
    void this.window.follow()
  }

  /** To the newest records. */
  async end(): Promise<void> {
    this.unseen = 0
    this.#touched()
    if (!this.window.atEnd) {
      this.reopen()
      await this.window.openTail()
      if (this.closed) return
    } else if (!this.following) await this.window.loadNewer()
    this.list.toEnd()
    this.changed()
  }

  /** To the oldest records. */
  async begin(): Promise<void> {
    if (this.window.older !== null) {
      const following = this.following
      await this.#places.toStart()
      if (following) this.say('Stopped following: you are at the beginning')
    }
    if (this.closed) return
    this.list.toStart()
    this.select(this.list.top().seq)
  }

  /** To the records just before a moment. */
  goToTime(ms: number): Promise<void> {
    this.#touched()
    return this.#places.toTime(ms)
  }

  /** The next hit (1) or the one before (-1), loaded or not. */
  hit(direction: 1 | -1): Promise<void> {
    this.#touched()
    return this.#places.toHit(direction)
  }

  /** Whether a search for a hit is running. */
  get searching(): boolean {
    return this.#places.searches > 0
  }

  get selected(): { from: number; to: number } | null {
    return this.display.selected
  }

  select(seq: number, extend = false): void {
    this.#touched()
    this.#mark(seq, extend)
  }

  #mark(seq: number, extend = false): void {
    const at = Math.min(Math.max(seq, this.window.firstSeq), this.window.endSeq - 1)
    this.display.select(at, extend)
    this.changed()
  }

  unselect(): void {
    this.display.select(null)
    this.changed()
  }

  step(by: number): void {
    const from = this.selected?.to ?? (by > 0 ? this.list.top().seq - 1 : this.list.top().seq + 1)
    this.select(from + by)
    this.list.show(this.selected!.to)
    if (by < 0 && this.selected!.to === this.window.firstSeq) void this.window.loadOlder()
  }

  /** Scrolls by this many pixels. */
  scroll(pixels: number): void {
    this.#touched()
    this.list.scrollBy(pixels)
  }

  /** Other texts to highlight; nothing is reloaded. */
  async highlight(texts: readonly string[]): Promise<void> {
    await this.hits.highlight(texts)
    if (!this.closed) this.list.refresh()
  }

  /** The selected records, or all that are loaded, as text. */
  text(columns: boolean): { text: string; records: number } {
    const [from, to] = this.display.bounds ?? [this.window.firstSeq, this.window.endSeq - 1]
    const parts: string[] = []
    for (let seq = from; seq <= to; seq++) parts.push(textOf(this.window.item(seq)!, columns))
    return { text: parts.map((part) => `${part}\n`).join(''), records: parts.length }
  }

  /** How a link names a record. */
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

  /**
   * The record being read, which stays when the view changes: the selected one, if it is in view, otherwise the one at
   * the top; null for the end of the log. While the user has not moved, it is the one that this view was opened for,
   * shown here or not.
   */
  goal(): Goal | null {
    const { window, list, look, selected } = this
    if (this.#origin !== undefined) return this.#origin
    if (this.following) return null
    if (selected !== null && list.isInView(selected.to)) return this.#marked(selected.to)
    if (list.stick && !isNarrowed(look)) return null
    let { seq } = list.top()
    while (seq < window.endSeq - 1 && typeof window.item(seq) !== 'string') seq++
    return goalAt(this, seq)
  }

  /** A record to show with the lines around it. */
  goalAround(seq: number): Goal | null {
    const goal = this.#marked(seq)
    return goal && { ...goal, expand: true, top: null }
  }

  #marked(seq: number): Goal | null {
    const goal = goalAt(this, seq)
    return goal && { ...goal, marked: true }
  }

  /** The user moved: this is where they are now. */
  #touched(): void {
    this.#origin = undefined
  }

  #makeWindow(): LogWindow {
    const mine = (act: () => void) => () => {
      if (!this.closed) act()
    }
    return new LogWindow(this.#options.client, queryOf(this.look), {
      reset: mine(() => {
        this.zone = zoneIn(this.window) ?? this.zone
        this.display.reset(this.window.items)
        this.list.reset(this.window.items.length)
      }),
      spliced: (index, removed, added) => {
        const { items, firstSeq } = this.window
        const isAtEnd = index + added === items.length
        if (index > 0 && !isAtEnd) this.display.shift(firstSeq + index)
        else this.display.measure(items.slice(index, index + added))
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
    this.window.close()
    this.unseen = 0
    const older = this.window
    this.window = this.#makeWindow()
    this.window.items = older.items
    this.window.firstSeq = older.firstSeq
  }

  /** Brings a record into view. */
  present(seq: number, { marked, expand, top }: Presenting): void {
    if (expand) this.display.expand(seq)
    const show = () => (top === null ? this.list.show(seq, 'center') : this.list.place(seq, top))
    show()
    if (!marked) return
    this.#mark(seq)
    show()
  }

  /** Selects a hit and shows it. */
  reveal(seq: number): void {
    this.#mark(seq)
    this.display.reveal(seq)
  }

  #scrolled(first: number, last: number, atEnd: boolean): void {
    const wasUnseen = this.unseen
    if (atEnd) this.unseen = 0
    const seen = momentsOf(this.window, first, last)
    const moved = seen?.[0] !== this.seen?.[0] || seen?.[1] !== this.seen?.[1]
    this.seen = seen
    if (wasUnseen !== this.unseen) this.changed()
    // The chart follows scrolling eight times a second; updating it every frame cost a third of the frame.
    else if (moved)
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
      if (!this.closed) this.#fillNow()
    }, 0)
  }

  #fillNow(): void {
    const { window, list } = this
    if (list.heights.length === 0 || window.failure !== null || window.loading !== null) return
    const { above, below } = list.beyond
    const enough = Math.max(1200, this.#box.clientHeight * 1.5)
    if (above < enough && window.older !== null) void window.loadOlder()
    else if (below < enough && !window.atEnd) void window.loadNewer()
  }
}
