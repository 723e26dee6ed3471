import type { Clock } from '../../kit/limits/clock.ts'
import { StoreError } from '../store.ts'

/** How long a peer that failed is left alone at first; the pause doubles with each further failure. */
const SHORTEST_PAUSE = 1000
const LONGEST_PAUSE = 15_000
/** A connection that was idle may just have been closed: a single failure says little. */
const TOLERATED = 1

/** Refuses calls to a peer that just failed, so that it costs no request any time; now and then, one call tries again. */
export class Breaker {
  readonly #clock: Clock
  #failures = 0
  #until = Number.NEGATIVE_INFINITY
  #isTrying = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOpen(): boolean {
    return this.#failures > TOLERATED
  }

  /** Throws if the peer is left alone now. Otherwise, the result reports how the call went. */
  enter(): (outcome: 'answered' | 'failed' | 'late' | 'left') => void {
    const isTry = this.isOpen
    if (isTry && (this.#isTrying || this.#clock.elapsed() < this.#until))
      throw new StoreError('unavailable', 'The peer failed a moment ago')
    if (isTry) this.#isTrying = true
    return (outcome) => {
      if (isTry) this.#isTrying = false
      if (outcome === 'answered') this.#failures = 0
      // What takes too long is not worth a second wait.
      if (outcome === 'late') this.#failures = Math.max(this.#failures, TOLERATED)
      if (outcome === 'failed' || outcome === 'late') this.#fail()
    }
  }

  #fail(): void {
    this.#failures++
    const pause = Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** Math.max(0, this.#failures - TOLERATED - 1))
    this.#until = this.#clock.elapsed() + pause
  }
}
