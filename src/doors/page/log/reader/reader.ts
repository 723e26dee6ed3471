import { isFiltered, isNarrowed } from '../find/query.ts'
import { textOf, timeIn } from '../record/record.ts'
import { type Goal, goalAt, goOn, isOutside, NO_GOAL, toGoal, toHit, toLink, toTime } from './places.ts'
import { Screen, type ScreenOptions } from './screen.ts'
import { timeNear } from './window.ts'

/** What a person does with a log on the screen: go somewhere, find, select, copy. */
export class Reader extends Screen {
  /** Searches for a hit that are waiting or running. */
  #searches = 0
  #turns: Promise<unknown> = Promise.resolve()
  /** Where this view was opened; undefined once the user has moved in it. */
  #origin: Goal | null | undefined

  constructor(box: HTMLElement, options: ScreenOptions) {
    super(box, options)
    const touched = () => this.#touched()
    for (const name of ['wheel', 'pointerdown', 'touchstart'])
      box.addEventListener(name, touched, { passive: true, signal: this.signal })
  }

  /**
   * Loads what the look names: a goal in it, a linked place, the beginning of a range, or the newest records. A goal of
   * null is the end of the log; undefined is a view that nobody came to from another.
   */
  async start(goal: Goal | null | undefined): Promise<void> {
    await this.hits.prepare()
    if (this.closed) return
    const { at, time } = this.look
    const linked = goal === undefined && at === '' && time !== '' ? { ...NO_GOAL, time } : goal
    // What a new range leaves out is not looked for at its edge.
    const wanted = goal && isOutside(this, goal) ? null : linked
    this.#origin = wanted
    const there = wanted ? await toGoal(this, wanted) : false
    if (goal === undefined) this.#touched()
    if (there || this.closed) return
    if (goal === undefined && at !== '') {
      if (!(await toLink(this))) return
    } else if (this.look.since !== '' && !this.look.follow) {
      await this.window.openStart()
      if (this.closed || this.window.failure !== null) return
      this.list.place(this.window.firstSeq, 0)
    } else {
      await this.window.openTail()
      if (this.closed || this.window.failure !== null) return
      this.list.toEnd()
    }
    if (this.look.follow) void this.window.follow()
  }

  async follow(on: boolean): Promise<void> {
    if (!on) return this.window.unfollow()
    await this.end()
    void this.window.follow()
  }

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

  async begin(): Promise<void> {
    if (this.window.older !== null) {
      const { following } = this
      this.reopen()
      await this.window.openStart()
      if (following) this.say('Stopped following: you are at the beginning')
    }
    if (this.closed) return
    this.list.place(this.window.firstSeq, 0)
    this.select(this.list.top().seq)
  }

  /** To what comes after (1) or before (-1) as many records as are shown at once. */
  async goOn(direction: 1 | -1): Promise<void> {
    this.#touched()
    await goOn(this, direction)
  }

  goToTime(ms: number): Promise<void> {
    this.#touched()
    return toTime(this, ms)
  }

  /**
   * The next hit (1) or the one before (-1), loaded or not; without a filter, errors are hits. Pressing N three times
   * means three hits, however long each takes.
   */
  async hit(direction: 1 | -1): Promise<void> {
    this.#touched()
    if (!isFiltered(this.look) && !this.columns.filled.has('l'))
      return this.say('Nothing to search for yet. Press / and type some text')
    this.#searches++
    this.#turns = this.#turns
      .then(() => toHit(this, direction))
      .catch((error) => this.say((error as Error).message))
      .finally(() => {
        this.#searches--
        this.changed()
      })
    this.changed()
    await this.#turns
  }

  /** To the first hit after a moment, or without a filter the first error; what is just before it where there is none. */
  async errorAfter(ms: number): Promise<void> {
    await this.goToTime(ms)
    if (!this.closed && this.window.failure === null) await this.hit(1)
  }

  /** The moment of the selected record. */
  selectedMoment(): number | null {
    const ms =
      this.selected === null ? Number.NaN : Date.parse(timeIn(this.window.item(this.selected.to)) ?? '')
    return Number.isNaN(ms) ? null : ms
  }

  get searching(): boolean {
    return this.#searches > 0
  }

  select(seq: number, extend = false): void {
    this.#touched()
    this.mark(seq, extend)
  }

  step(by: number): void {
    const from = this.selected?.to ?? (by > 0 ? this.list.top().seq - 1 : this.list.top().seq + 1)
    this.select(from + by)
    this.list.show(this.selected!.to)
    if (by < 0 && this.selected!.to === this.window.firstSeq) void this.window.loadOlder()
  }

  scroll(pixels: number): void {
    this.#touched()
    this.list.scrollBy(pixels)
  }

  /** The selected records, or all that are loaded, as text. */
  text(columns: boolean): { text: string; records: number } {
    const [from, to] = this.bounds ?? [this.window.firstSeq, this.window.endSeq - 1]
    const parts: string[] = []
    for (let seq = from; seq <= to; seq++) parts.push(textOf(this.window.item(seq)!, columns))
    return { text: parts.map((part) => `${part}\n`).join(''), records: parts.length }
  }

  /**
   * The record being read, which stays when the view changes: the selected one, if it is in view, otherwise the one at
   * the top; null for the end of the whole log. While the user has not moved, it is the one that this view was opened
   * for, shown here or not.
   */
  goal(): Goal | null {
    const { window, list, look, selected } = this
    if (this.#origin) return this.#origin
    if (this.following) return null
    if (selected !== null && list.isInView(selected.to)) return this.#marked(selected.to)
    if (list.stick && !isNarrowed(look)) return null
    let { seq } = list.top()
    while (seq < window.endSeq - 1 && typeof window.item(seq) !== 'string') seq++
    return goalAt(this, seq)
  }

  /** The moment that is read: of the goal, or at the end of the log of the newest record; '' while it is followed. */
  moment(): string {
    const goal = this.goal()
    if (goal !== null || this.following || this.window.items.length === 0) return goal?.time ?? ''
    return timeNear(this.window, this.window.endSeq - 1) ?? ''
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
}
