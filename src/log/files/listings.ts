import type { Entry } from '../../store/store.ts'

const MAX_AGE_MS = 1000
/** A list is kept for at most 25 times what it cost, so that a small one is always fresh. */
const AGE_PER_COST = 25

export interface Listing {
  entries: Entry[]
  /** Set if there are more files than are listed at once; `LogFiles.each` has all of them. */
  isCut?: boolean
  /** Set where the sizes of some joined logs are not complete. */
  note?: 'size-partial'
}

/** One list that is being made, and how many callers wait for it. */
interface Running {
  listing: Promise<Listing>
  revision: string | null
  at: number
  waiting: number
  abort: AbortController
}

/** The lists that are remembered, oldest first: a process may show hundreds of nodes. */
const remembered = new Map<Listings, number>()
const MOST_REMEMBERED = { lists: 100, files: 100_000 }

function remember(listings: Listings, files: number): void {
  remembered.delete(listings)
  remembered.set(listings, files)
  let sum = [...remembered.values()].reduce((a, b) => a + b)
  for (const [other, count] of remembered) {
    if (other === listings || (sum <= MOST_REMEMBERED.files && remembered.size <= MOST_REMEMBERED.lists))
      return
    other.forget()
    remembered.delete(other)
    sum -= count
  }
}

/**
 * Remembers the last list for a moment and shares the one that is being made: sixteen clients would otherwise make
 * sixteen lists of 10,000 files at once. A list whose callers have all left is aborted.
 */
export class Listings {
  readonly #make: (signal: AbortSignal) => Promise<Listing>
  readonly #revision: () => string | null
  readonly #now: () => number
  /** Whether callers may share a list that is being made. */
  readonly #shared: boolean
  #last: { listing: Listing; revision: string | null; at: number; until: number } | undefined
  #running: Running | undefined

  constructor(
    make: (signal: AbortSignal) => Promise<Listing>,
    revision: () => string | null,
    now: () => number,
    shared: boolean,
  ) {
    this.#make = make
    this.#revision = revision
    this.#now = now
    this.#shared = shared
  }

  forget(): void {
    this.#last = undefined
  }

  get(signal: AbortSignal | undefined): Promise<Listing> {
    const revision = this.#revision()
    const start = this.#now()
    const isCurrent = (other: { revision: string | null; at: number }) =>
      other.revision === revision && start >= other.at
    const last = this.#last
    if (last && isCurrent(last) && start < last.until) return Promise.resolve(last.listing)
    const running = this.#running
    if (running && isCurrent(running) && start < running.at + MAX_AGE_MS) return this.#join(running, signal)
    return this.#join(this.#start(revision, start), signal)
  }

  #start(revision: string | null, at: number): Running {
    const abort = new AbortController()
    const listing = this.#make(abort.signal)
    const running: Running = { listing, revision, at, waiting: 0, abort }
    if (this.#shared) this.#running = running
    const done = () => {
      if (this.#running === running) this.#running = undefined
    }
    listing.then((listing) => {
      const until = at + Math.min(MAX_AGE_MS, (this.#now() - at) * AGE_PER_COST)
      if (!this.#last || this.#last.at <= at) {
        this.#last = { listing, revision, at, until }
        remember(this, listing.entries.length)
      }
      done()
    }, done)
    return running
  }

  /** Waits for a list; when the last of its callers leaves, it is aborted. */
  #join(running: Running, signal: AbortSignal | undefined): Promise<Listing> {
    running.waiting++
    if (!signal) return running.listing
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason)
        if (--running.waiting > 0) return
        if (this.#running === running) this.#running = undefined
        running.abort.abort(signal.reason)
      }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave, { once: true })
      running.listing.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }
}
