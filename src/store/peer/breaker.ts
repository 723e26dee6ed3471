import { afterInBackground, type Clock } from '../../kit/limits/clock.ts'
import { StoreError } from '../store.ts'

/** A connection that was idle may just have been closed: a single failure says little. */
const TOLERATED = 1
/** How often a peer that failed is asked whether it is back, and how long that may take. */
const PROBE_MS = 1000
export const PROBE_TIMEOUT_MS = 1000
/** Where nobody asked for it for so long, it is not probed: the next request starts with that, and waits so long for it. */
const ASKED_MS = 60_000
const PATIENCE_MS = 300

/**
 * Refuses calls to a peer that failed, so that it costs no request any time. It is probed in the background instead, as
 * long as somebody wants it.
 */
export class Breaker {
  readonly #clock: Clock
  readonly #probe: () => Promise<boolean>
  #failures = 0
  #askedAt = Number.NEGATIVE_INFINITY
  /** When the next probe is over at the latest: where timers end with a request, it never is. */
  #probedBy = Number.NEGATIVE_INFINITY

  /** `probe` tells whether the peer answers, within `PROBE_TIMEOUT_MS`. */
  constructor(clock: Clock, probe: () => Promise<boolean>) {
    this.#clock = clock
    this.#probe = probe
  }

  get isOpen(): boolean {
    return this.#failures > TOLERATED
  }

  /** Throws if the peer is left alone now. Otherwise, the result reports how the call went. */
  async enter(): Promise<(outcome: 'answered' | 'failed' | 'late' | 'left') => void> {
    this.#askedAt = this.#clock.elapsed()
    if (this.isOpen && this.#askedAt > this.#probedBy) await this.#waitFor(this.#try())
    if (this.isOpen) throw new StoreError('unavailable', 'The peer failed a moment ago')
    return (outcome) => {
      if (outcome === 'answered') this.#failures = 0
      // What takes too long is not worth a second wait.
      if (outcome === 'late') this.#failures = Math.max(this.#failures, TOLERATED)
      if (outcome !== 'failed' && outcome !== 'late') return
      this.#failures++
      if (this.isOpen && this.#clock.elapsed() > this.#probedBy) this.#probeLater()
    }
  }

  async #waitFor(work: Promise<void>): Promise<void> {
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(PATIENCE_MS, resolve)
    })
    await Promise.race([work, late]).finally(() => cancel())
  }

  #probeLater(): void {
    this.#probedBy = this.#clock.elapsed() + PROBE_MS + 2 * PROBE_TIMEOUT_MS
    afterInBackground(this.#clock, PROBE_MS, () => void this.#try())
  }

  async #try(): Promise<void> {
    this.#probedBy = this.#clock.elapsed() + 2 * PROBE_TIMEOUT_MS
    const isBack = await this.#probe().catch(() => false)
    if (isBack) this.#failures = 0
    this.#probedBy = Number.NEGATIVE_INFINITY
    if (this.isOpen && this.#clock.elapsed() - this.#askedAt < ASKED_MS) this.#probeLater()
  }
}
