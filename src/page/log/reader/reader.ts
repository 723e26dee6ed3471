import { type Client, ProblemError } from '../../../client.ts'
import type { Look } from '../../url.ts'
import { isNarrowed, queryOf } from '../find/query.ts'
import { VirtualList } from '../list/list.ts'
import { type Item, parse, textOf, timeIn, zoneOf } from '../record/record.ts'
import { columnsOf, estimateRow, renderRow } from '../record/rows.ts'
import { Hits } from './hits.ts'
import { scrollToMark, shownMark } from './reveal.ts'
import { LogWindow } from './window.ts'

/** A place as a link names it. */
export type Placed = Pick<Look, 'at' | 'offset' | 'record' | 'time'>

/** A record that another view showed, and what leads back to it. */
export interface Goal {
  line: string
  cursor: string | null
  /** Whether to expand it. */
  expand: boolean
}

/** What the reader's surroundings are told. */
export interface ReaderEvents {
  /** Anything that the toolbar or the status line shows has changed. */
  changed(): void
  /** The place in the log changed: what a link should name. */
  moved(place: Placed): void
  say(message: string): void
}

export interface ReaderOptions {
  client: Client
  look: Look
  wrap: boolean
  /** Whether rows show the time since the record above. */
  gaps: boolean
  events: ReaderEvents
}

/**
 * A log on the screen: the window of loaded records, the list that draws them, and what a person does with
 * them: go somewhere, find, select, copy.
 */
export class Reader {
  window: LogWindow
  selected: { from: number; to: number } | null = null
  /** Records that came while the reader looked elsewhere. */
  unseen = 0
  /** Moments of the first and last record in view. */
  seen: [number, number] | null = null
  /** Minutes east of UTC, as the log's times have it; null until a record with a time is loaded. */
  zone: number | null = null
  wrap: boolean
  /** Hits that are being looked for. */
  searching = 0
  /** Columns that some record fills. */
  readonly filled = new Set<string>()
  readonly list: VirtualList
  readonly #client: Client
  readonly #look: Look
  readonly #events: ReaderEvents
  readonly #hits: Hits
  readonly #open = new Set<number>()
  readonly #whole = new Set<number>()
  readonly #box: HTMLElement
  #gaps: boolean
  #revealed: number | null = null
  #closed = false
  #turns: Promise<unknown> = Promise.resolve()
  #fillTimer: ReturnType<typeof setTimeout> | undefined
  #movedTimer: ReturnType<typeof setTimeout> | undefined
  #seenTimer: ReturnType<typeof setTimeout> | undefined

  constructor(box: HTMLElement, { client, look, wrap, gaps, events }: ReaderOptions) {
    this.#box = box
    this.#client = client
    this.#look = look
    this.#events = events
    this.wrap = wrap
    this.#gaps = gaps
    this.#hits = new Hits(client, look)
    this.window = this.#makeWindow()
    this.list = new VirtualList(box, {
      first: () => this.window.firstSeq,
      render: (seq) => this.#render(seq),
      estimate: (seq) => estimateRow(this.window.item(seq) ?? '', this.#columns()),
      complete: () => this.window.atEnd,
      scrolled: (first, last, atEnd) => this.#scrolled(first, last, atEnd),
    })
  }

  /** Load what the look names: a goal in it, a place of a link, or the newest records. */
  async start(goal: Goal | null): Promise<void> {
    await this.#hits.prepare(this.#look.marks)
    if (this.#closed) return
    if (goal !== null && (await this.#near(goal))) return
    if (this.#closed) return
    if (this.#look.at !== '') {
      if (!(await this.#openPlace())) return
    } else {
      await this.window.openTail(this.#look.size || undefined)
      if (this.#closed || this.window.failure !== null) return
      this.list.toEnd()
    }
    if (this.#look.follow) void this.window.follow()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#movedTimer)
    clearTimeout(this.#seenTimer)
    this.window.close()
    this.list.destroy()
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
    if (!this.window.atEnd) {
      this.#reopen()
      await this.window.openTail()
      if (this.#closed) return
    } else if (!this.following) await this.window.loadNewer()
    this.list.toEnd()
    this.#events.changed()
  }

  /** To the oldest records: at once where the node can, else by the time of the first one, else page by page. */
  async begin(first: string | null): Promise<void> {
    if (this.window.older !== null) {
      const following = this.following
      this.#reopen()
      if (!(await this.window.openStart())) await this.#pageToStart(first)
      if (following) this.#events.say('Stopped following: you are at the beginning')
    }
    if (this.#closed) return
    this.list.toStart()
    this.select(this.list.top().seq)
  }

  /** To the records just before a moment. */
  async goToTime(ms: number): Promise<void> {
    this.#reopen()
    const seq = await this.window.openTime(new Date(ms).toISOString())
    if (this.#closed || this.window.failure !== null) return
    this.list.show(seq, 'center')
    this.select(seq)
    this.list.show(seq, 'center')
  }

  /** The next hit (1) or the one before (-1), loaded or not. */
  async hit(direction: 1 | -1): Promise<void> {
    if (!this.#hits.wanted) {
      this.#events.say('Nothing to search for yet. Press / and type a text')
      return
    }
    // Pressing N three times means three hits, however long the first takes.
    this.searching++
    const turn = this.#turns.then(async () => {
      if (!this.#closed && !(await this.#findHit(direction))) {
        this.#events.say(direction > 0 ? 'No later hit' : 'No earlier hit')
      }
    })
    this.#turns = turn
      .catch((error) => this.#events.say((error as Error).message))
      .finally(() => {
        this.searching--
        this.#events.changed()
      })
    this.#events.changed()
    await this.#turns
  }

  select(seq: number, extend = false): void {
    const before = this.#selectedSeqs()
    const last = this.window.endSeq - 1
    const at = Math.min(Math.max(seq, this.window.firstSeq), last)
    this.selected =
      extend && this.selected !== null ? { from: this.selected.from, to: at } : { from: at, to: at }
    this.list.refresh([...before, ...this.#selectedSeqs()].filter((each) => this.list.element(each)))
    this.#events.changed()
  }

  unselect(): void {
    const before = this.#selectedSeqs()
    this.selected = null
    this.list.refresh(before.filter((each) => this.list.element(each)))
    this.#events.changed()
  }

  step(by: number): void {
    const from = this.selected?.to ?? (by > 0 ? this.list.top().seq - 1 : this.list.top().seq + 1)
    this.select(from + by)
    this.list.show(this.selected!.to)
    if (by < 0 && this.selected!.to === this.window.firstSeq) void this.window.loadOlder()
  }

  toggle(seq: number): void {
    if (!this.#open.delete(seq)) this.#open.add(seq)
    this.list.refresh([seq])
    this.list.show(seq)
  }

  /** Show all of a record that was clipped. */
  whole(seq: number): void {
    this.#whole.add(seq)
    this.list.refresh([seq])
  }

  setWrap(on: boolean): void {
    this.wrap = on
    this.list.relayout()
  }

  setGaps(on: boolean): void {
    if (on === this.#gaps) return
    this.#gaps = on
    this.#findColumns([])
    this.list.refresh()
  }

  /** Other texts to highlight; nothing is loaded anew. */
  async highlight(texts: readonly string[]): Promise<void> {
    await this.#hits.highlight(texts)
    if (!this.#closed) this.list.refresh()
  }

  /** The selected records, or all that are loaded, as text. */
  text(columns: boolean): { text: string; records: number } {
    const [from, to] = this.#bounds() ?? [this.window.firstSeq, this.window.endSeq - 1]
    const parts: string[] = []
    for (let seq = from; seq <= to; seq++) parts.push(textOf(this.window.item(seq)!, columns))
    return { text: parts.map((part) => `${part}\n`).join(''), records: parts.length }
  }

  textOf(seq: number, columns: boolean): string {
    return textOf(this.window.item(seq)!, columns)
  }

  /** How a link names a record. */
  placeOf(seq: number): Placed {
    const place = this.window.place(seq)
    const time = timeIn(this.window.item(seq)) ?? ''
    return { at: place?.cursor ?? '', offset: place?.offset ?? 0, record: true, time }
  }

  /** The record that the reader looks at: the selected one, if it is in view, else the first in view. */
  goal(expand: boolean, seq = this.#looksAt()): Goal | null {
    const item = this.window.item(seq)
    if (typeof item !== 'string') return null
    const place = this.window.place(seq)
    return { line: item, cursor: place === null || place.offset < 0 ? null : place.cursor, expand }
  }

  #looksAt(): number {
    const chosen = this.selected?.to
    if (chosen !== undefined && this.list.element(chosen) !== undefined) return chosen
    return this.list.stick ? this.window.endSeq - 1 : this.list.top().seq
  }

  #makeWindow(): LogWindow {
    const mine = (act: () => void) => () => {
      if (!this.#closed) act()
    }
    return new LogWindow(this.#client, queryOf(this.#look), {
      reset: mine(() => {
        this.selected = null
        this.#revealed = null
        this.#open.clear()
        this.#whole.clear()
        this.#findZone()
        this.filled.clear()
        this.#findColumns(this.window.items)
        this.list.reset(this.window.items.length)
      }),
      prepended: (count) => {
        this.#findColumns(this.window.items.slice(0, count))
        this.list.prepended(count)
      },
      appended: (count) => {
        if (this.following && !this.list.stick) this.unseen += count
        this.#findColumns(this.window.items.slice(-count))
        this.list.appended(count)
        this.#events.changed()
      },
      droppedFirst: (count) => this.list.droppedFirst(count),
      droppedLast: (count) => this.list.droppedLast(count),
      status: mine(() => {
        this.#events.changed()
        this.#fill()
      }),
    })
  }

  /** Another part of the same log: a new window under the same list. */
  #reopen(): void {
    this.window.close()
    this.unseen = 0
    const older = this.window
    this.window = this.#makeWindow()
    this.window.items = older.items
    this.window.firstSeq = older.firstSeq
  }

  /** The place of a link; false when nothing more is to be done. */
  async #openPlace(): Promise<boolean> {
    const { at, offset, record, time } = this.#look
    const seq = await this.window.openAt(at)
    if (this.#closed) return false
    if (this.window.failure instanceof ProblemError && /cursor/.test(this.window.failure.code)) {
      await this.#openLost(time)
      return false
    }
    if (this.window.failure !== null) return false
    // With what follows it: the place should not be at the very end of what is loaded.
    await this.#reach(seq + offset + 50)
    if (this.#closed) return false
    if (!record) this.list.show(seq + offset, 'start')
    else this.#present(seq + offset, true)
    return true
  }

  /** What a link pointed to is gone: show the log at that time, or its end. */
  async #openLost(time: string): Promise<void> {
    const moment = Date.parse(time)
    if (!Number.isNaN(moment)) {
      await this.goToTime(moment + 1)
      if (this.#closed || (this.window.failure === null && this.window.items.length > 0)) {
        this.#events.say('The lines of this link are gone. This is the log at that time')
        return
      }
    }
    this.#events.say('The lines of this link are gone. These are the newest')
    this.#reopen()
    await this.window.openTail()
    if (!this.#closed) this.list.toEnd()
  }

  async #pageToStart(first: string | null): Promise<void> {
    // A range with a start is paged through: the log's first record is not in it.
    if (first !== null && (this.#look.since === '' || this.#look.all)) {
      await this.window.openTime(new Date(Date.parse(first) + 1).toISOString())
      return
    }
    await this.window.openTail()
    while (!this.#closed && this.window.older !== null && this.window.failure === null) {
      await this.window.loadOlder()
      if (this.window.items.length > 200_000) break
    }
  }

  async #reach(seq: number): Promise<void> {
    for (let page = 0; page < 16 && !this.#closed; page++) {
      if (seq >= this.window.endSeq && !this.window.atEnd) await this.window.loadNewer()
      else if (seq < this.window.firstSeq && this.window.older !== null) await this.window.loadOlder()
      else return
      if (this.window.failure !== null) return
    }
  }

  /** To a record, or, where this view leaves it out, to its neighbours. */
  async #near(goal: Goal): Promise<boolean> {
    if (this.#look.all || !isNarrowed(this.#look)) {
      const found = await this.#goToRecord(goal)
      if (!found && !this.#closed)
        this.#events.say('The record could not be found again. The log may have changed')
      return found
    }
    const time = Date.parse(parse(goal.line).time ?? '')
    if (Number.isNaN(time) && goal.cursor === null) return false
    const seq = Number.isNaN(time)
      ? await this.window.openAt(goal.cursor!)
      : await this.window.openTime(new Date(time + 1).toISOString())
    if (this.#closed || this.window.failure !== null || this.#showLine(goal)) return true
    this.list.show(seq, 'center')
    return true
  }

  /** To a record that another view showed: by its time, else forward from a cursor before it. */
  async #goToRecord(goal: Goal): Promise<boolean> {
    const { cursor } = goal
    const { time } = parse(goal.line)
    if (time !== null && !Number.isNaN(Date.parse(time))) {
      this.#reopen()
      await this.window.openTime(new Date(Date.parse(time) + 1).toISOString())
      if (this.#closed) return true
      if (this.#showLine(goal)) return true
    }
    if (cursor === null) return false
    this.#reopen()
    await this.window.openAt(cursor)
    for (let page = 0; page < 24 && !this.#closed; page++) {
      if (this.#showLine(goal)) return true
      if (this.window.atEnd || this.window.failure !== null) break
      await this.window.loadNewer()
    }
    return false
  }

  #showLine({ line, expand }: Goal): boolean {
    const { items, firstSeq } = this.window
    const index = items.lastIndexOf(line)
    if (index < 0) return false
    this.#present(firstSeq + index, expand)
    return true
  }

  /** Highlights a record in the middle of the view. */
  #present(seq: number, expand: boolean): void {
    if (expand) this.#open.add(seq)
    this.list.show(seq, 'center')
    this.select(seq)
    this.list.show(seq, 'center')
  }

  async #findHit(direction: 1 | -1): Promise<boolean> {
    const top = this.list.top().seq
    let seq = (this.selected?.to ?? (direction > 0 ? top - 1 : this.window.endSeq)) + direction
    while (!this.#closed) {
      for (; seq >= this.window.firstSeq && seq < this.window.endSeq; seq += direction) {
        if (!this.#hits.isHit(this.window.item(seq)!)) continue
        this.#reveal(seq)
        return true
      }
      if (this.#look.all) {
        const found = await this.#hits.beyond(this.window, direction, () => !this.#closed)
        if (found === null || !(await this.#goToRecord({ ...found, expand: false }))) return false
        this.#reveal(this.selected!.to)
        return true
      }
      const { firstSeq, endSeq } = this.window
      if (direction > 0) await this.window.loadNewer()
      else await this.window.loadOlder()
      if (this.window.firstSeq === firstSeq && this.window.endSeq === endSeq) return false
    }
    return false
  }

  /** Shows a hit itself, even inside collapsed lines, far inside a long line, or beyond the right edge. */
  #reveal(seq: number): void {
    const before = this.#revealed
    this.#revealed = seq
    this.select(seq)
    this.list.refresh(before === null ? [seq] : [before, seq])
    this.list.show(seq, 'center')
    if (!this.#hits.searched) return
    let mark = shownMark(this.list.element(seq))
    if (mark === null && !this.#open.has(seq)) {
      this.#open.add(seq)
      this.list.refresh([seq])
      this.list.show(seq, 'center')
      mark = shownMark(this.list.element(seq))
    }
    if (mark !== null) scrollToMark(this.#box, this.list, mark)
  }

  #render(seq: number): HTMLElement {
    const item = this.window.item(seq) ?? ''
    const bounds = this.#bounds()
    const row = renderRow(item, seq, {
      marks: this.#hits.marks,
      open: this.#open.has(seq),
      whole: this.#whole.has(seq),
      reveal: this.#revealed === seq,
      around: !this.#look.all && isNarrowed(this.#look),
      selected: bounds !== null && seq >= bounds[0] && seq <= bounds[1],
      gap: this.#gaps ? this.#gapBefore(seq) : null,
    })
    if (this.#look.all && this.#hits.isHit(item)) row.classList.add('hit')
    return row
  }

  #gapBefore(seq: number): number | null {
    const [before, own] = [seq - 1, seq].map((each) => Date.parse(timeIn(this.window.item(each)) ?? ''))
    const gap = own! - before!
    return Number.isNaN(gap) ? null : gap
  }

  #scrolled(first: number, last: number, atEnd: boolean): void {
    const wasUnseen = this.unseen
    if (atEnd) this.unseen = 0
    const seen = this.#moments(first, last)
    const moved = seen?.[0] !== this.seen?.[0] || seen?.[1] !== this.seen?.[1]
    this.seen = seen
    if (wasUnseen !== this.unseen) this.#events.changed()
    // The chart follows a scrolling hand eight times a second; with every frame it cost a third of the frame.
    else if (moved) this.#seenTimer ??= setTimeout(() => this.#tellSeen(), 120)
    this.#fill()
    clearTimeout(this.#movedTimer)
    this.#movedTimer = setTimeout(() => {
      const chosen = this.selected?.to
      if (chosen !== undefined && chosen >= first && chosen <= last)
        return this.#events.moved(this.placeOf(chosen))
      if (atEnd && this.window.atEnd)
        return this.#events.moved({ at: '', offset: 0, record: false, time: '' })
      this.#events.moved({ ...this.placeOf(first), record: false })
    }, 300)
  }

  /** Loads more where the loaded records end near what is in view. */
  #fill(): void {
    // Not at once: what was just loaded must be brought to its place first.
    this.#fillTimer ??= setTimeout(() => {
      this.#fillTimer = undefined
      if (!this.#closed) this.#fillNow()
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

  #tellSeen(): void {
    this.#seenTimer = undefined
    this.#events.changed()
  }

  #moments(first: number, last: number): [number, number] | null {
    const moment = (from: number, by: number): number | null => {
      for (let seq = from; seq >= first && seq <= last; seq += by) {
        const time = timeIn(this.window.item(seq))
        if (time !== null) return Date.parse(time)
      }
      return null
    }
    const from = moment(first, 1)
    const to = moment(last, -1)
    return from === null || to === null ? null : [from, to]
  }

  /** Looks at a few of the records; a column that was shown once stays, so that rows do not shift. */
  #findColumns(items: readonly Item[]): void {
    for (const name of columnsOf([...items.slice(0, 40), ...items.slice(-40)])) this.filled.add(name)
    for (const name of ['t', 'l', 's', 'g']) this.#box.classList.toggle(`no-${name}`, !this.filled.has(name))
    this.#box.classList.toggle('no-d', !this.#gaps)
  }

  #findZone(): void {
    for (const item of this.window.items.slice(-50)) {
      const time = timeIn(item)
      if (time === null) continue
      this.zone = zoneOf(time)
      return
    }
  }

  #bounds(): [number, number] | null {
    if (this.selected === null) return null
    const { from, to } = this.selected
    return from <= to ? [from, to] : [to, from]
  }

  #selectedSeqs(): number[] {
    const bounds = this.#bounds()
    if (bounds === null) return []
    // Only drawn rows are drawn again, and there are never many of them.
    const out: number[] = []
    for (let seq = bounds[0]; seq <= bounds[1]; seq++) if (this.list.element(seq)) out.push(seq)
    return out
  }

  /** Characters in a line when lines wrap, else 0. */
  #columns(): number {
    const width = this.#box.clientWidth
    if (width < NARROW) return Math.max(20, width / 7)
    return this.wrap ? Math.max(20, (width - 420) / 7.2) : 0
  }
}

/** Below this width every record wraps; the style sheet says the same. */
const NARROW = 640
