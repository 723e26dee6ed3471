import { type Client, ProblemError } from '../../client.ts'
import type { Look } from '../url.ts'
import { VirtualList } from './list.ts'
import { type Matcher, matcher } from './match.ts'
import { isNarrowed, queryOf } from './query.ts'
import { type Item, levelOf, parse, textOf, zoneOf } from './record.ts'
import { columnsOf, estimateRow, renderRow } from './rows.ts'
import { LogWindow } from './window.ts'

/** What the reader's surroundings are told. */
export interface ReaderEvents {
  /** Anything that the toolbar or the status line shows has changed. */
  changed(): void
  /** The place in the log changed: what a link should name. */
  moved(at: string, offset: number): void
  say(message: string): void
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
  zone = 0
  wrap: boolean
  /** Hits that are being looked for. */
  searching = 0
  readonly list: VirtualList
  readonly #client: Client
  readonly #look: Look
  readonly #events: ReaderEvents
  readonly #open = new Set<number>()
  readonly #whole = new Set<number>()
  readonly #columnsFilled = new Set<string>()
  readonly #box: HTMLElement
  #matcher: Matcher | null = null
  #closed = false
  #hits: Promise<unknown> = Promise.resolve()
  #movedTimer: ReturnType<typeof setTimeout> | undefined
  #seenTimer: ReturnType<typeof setTimeout> | undefined

  constructor(box: HTMLElement, client: Client, look: Look, wrap: boolean, events: ReaderEvents) {
    this.#box = box
    this.#client = client
    this.#look = look
    this.#events = events
    this.wrap = wrap
    this.window = this.#makeWindow()
    this.list = new VirtualList(box, {
      first: () => this.window.firstSeq,
      render: (seq) => this.#render(seq),
      estimate: (seq) => estimateRow(this.window.item(seq) ?? '', this.#columns()),
      scrolled: (first, last, atEnd) => this.#scrolled(first, last, atEnd),
    })
  }

  /** Load what the look names. */
  async start(): Promise<void> {
    this.#matcher = await matcher(this.#look.find, this.#look.regex)
    if (this.#closed) return
    if (this.#look.at !== '') {
      const seq = await this.window.openAt(this.#look.at)
      if (this.#closed) return
      if (this.window.failure instanceof ProblemError && /cursor/.test(this.window.failure.code)) {
        this.#events.say('The lines of this link are gone; these are the newest')
        await this.window.openTail()
        if (!this.#closed) this.list.toEnd()
        return
      }
      if (this.window.failure !== null) return
      await this.#reach(seq + this.#look.offset)
      this.list.show(seq + this.#look.offset, 'start')
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

  /** To the oldest records: by the time of the first one, or page by page where the log has no times. */
  async begin(first: string | null): Promise<void> {
    // A range with a start is paged through: the log's first record is not in it.
    if (this.window.older !== null && first !== null && (this.#look.since === '' || this.#look.all)) {
      const following = this.following
      this.#reopen()
      await this.window.openTime(new Date(Date.parse(first) + 1).toISOString())
      if (following) this.#events.say('Following stopped: you are at the beginning')
    } else {
      while (!this.#closed && this.window.older !== null && this.window.failure === null) {
        await this.window.loadOlder()
        if (this.window.items.length > 200_000) break
      }
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
  }

  /** To a record that another view showed: by its time, else forward from a cursor before it. */
  async goToRecord(line: string, cursor: string | null): Promise<boolean> {
    const { time } = parse(line)
    if (time !== null && !Number.isNaN(Date.parse(time))) {
      this.#reopen()
      await this.window.openTime(new Date(Date.parse(time) + 1).toISOString())
      if (this.#closed) return true
      if (this.#showLine(line)) return true
    }
    if (cursor === null) return false
    this.#reopen()
    await this.window.openAt(cursor)
    for (let page = 0; page < 24 && !this.#closed; page++) {
      if (this.#showLine(line)) return true
      if (this.window.atEnd || this.window.failure !== null) break
      await this.window.loadNewer()
    }
    return false
  }

  /** The next hit (1) or the one before (-1), loaded or not. */
  async hit(direction: 1 | -1): Promise<void> {
    if (this.#look.find === '' && this.#look.level === '') {
      this.#events.say('Nothing to look for: type / and a text first')
      return
    }
    // Whoever presses N three times means three hits, however long the first takes.
    this.searching++
    const turn = this.#hits.then(async () => {
      if (!this.#closed && !(await this.#findHit(direction))) {
        this.#events.say(direction > 0 ? 'No later hit' : 'No earlier hit')
      }
    })
    this.#hits = turn
      .catch((error) => this.#events.say((error as Error).message))
      .finally(() => {
        this.searching--
        this.#events.changed()
      })
    this.#events.changed()
    await this.#hits
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

  /** A cursor at or before a record. */
  cursorBefore(seq: number): string | null {
    const place = this.window.place(seq)
    return place === null || place.offset < 0 ? null : place.cursor
  }

  #makeWindow(): LogWindow {
    const mine = (act: () => void) => () => {
      if (!this.#closed) act()
    }
    return new LogWindow(this.#client, queryOf(this.#look), {
      reset: mine(() => {
        this.selected = null
        this.#open.clear()
        this.#whole.clear()
        this.#findZone()
        this.#columnsFilled.clear()
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
      status: mine(() => this.#events.changed()),
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

  async #reach(seq: number): Promise<void> {
    for (let page = 0; page < 16 && !this.#closed; page++) {
      if (seq >= this.window.endSeq && !this.window.atEnd) await this.window.loadNewer()
      else if (seq < this.window.firstSeq && this.window.older !== null) await this.window.loadOlder()
      else return
      if (this.window.failure !== null) return
    }
  }

  #showLine(line: string): boolean {
    const { items, firstSeq } = this.window
    const index = items.lastIndexOf(line)
    if (index < 0) return false
    this.#open.add(firstSeq + index)
    this.list.show(firstSeq + index, 'center')
    this.select(firstSeq + index)
    return true
  }

  async #findHit(direction: 1 | -1): Promise<boolean> {
    const top = this.list.top().seq
    let seq = (this.selected?.to ?? (direction > 0 ? top - 1 : this.window.endSeq)) + direction
    while (!this.#closed) {
      for (; seq >= this.window.firstSeq && seq < this.window.endSeq; seq += direction) {
        if (!this.#isHit(this.window.item(seq)!)) continue
        this.select(seq)
        this.list.show(seq, 'center')
        return true
      }
      if (this.#look.all) return this.#hitBeyond(direction)
      const { firstSeq, endSeq } = this.window
      if (direction > 0) await this.window.loadNewer()
      else await this.window.loadOlder()
      if (this.window.firstSeq === firstSeq && this.window.endSeq === endSeq) return false
    }
    return false
  }

  /** Beyond what is loaded the node looks for us, from the window's edge on. */
  async #hitBeyond(direction: 1 | -1): Promise<boolean> {
    const query = queryOf({ ...this.#look, all: false, since: '', until: '' })
    let cursor = direction > 0 ? this.window.newer : this.window.older
    while (cursor !== null && !this.#closed) {
      const edge: { after: string } | { before: string } =
        direction > 0 ? { after: cursor } : { before: cursor }
      const page = await this.#client.lines({ ...query, ...edge, size: 64 * 1024 })
      const line = direction > 0 ? page.content[0] : page.content.at(-1)
      if (line !== undefined) return this.goToRecord(line, direction > 0 ? cursor : page.prev)
      if (direction > 0 && (page.complete || page.next === cursor)) return false
      cursor = direction > 0 ? page.next : page.prev
    }
    return false
  }

  #isHit(item: Item): boolean {
    if (typeof item !== 'string') return false
    const { find, level } = this.#look
    if (find === '' && level === '') return false
    if (!this.#look.all) return true
    if (level !== '') {
      const own = parse(item).level
      if (own === null || RANK.indexOf(own) < RANK.indexOf(levelOf(level) ?? 'debug')) return false
    }
    return find === '' || (this.#matcher?.test(textOf(item, true)) ?? false)
  }

  #render(seq: number): HTMLElement {
    const item = this.window.item(seq) ?? ''
    const bounds = this.#bounds()
    const row = renderRow(item, seq, {
      matcher: this.#matcher,
      open: this.#open.has(seq),
      whole: this.#whole.has(seq),
      around: !this.#look.all && isNarrowed(this.#look),
      selected: bounds !== null && seq >= bounds[0] && seq <= bounds[1],
    })
    if (this.#look.all && this.#isHit(item)) row.classList.add('hit')
    return row
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
    const pages = this.list.heights.length
    if (pages > 0 && this.window.failure === null) {
      if (first - this.window.firstSeq < 60) void this.window.loadOlder()
      if (!this.window.atEnd && this.window.endSeq - last < 60) void this.window.loadNewer()
    }
    clearTimeout(this.#movedTimer)
    this.#movedTimer = setTimeout(() => {
      const place = atEnd && this.window.atEnd ? null : this.window.place(first)
      this.#events.moved(place?.cursor ?? '', place?.offset ?? 0)
    }, 300)
  }

  #tellSeen(): void {
    this.#seenTimer = undefined
    this.#events.changed()
  }

  #moments(first: number, last: number): [number, number] | null {
    const moment = (from: number, by: number): number | null => {
      for (let seq = from; seq >= first && seq <= last; seq += by) {
        const item = this.window.item(seq)
        const time = typeof item === 'string' ? timeIn(item) : null
        if (time !== null) return Date.parse(time)
      }
      return null
    }
    const from = moment(first, 1)
    const to = moment(last, -1)
    return from === null || to === null ? null : [from, to]
  }

  /** Looks at a few of the records; a column once shown stays, for rows must not shift as one scrolls. */
  #findColumns(items: readonly Item[]): void {
    for (const name of columnsOf([...items.slice(0, 40), ...items.slice(-40)])) this.#columnsFilled.add(name)
    for (const name of ['t', 'l', 's', 'g'])
      this.#box.classList.toggle(`no-${name}`, !this.#columnsFilled.has(name))
  }

  #findZone(): void {
    for (const item of this.window.items.slice(-50)) {
      const time = typeof item === 'string' ? timeIn(item) : null
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

const RANK = ['debug', 'info', 'warn', 'error', 'fatal']
/** Below this width every record wraps; the style sheet says the same. */
const NARROW = 640

/** The time of a record's JSON text, without parsing all of it. */
function timeIn(line: string): string | null {
  return /"time":"([^"]+)"/.exec(line.slice(0, 400))?.[1] ?? null
}
