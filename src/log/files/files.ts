import { fastReads } from '../../store/fast.ts'
import {
  type ByteRange,
  byCodePoint,
  type Entry,
  type ReadOptions,
  type Store,
  type StoreRead,
} from '../../store/store.ts'
import { LogError } from '../error.ts'
import { includeFilter } from './include.ts'
import { Listings } from './listings.ts'

/** The log files of a node as they were listed. */
export interface Listing {
  entries: Entry[]
}

/** How bytes of a log file are read. */
export interface FileReadOptions extends ReadOptions {
  /**
   * Memory for the bytes. A store that can reads into it, and then `body` lies in it. Nobody else may touch it until
   * the read settles.
   */
  buffer?: Uint8Array<ArrayBuffer> | undefined
}

/** The log files of a node. One filter decides what is listed and what can be read: they cannot differ. */
export interface LogFiles {
  /** Whether reads take microseconds, as on a disk, so that several at once gain nothing. @default false */
  readonly isNear?: boolean
  /** All log files. Concurrent callers share one listing, which ends early when all of them have left. */
  list(signal?: AbortSignal): Promise<Listing>
  /** The listed names that begin with `prefix`, as they are now: the members of a family. */
  startingWith(prefix: string, signal?: AbortSignal): Promise<Entry[]>
  /** The entry of a listed name; anything else is a LogError `unknown-file`. */
  stat(name: string, signal?: AbortSignal, maxAge?: number): Promise<Entry>
  /** Bytes of a listed name; anything else is a LogError `unknown-file`. */
  read(name: string, range: ByteRange | undefined, options?: FileReadOptions): Promise<StoreRead>
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
  // An older life of a shipped log is included when its log is.
  const isListed = (name: string) =>
    isFileName(name) && (included(name) || included(name.replace(/@\d{6,8}$/, '')))
  const fast = fastReads(store)
  const collect = async (prefix: string, signal?: AbortSignal): Promise<Entry[]> => {
    if (fast) return (await fast.listAll(prefix)).filter((entry) => isListed(entry.key))
    const entries: Entry[] = []
    for await (const entry of store.list(prefix, { signal, shallow: true }))
      if (isListed(entry.key)) entries.push(entry)
    return sorted(entries)
  }
  const listings = new Listings(
    (signal) => collect('', signal),
    () => fast?.revision() ?? null,
    now,
  )

  return {
    isNear: fast !== undefined,
    list: (signal) => listings.get(signal),
    startingWith: collect,
    async stat(name, signal, maxAge) {
      const entry = isListed(name) ? await store.stat(name, { signal, maxAge }) : null
      return entry ?? unknownFile()
    },
    async read(name, range, options = {}) {
      if (!isListed(name)) return unknownFile()
      if (fast && options.buffer && range) {
        const read = await fast.readInto(name, range, options.buffer, options)
        if (read !== undefined) return read ?? unknownFile()
      }
      return (await store.read(name, range, options)) ?? unknownFile()
    },
    watch: (name, changed) => store.watch?.(name, changed) ?? null,
  }
}

/** The same files for readers that accept a size of up to `maxAge` milliseconds ago, as followers do. */
export function relaxedFiles(files: LogFiles, maxAge: number): LogFiles {
  return {
    ...files,
    stat: (name, signal) => files.stat(name, signal, maxAge),
    read: (name, range, options) => files.read(name, range, { ...options, maxAge }),
  }
}

/** A file directly in the log directory: nothing below it, nothing above it. */
function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

/** Refuses a name that is not listed. */
export function unknownFile(): never {
  throw new LogError('unknown-file', 'There is no log file of this name; take a name from the list of logs.')
}

/** Most stores list in order; what is unsorted, as some buckets are, is sorted here. */
function sorted(entries: Entry[]): Entry[] {
  const isSorted = entries.every((entry, i) => i === 0 || byCodePoint(entries[i - 1]!.key, entry.key) < 0)
  return isSorted ? entries : entries.sort((a, b) => byCodePoint(a.key, b.key))
}
