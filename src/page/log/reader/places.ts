import { ProblemError } from '../../../client.ts'
import type { Look } from '../../url.ts'
import { isNarrowed } from '../find/query.ts'
import type { VirtualList } from '../list/list.ts'
import { parse } from '../record/record.ts'
import type { LogWindow } from './window.ts'

/** A record that another view showed, and what leads back to it. */
export interface Goal {
  line: string
  cursor: string | null
  /** Whether to expand it. */
  expand: boolean
}

/** What a journey through a log moves: the reader's window and list. */
export interface Ground {
  readonly window: LogWindow
  readonly list: VirtualList
  readonly look: Look
  readonly closed: boolean
  /** Begins a new window in the same list. */
  reopen(): void
  /** Highlights a record in the middle of the view. */
  present(seq: number, expand: boolean): void
  say(message: string): void
}

/** The ways to a place in a log: a link, a moment, a record, the beginning. */
export class Places {
  readonly #at: Ground

  constructor(ground: Ground) {
    this.#at = ground
  }

  /** To the oldest records: at once if the node can, otherwise by the time of the first one, otherwise page by page. */
  async toStart(first: string | null): Promise<void> {
    this.#at.reopen()
    if (!(await this.#at.window.openStart())) await this.#pageToStart(first)
  }

  /** To the records just before a moment. */
  async toTime(ms: number): Promise<void> {
    this.#at.reopen()
    const seq = await this.#at.window.openTime(new Date(ms).toISOString())
    if (this.#at.closed || this.#at.window.failure !== null) return
    this.#at.present(seq, false)
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
    else this.#at.present(seq + offset, true)
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

  async #pageToStart(first: string | null): Promise<void> {
    // A range with a start is paged through: the log's first record is not in it.
    if (first !== null && (this.#at.look.since === '' || this.#at.look.all)) {
      await this.#at.window.openTime(new Date(Date.parse(first) + 1).toISOString())
      return
    }
    await this.#at.window.openTail()
    while (!this.#at.closed && this.#at.window.older !== null && this.#at.window.failure === null) {
      await this.#at.window.loadOlder()
      if (this.#at.window.items.length > 200_000) break
    }
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

  /** To a record, or, where this view leaves it out, to its neighbours. */
  async near(goal: Goal): Promise<boolean> {
    if (this.#at.look.all || !isNarrowed(this.#at.look)) {
      const found = await this.toRecord(goal)
      if (found === null && !this.#at.closed)
        this.#at.say('The record could not be found again. The log may have changed')
      return found !== null
    }
    const time = Date.parse(parse(goal.line).time ?? '')
    if (Number.isNaN(time) && goal.cursor === null) return false
    const seq = Number.isNaN(time)
      ? await this.#at.window.openAt(goal.cursor!)
      : await this.#at.window.openTime(new Date(time + 1).toISOString())
    if (this.#at.closed || this.#at.window.failure !== null || this.#showLine(goal) !== null) return true
    this.#at.list.show(seq, 'center')
    return true
  }

  /** To a record that another view showed, by its time, otherwise forward from a cursor before it; null if it is gone. */
  async toRecord(goal: Goal): Promise<number | null> {
    const { cursor } = goal
    const { time } = parse(goal.line)
    if (time !== null && !Number.isNaN(Date.parse(time))) {
      this.#at.reopen()
      await this.#at.window.openTime(new Date(Date.parse(time) + 1).toISOString())
      if (this.#at.closed) return null
      const seq = this.#showLine(goal)
      if (seq !== null) return seq
    }
    if (cursor === null) return null
    this.#at.reopen()
    await this.#at.window.openAt(cursor)
    for (let page = 0; page < 24 && !this.#at.closed; page++) {
      const seq = this.#showLine(goal)
      if (seq !== null) return seq
      if (this.#at.window.atEnd || this.#at.window.failure !== null) break
      await this.#at.window.loadNewer()
    }
    return null
  }

  #showLine({ line, expand }: Goal): number | null {
    const { items, firstSeq } = this.#at.window
    const index = items.lastIndexOf(line)
    if (index < 0) return null
    this.#at.present(firstSeq + index, expand)
    return firstSeq + index
  }
}
