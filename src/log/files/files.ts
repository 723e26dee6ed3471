import type { Entry, EntryList, ReadOptions, Store, StoreRead } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { includeFilter } from './include.ts'

/** A list may be up to a second old; it lives no longer than 25 times what it cost, so that a small one is fresh. */
const LIST_MAX_AGE = 1000
const LIST_AGE_PER_COST = 25

/** The log files of a node as they were listed. */
export interface Listing {
  entries: Entry[]
}

/** The log files of a node. One filter decides what is listed and what can be read: they cannot differ. */
export interface LogFiles {
  list(): Promise<Listing>
  /** The listed names that begin with `prefix`, as they are now: the members of a family. */
  startingWith(prefix: string, signal?: AbortSignal): Promise<Entry[]>
  /** The entry of a listed name; anything else is a LogError `unknown-file`. */
  stat(name: string, signal?: AbortSignal): Promise<Entry>
  /** Bytes of a listed name; anything else is a LogError `unknown-file`. */
  read(name: string, range: Parameters<Store['read']>[1], options?: ReadOptions): Promise<StoreRead>
  /** Whether a listed name is known at once to be still what the tag says; false says nothing. */
  unchanged(name: string, etag: string): boolean
  /** Gives notice of changes, where the store can; null where followers must poll. */
  watch(name: string, changed: () => void): (() => void) | null
}

/** The log files that a store holds, narrowed by include patterns. */
export function logFiles(
  store: Store,
  include: readonly string[] = [],
  now: () => number = Date.now,
): LogFiles {
  const included = includeFilter(include)
  const isListed = (name: string) => isFileName(name) && included(name)
  let last: { listing: Listing; revision: string | null; at: number; until: number } | undefined
  let running: { listing: Promise<Listing>; revision: string | null; at: number } | undefined
  const collect = async (list: EntryList): Promise<Entry[]> => {
    if (list.all) return (await list.all()).filter((entry) => isListed(entry.key))
    const entries: Entry[] = []
    for await (const entry of list) if (isListed(entry.key)) entries.push(entry)
    return entries
  }
  const make = async (): Promise<Listing> => ({
    entries: await collect(store.list(undefined, { shallow: true })),
  })

  return {
    list() {
      const revision = store.revision?.() ?? null
      const start = now()
      const isOf = (other: { revision: string | null; at: number }) =>
        other.revision === revision && start >= other.at
      if (last && isOf(last) && start < last.until) return Promise.resolve(last.listing)
      // Whoever asks meanwhile gets the same: sixteen clients would else make sixteen lists of 10,000 files at once.
      if (running && isOf(running) && start < running.at + LIST_MAX_AGE) return running.listing
      const own = { listing: make(), revision, at: start }
      running = own
      const done = () => {
        if (running === own) running = undefined
      }
      own.listing.then((listing) => {
        const until = start + Math.min(LIST_MAX_AGE, (now() - start) * LIST_AGE_PER_COST)
        if (!last || last.at <= start) last = { listing, revision, at: start, until }
        done()
      }, done)
      return own.listing
    },
    startingWith: async (prefix, signal) => collect(store.list(prefix, { signal, shallow: true })),
    async stat(name, signal) {
      const entry = isListed(name) ? await store.stat(name, { signal }) : null
      return entry ?? unknownFile()
    },
    async read(name, range, options) {
      const result = isListed(name) ? await store.read(name, range, options) : null
      return result ?? unknownFile()
    },
    unchanged: (name, etag) => isListed(name) && store.unchanged?.(name, etag) === true,
    watch: (name, changed) => store.watch?.(name, changed) ?? null,
  }
}

/** A file directly in the log directory: nothing below it, nothing above it. */
function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

function unknownFile(): never {
  throw new LogError('unknown-file', 'There is no log file of this name; take a name from the list of logs.')
}
