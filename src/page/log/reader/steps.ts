import type { Hits } from './hits.ts'
import type { Ground, Places } from './places.ts'

/** Steps from hit to hit. */
export class Steps {
  readonly #hits: Hits
  readonly #places: Places
  readonly #at: Ground

  constructor(hits: Hits, places: Places, ground: Ground) {
    this.#hits = hits
    this.#places = places
    this.#at = ground
  }

  /** The next hit in a direction, from a record or from what is in view; loads what it needs. Null where none is. */
  async find(direction: 1 | -1, from: number | null): Promise<number | null> {
    const { list, look } = this.#at
    let seq = (from ?? (direction > 0 ? list.top().seq - 1 : this.#at.window.endSeq)) + direction
    while (!this.#at.closed) {
      const { window } = this.#at
      for (; seq >= window.firstSeq && seq < window.endSeq; seq += direction)
        if (this.#hits.isHit(window.item(seq)!)) return seq
      if (look.all) return this.#beyond(direction)
      const { firstSeq, endSeq } = window
      if (direction > 0) await window.loadNewer()
      else await window.loadOlder()
      if (window.firstSeq === firstSeq && window.endSeq === endSeq) return null
    }
    return null
  }

  /** Where all lines are shown, the node looks for the next hit beyond those that are loaded. */
  async #beyond(direction: 1 | -1): Promise<number | null> {
    const found = await this.#hits.beyond(this.#at.window, direction, () => !this.#at.closed)
    if (found === null) return null
    return this.#places.toRecord({ ...found, expand: false })
  }
}
