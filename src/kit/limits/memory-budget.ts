import { type Clock, sleep } from './clock.ts'

/** How often, and after how many milliseconds each time, an answer asks for memory that others hold. */
const TRIES = 50
const PAUSE_MS = 100

/** Tries again until there is memory for something. False if others hold it for five seconds. */
export async function retryForMemory(
  clock: Clock,
  attempt: () => boolean | Promise<boolean>,
): Promise<boolean> {
  for (let tries = 0; !(await attempt()); tries++) {
    if (tries >= TRIES) return false
    await sleep(clock, PAUSE_MS)
  }
  return true
}

/** Memory that one request holds. */
export interface Lease {
  /** Requests more. False if there is none: the caller then stops with what it has. */
  grow(bytes: number): boolean
  /** Returns part of it early. */
  shrink(bytes: number): void
  /** Returns everything. Safe to call twice. */
  release(): void
  /** Returns everything when `owner` is garbage-collected, in case it is never released. */
  tieTo(owner: object): void
}

/** Absent on runtimes without it; leases are then only released explicitly. */
const forgotten =
  typeof FinalizationRegistry === 'undefined'
    ? null
    : new FinalizationRegistry<() => void>((release) => release())

/**
 * Memory shared by all requests: what searches collect, what archives keep, and answers that are still being sent.
 * It only counts: a request that is refused memory answers 503 or stops early, so the process stays below its limit.
 */
export class MemoryBudget {
  readonly total: number
  readonly #parent: MemoryBudget | null
  #used = 0

  constructor(total: number, parent: MemoryBudget | null = null) {
    this.total = total
    this.#parent = parent
  }

  get used(): number {
    return this.#used
  }

  /** Leases memory, or returns null when there is not enough. */
  lease(bytes: number): Lease | null {
    const lease = this.#open()
    return lease.grow(bytes) ? lease : null
  }

  /** A part of it for one request, counted here, too. */
  part(share: number): MemoryBudget {
    return new MemoryBudget(Math.floor(this.total * share), this)
  }

  #take(bytes: number): boolean {
    if (this.#used + bytes > this.total) return false
    if (this.#parent !== null && !this.#parent.#take(bytes)) return false
    this.#used += bytes
    return true
  }

  #give(bytes: number): void {
    this.#used -= bytes
    if (this.#parent !== null) this.#parent.#give(bytes)
  }

  #open(): Lease {
    let held = 0
    let open = true
    const release = () => {
      open = false
      this.#give(held)
      held = 0
    }
    return {
      grow: (bytes) => {
        if (!open || !this.#take(bytes)) return false
        held += bytes
        return true
      },
      shrink: (bytes) => {
        const back = Math.min(bytes, held)
        held -= back
        this.#give(back)
      },
      release,
      tieTo: (owner) => forgotten?.register(owner, release),
    }
  }
}
