import { timeIn } from '../record/record.ts'
import type { Hits } from './hits.ts'
import type { Ground, Places } from './places.ts'

/** Whose hits are stepped through. */
interface Walker extends Ground {
  readonly hits: Hits
  /** The record to step from, or null for what is in view. */
  readonly selected: { to: number } | null
  reveal(seq: number): void
  changed(): void
}

/** Steps from hit to hit, one after another. */
export class Steps {
  /** Steps that are waiting or being taken. */
  running = 0
  readonly #places: Places
  readonly #at: Walker
  #turns: Promise<unknown> = Promise.resolve()

  constructor(places: Places, walker: Walker) {
    this.#places = places
    this.#at = walker
  }

  /** To the next hit (1) or the one before (-1). Pressing N three times means three hits, however long each takes. */
  async go(direction: 1 | -1): Promise<void> {
    if (!this.#at.hits.wanted) {
      this.#at.say('Nothing to search for yet. Press / and type some text')
      return
    }
    this.running++
    this.#turns = this.#turns
      .then(() => this.#step(direction))
      .catch((error) => this.#at.say((error as Error).message))
      .finally(() => {
        this.running--
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
    return this.#places.toRecord({ ...found, time, marked: true, expand: false, top: null })
  }
}
