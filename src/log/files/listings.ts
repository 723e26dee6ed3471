import { type Clock, onAbort } from '../../kit/limits/clock.ts'
import type { Entry } from '../../store/store.ts'

const MAX_AGE_MS = 1000
/** A list is kept for at most 25 times what it cost, so that a small one is always fresh. */
const AGE_PER_COST = 25

export interface Listing {
  entries: Entry[]
  /** Set if there are more files than are listed at once; `LogFiles.each` has all of them. */
  isCut?: boolean
  /** If it is cut: the last name that was seen, listed or not. */
  last?: string
  /** Set if it is cut because the store is slow: then the others are listed part by part. */
  isLate?: boolean
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

/** How many files each remembered list has, by what forgets it, oldest first: a process may show hundreds of nodes. */
const remembered = new Map<() => void, number>()
const MOST_REMEMBERED = { lists: 100, files: 100_000 }

function remember(forget: () => void, files: number): void {
  remembered.delete(forget)
  remembered.set(forget, files)
  let sum = [...remembered.values()].reduce((a, b) => a + b)
  for (const [other, count] of remembered) {
    if (other === forget || (sum <= MOST_REMEMBERED.files && remembered.size <= MOST_REMEMBERED.lists)) return
    other()
    remembered.delete(other)
    sum -= count
  }
}

/**
 * Remembers the last list for a moment and, if callers may share it, the one that is being made: sixteen clients would
 * otherwise make sixteen lists of 10,000 files at once. A list whose callers have all left is aborted.
 */
export function sharedListing(
  make: (signal: AbortSignal) => Promise<Listing>,
  revisionNow: () => string | null,
  clock: Clock,
  shared: boolean,
): (signal: AbortSignal | undefined) => Promise<Listing> {
  let last: { listing: Listing; revision: string | null; at: number; until: number } | undefined
  let running: Running | undefined
  const forget = () => {
    last = undefined
  }
  const leave = (left: Running) => {
    if (running === left) running = undefined
  }
  const start = (revision: string | null, at: number): Running => {
    const abort = new AbortController()
    const started = { listing: make(abort.signal), revision, at, waiting: 0, abort }
    if (shared) running = started
    const done = () => leave(started)
    started.listing.then((listing) => {
      const until = at + Math.min(MAX_AGE_MS, (clock.elapsed() - at) * AGE_PER_COST)
      if (!last || last.at <= at) {
        last = { listing, revision, at, until }
        remember(forget, listing.entries.length)
      }
      done()
    }, done)
    return started
  }
  return (signal) => {
    const revision = revisionNow()
    const at = clock.elapsed()
    const isCurrent = (other: { revision: string | null }) => other.revision === revision
    if (last && isCurrent(last) && at < last.until) return Promise.resolve(last.listing)
    const isShared = running && isCurrent(running) && at < running.at + MAX_AGE_MS
    return join(isShared ? running! : start(revision, at), signal, leave)
  }
}

/** Waits for a list; when the last of its callers leaves, it is aborted. */
function join(running: Running, signal: AbortSignal | undefined, leave: (running: Running) => void) {
  running.waiting++
  if (!signal) return running.listing
  return new Promise<Listing>((resolve, reject) => {
    const end = () => {
      reject(signal.reason)
      if (--running.waiting > 0) return
      leave(running)
      running.abort.abort(signal.reason)
    }
    if (signal.aborted) return end()
    running.listing.then(resolve, reject).finally(onAbort(signal, end))
  })
}
