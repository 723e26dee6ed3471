import { ProblemError } from '../../../client.ts'
import type { Look } from '../../url.ts'
import { momentOf } from '../find/moment.ts'
import { isFiltered } from '../find/query.ts'
import type { VirtualList } from '../list/list.ts'
import { isSame, timeIn, zoneOf } from '../record/record.ts'
import type { Hits } from './hits.ts'
import { timeNear } from './survey.ts'
import type { LogWindow } from './window.ts'

/** Where the user is: a record that another view shows, or a moment. */
export interface Goal {
  /** The record as the other view showed it; null if only the moment is known. */
  line: string | null
  /** ISO 8601; null in a log without times. */
  time: string | null
  /** A cursor at or before the record. */
  cursor: string | null
  /** Whether the record was selected. */
  marked: boolean
  /** Whether to expand it. */
  expand: boolean
  /** Pixels from the top of the list to the record; null for the middle of the list. */
  top: number | null
}

/** How to bring a record into view. */
export type Presenting = Pick<Goal, 'marked' | 'expand' | 'top'>

/** What a journey through a log moves: the reader's window and list. */
export interface Ground {
  readonly window: LogWindow
  readonly list: VirtualList
  readonly look: Look
  readonly closed: boolean
  /** Minutes east of UTC, as the log's times have it; null until a record with a time is loaded. */
  readonly zone: number | null
  /** Begins a new window in the same list. */
  reopen(): void
  present(seq: number, how: Presenting): void
  /** Selects a hit and shows it. */
  reveal(seq: number): void
  readonly hits: Hits
  /** The record to step from, or null for what is in view. */
  readonly selected: { to: number } | null
  say(message: string): void
  changed(): void
}

const MARKED: Presenting = { marked: true, expand: false, top: null }

/** The ways to a place in a log: a link, a moment, a record, a hit, the beginning. */
export class Places {
  /** Searches for a hit that are waiting or running. */
  searches = 0
  readonly #at: Ground
  #turns: Promise<unknown> = Promise.resolve()

  constructor(ground: Ground) {
    this.#at = ground
  }

  /** To the oldest records. */
  toStart(): Promise<void> {
    this.#at.reopen()
    return this.#at.window.openStart()
  }

  /** To the records just before a moment. */
  async toTime(ms: number): Promise<void> {
    this.#at.reopen()
    const seq = await this.#at.window.openTime(this.#until(ms, ms))
    if (this.#at.closed || this.#at.window.failure !== null) return
    this.#at.present(seq, MARKED)
  }

  /** To the next hit (1) or the one before (-1). Pressing N three times means three hits, however long each takes. */
  async toHit(direction: 1 | -1): Promise<void> {
    if (!this.#at.hits.wanted) {
      this.#at.say('Nothing to search for yet. Press / and type some text')
      return
    }
    this.searches++
    this.#turns = this.#turns
      .then(() => this.#step(direction))
      .catch((error) => this.#at.say((error as Error).message))
      .finally(() => {
        this.searches--
        this.#at.changed()
      })
    this.#at.changed()
    await this.#turns
  }

  async #step(direction: 1 | -1): Promise<void> {
    if (this.#at.closed) return
    const found = await this.#find(direction, this.#at.selected?.to ?? null)
    if (found !== null) this.#at.reveal(found)
    else if (!this.#at.closed) this.#at.say(direction > 0 ? 'No later hit' : 'No earlier hit')
  }

  /** The next hit in a direction, from a record or from what is in view; loads what it needs. Null if there is none. */
  async #find(direction: 1 | -1, from: number | null): Promise<number | null> {
    const { list, look } = this.#at
    let seq = (from ?? (direction > 0 ? list.top().seq - 1 : this.#at.window.endSeq)) + direction
    while (!this.#at.closed) {
      const { window } = this.#at
      for (; seq >= window.firstSeq && seq < window.endSeq; seq += direction)
        if (this.#at.hits.isHit(window.item(seq)!)) return seq
      if (look.all) return this.#beyond(direction)
      const { firstSeq, endSeq } = window
      if (direction > 0) await window.loadNewer()
      else await window.loadOlder()
      if (window.firstSeq === firstSeq && window.endSeq === endSeq) return null
    }
    return null
  }

  /** If all lines are shown, the node finds the next hit beyond the loaded ones. */
  async #beyond(direction: 1 | -1): Promise<number | null> {
    const found = await this.#at.hits.beyond(this.#at.window, direction, () => !this.#at.closed)
    if (found === null) return null
    const time = timeIn(found.line)
    return this.#toRecord({ ...found, time, marked: true, expand: false, top: null })
  }

  /** The place of a link; false when nothing more is to be done. */
  async openLinked(): Promise<boolean> {
    const { at, offset, record, time } = this.#at.look
    const seq = await this.#at.window.openAt(at)
    if (this.#at.closed) return false
    if (this.#at.window.failure instanceof ProblemError && /cursor/.test(this.#at.window.failure.code)) {
      await this.#openLost(time)
      return false
    }
    if (this.#at.window.failure !== null) return false
    // With what follows it: the place should not be at the very end of what is loaded.
    await this.#reach(seq + offset + 50)
    if (this.#at.closed) return false
    if (!record) this.#at.list.show(seq + offset, 'start')
    else this.#at.present(seq + offset, { ...MARKED, expand: true })
    return true
  }

  /** What a link pointed to is gone: show the log at that time, or its end. */
  async #openLost(time: string): Promise<void> {
    const moment = Date.parse(time)
    if (!Number.isNaN(moment)) {
      await this.toTime(moment + 1)
      if (this.#at.closed || (this.#at.window.failure === null && this.#at.window.items.length > 0)) {
        this.#at.say('The linked lines are gone. This is the log at that time')
        return
      }
    }
    this.#at.say('The linked lines are gone. These are the newest')
    this.#at.reopen()
    await this.#at.window.openTail()
    if (!this.#at.closed) this.#at.list.toEnd()
  }

  async #reach(seq: number): Promise<void> {
    for (let page = 0; page < 16 && !this.#at.closed; page++) {
      if (seq >= this.#at.window.endSeq && !this.#at.window.atEnd) await this.#at.window.loadNewer()
      else if (seq < this.#at.window.firstSeq && this.#at.window.older !== null)
        await this.#at.window.loadOlder()
      else return
      if (this.#at.window.failure !== null) return
    }
  }

  /** To a record, or to its nearest neighbour in time if this view leaves it out; false if neither can be found. */
  async near(goal: Goal): Promise<boolean> {
    const moment = Date.parse(goal.time ?? '')
    if (Number.isNaN(moment)) return this.#nearCursor(goal)
    const before = await this.#at.window.openTime(this.#until(moment + 1, moment))
    const { failure } = this.#at.window
    const { since, until } = this.#at.look
    // A log without times has no such moment; a range that it cannot answer is shown as a failure.
    if (failure instanceof ProblemError && failure.code === 'no-time' && since + until === '') return false
    if (this.#at.closed || this.#at.window.failure !== null || this.#presentLine(goal) !== null) return true
    const whole = this.#at.look.all || !isFiltered(this.#at.look)
    // More records have this very time than a page holds.
    if (whole && (await this.#fromCursor(goal)) !== null) return true
    if (!this.#at.closed && this.#at.window.items.length > 0)
      this.#at.present(this.#nearest(before, moment), { ...goal, marked: false, expand: false })
    return true
  }

  /** To a record that another view showed; null if it is gone. */
  async #toRecord(goal: Goal): Promise<number | null> {
    const moment = Date.parse(goal.time ?? '')
    if (!Number.isNaN(moment)) {
      this.#at.reopen()
      await this.#at.window.openTime(this.#until(moment + 1, moment))
      if (this.#at.closed) return null
      const seq = this.#presentLine(goal)
      if (seq !== null) return seq
    }
    return this.#fromCursor(goal)
  }

  /** Forward from a cursor before the record. */
  async #fromCursor(goal: Goal): Promise<number | null> {
    if (goal.cursor === null || goal.line === null) return null
    this.#at.reopen()
    await this.#at.window.openAt(goal.cursor)
    for (let page = 0; page < 24 && !this.#at.closed; page++) {
      const seq = this.#presentLine(goal)
      if (seq !== null) return seq
      if (this.#at.window.atEnd || this.#at.window.failure !== null) break
      await this.#at.window.loadNewer()
    }
    return null
  }

  /** In a log without times: to the record, or to what follows its cursor. */
  async #nearCursor(goal: Goal): Promise<boolean> {
    if (goal.cursor === null) return false
    const seq = await this.#at.window.openAt(goal.cursor)
    if (this.#at.closed || this.#at.window.failure !== null || this.#presentLine(goal) !== null) return true
    this.#at.present(seq, { ...goal, marked: false, expand: false })
    return true
  }

  /** Of a record before a moment and the one after it, the nearer. */
  #nearest(before: number, moment: number): number {
    const distance = (seq: number) => {
      const ms = Date.parse(timeIn(this.#at.window.item(seq)) ?? '')
      return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : Math.abs(ms - moment)
    }
    return distance(before + 1) < distance(before) ? before + 1 : before
  }

  /** The end of a page that shows a moment, inside the look's range: a page must not show what the range leaves out. */
  #until(end: number, moment: number): string {
    const { since, until } = this.#at.look
    const zone = this.#at.zone ?? zoneOf(this.#at.look.time)
    const from = since === '' ? null : momentOf(since, zone)
    const to = until === '' ? null : momentOf(until, zone, from ?? undefined)
    let ms = end
    if (from !== null && moment < from) ms = from + 1
    if (to !== null && ms > to) ms = to
    return new Date(ms).toISOString()
  }

  #presentLine(goal: Goal): number | null {
    const { items, firstSeq } = this.#at.window
    const { line, time } = goal
    if (line === null) return null
    let index = items.lastIndexOf(line)
    // Read together with other logs, a record says where it is from.
    if (index < 0)
      index = items.findLastIndex(
        (each) => typeof each === 'string' && timeIn(each) === time && isSame(each, line),
      )
    if (index < 0) return null
    this.#at.present(firstSeq + index, goal)
    return firstSeq + index
  }
}

/** A record that is loaded, as a goal for another view. */
export function goalAt({ window, list }: Pick<Ground, 'window' | 'list'>, seq: number): Goal | null {
  const line = window.item(seq)
  if (typeof line !== 'string') return null
  const place = window.place(seq)
  const cursor = place === null || place.offset < 0 ? null : place.cursor
  return { line, time: timeNear(window, seq), cursor, marked: false, expand: false, top: list.offsetOf(seq) }
}

/** A moment to go to, of which no record is known. */
export function momentGoal(time: string): Goal {
  return { line: null, time, cursor: null, marked: false, expand: false, top: null }
}
