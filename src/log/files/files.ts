import { type Clock, systemClock } from '../../kit/limits/clock.ts'
import { once, perOwner } from '../../kit/limits/once.ts'
import { fastReads } from '../../store/fast.ts'
import {
  type ByteRange,
  byCodePoint,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Span,
  type Store,
  type StoreRead,
} from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { JoinedLog, JoinedLogs } from '../joined/log.ts'
import { includeFilter } from './include.ts'
import { type Listing, sharedListing } from './listings.ts'
import { refuseHomes } from './misplaced.ts'

export type { Listing } from './listings.ts'

export interface FilesOptions {
  /** Whether folders of dated objects are logs; a text is the name of the log if the store itself is one. @default false */
  join?: boolean | string | undefined
  /** Loads what reads those logs, without which there are none. */
  joined?: LoadJoined | undefined
  /** With `shared: false`, no request waits for what another does: where that one ends, its work ends, too. */
  follow?: false | { shared?: boolean | undefined } | undefined
  /** How many files are held in memory, at about 400 bytes each. @default 100,000 */
  mostListed?: number | undefined
  /** @default the system's */
  clock?: Clock | undefined
}

/** Loads `log/joined/log.ts`, which few apps need. */
export type LoadJoined = () => Promise<{ JoinedLogs: typeof JoinedLogs }>

export interface FileReadOptions extends ReadOptions {
  /** Memory that a store may read into, where `body` then points. Nothing may touch it until the read settles. */
  buffer?: Uint8Array<ArrayBuffer> | undefined
}

/** The log files of a node. One filter decides what is listed and what can be read: they cannot differ. */
export interface LogFiles {
  /** Whether reads take microseconds, as on a disk, so that parallel reads gain nothing. @default false */
  readonly isNear?: boolean | undefined
  /** The log files, at most `mostListed`. Callers share one listing, which ends early when all of them have left. */
  list(signal?: AbortSignal): Promise<Listing>
  /** The first log files whose names come after `after`, in order: at most `most`, as far as they are listed in time. */
  part(after: string, most: number, signal?: AbortSignal): Promise<Part>
  /** All log files whose names come after `after`, in order: however many there are, they take little memory. */
  each(after: string, signal?: AbortSignal): AsyncIterable<Entry>
  /** The listed names that begin with `prefix`, as they are now: the members of a family. */
  startingWith(prefix: string, signal?: AbortSignal): Promise<Entry[]>
  /** The entry of a listed name; anything else is a LogError `unknown-file`. */
  stat(name: string, signal?: AbortSignal, maxAge?: number): Promise<Entry>
  /** Bytes of a listed name; anything else is a LogError `unknown-file`. */
  read(name: string, range: ByteRange | undefined, options?: FileReadOptions): Promise<StoreRead>
  /** When the records of a listed name were written, as far as the store knows: see `Store`. Absent where it never does. */
  spans?:
    | ((entry: Pick<Entry, 'key' | 'etag'>, signal?: AbortSignal) => Promise<readonly Span[] | null>)
    | undefined
  /** The joined log of a name, which may be empty; null if the name cannot be one. Absent where nothing is joined. */
  joined?: ((name: string) => Promise<JoinedLog | null>) | undefined
  /** A mark that changes when a file appears or disappears. Absent or null if the store has none. */
  revision?: (() => string | null) | undefined
  /** Reports changes, if the store can; null if followers must poll. */
  watch(name: string, changed: () => void): (() => void) | null
}

/** A part of a list. */
export interface Part extends Pick<Listing, 'entries' | 'note'> {
  /** After which name the next part begins; null if this is the last. */
  next: string | null
}

const MOST_LISTED = 100_000
/** How many folders are remembered, to tell a home from a log directory. */
const MOST_FOLDERS = 20
/** How long a store is listed for one answer: a distant one may take minutes for all of its keys. */
const LIST_MILLIS = 3000

/** The log files that a store holds, narrowed by include patterns. */
export function logFiles(
  store: Store,
  include: readonly string[] = [],
  { join = false, joined, follow = {}, mostListed = MOST_LISTED, clock = systemClock }: FilesOptions = {},
): LogFiles {
  const shared = follow && follow.shared !== false
  const { nested = false } = store
  const included = includeFilter(include)
  const isName = nested || join !== false ? isPath : isFileName
  // An older life of a shipped log is included when its log is.
  const isListed = (name: string) =>
    isName(name) && (included(name) || included(name.replace(/@(older-)?\d{6,8}$/, '')))
  const joins =
    join === false || !joined
      ? null
      : once(
          async () => new (await joined()).JoinedLogs(store, join === true ? 'log' : join, { shared, clock }),
        )
  const fast = fastReads(store)
  /** The first files of a list, and where it was cut. */
  const firstOf = async (most: number, options: ListOptions, folders: string[] = []): Promise<Listing> => {
    const until = clock.elapsed() + LIST_MILLIS
    const entries: Entry[] = []
    let last: string | null = null
    // Folders are no files, but a list that sees only folders takes time, too.
    for await (const entry of store.list('', { ...options, shallow: !nested, folders: !nested })) {
      const isLate = last !== null && clock.elapsed() >= until
      if (isLate || entries.length >= most)
        return { entries: sorted(entries), isCut: true, last: last!, ...(isLate && { isLate }) }
      last = entry.key
      if (entry.folder) folders.length < MOST_FOLDERS && folders.push(entry.key)
      else if (isListed(entry.key)) entries.push(entry)
    }
    return { entries: sorted(entries) }
  }
  const collect = async (signal: AbortSignal): Promise<Listing> => {
    const folders: string[] = []
    const listing = await listed(signal, folders)
    if (!nested && !listing.isCut) await refuseHomes(store, listing.entries, folders, signal)
    return listing
  }
  const listed = async (signal: AbortSignal, folders: string[]): Promise<Listing> => {
    if (!fast) return firstOf(mostListed, { signal }, folders)
    const listed = await fast.listAll('', mostListed + 1)
    const entries = listed.slice(0, mostListed).filter((entry) => isListed(entry.key))
    return listed.length > mostListed
      ? { entries, isCut: true, last: listed[mostListed - 1]!.key }
      : { entries }
  }
  const revision = () => fast?.revision() ?? null
  const listing = sharedListing(
    async (signal) => {
      if (!joins) return collect(signal)
      const { entries, partial } = await (await joins()).list(signal)
      const notes = partial ? { note: 'size-partial' as const } : {}
      return { entries: entries.filter((entry) => isListed(entry.key)), ...notes }
    },
    revision,
    clock,
    shared,
  )

  /** Objects of a joined log are not listed, so they cannot be read by their names. */
  const isFile = async (name: string) => isListed(name) && !(joins && (await joins()).isMember(name))
  /** The entry of a joined log, which is listed but has no file to read. */
  const joinedEntry = async (name: string, signal: AbortSignal | undefined): Promise<Entry> => {
    if (!joins || !isListed(name)) return unknownFile()
    const { members } = await (await joins()).get(name).find({ bytes: 1 }, signal)
    const newest = members.at(-1)?.entry
    return newest ? { ...newest, key: name, size: 0, joined: true } : unknownFile()
  }
  const absent = async (name: string, signal: AbortSignal | undefined): Promise<never> => {
    await joinedEntry(name, signal)
    throw new LogError('unsupported', 'This log is made of many objects and has no file; view it instead.')
  }

  const isAfter =
    (after: string) =>
    ({ key }: Entry) =>
      after === '' || byCodePoint(key, after) > 0

  return {
    isNear: fast !== undefined,
    list: listing,
    async part(after, most, signal) {
      // A distant store lists from a name on in less time than all of its names.
      const known = after === '' || fast || joins ? await listing(signal) : null
      const rest = known?.entries.filter(isAfter(after)) ?? []
      const { isCut, last = null, note } = known ?? { isCut: true }
      if (!isCut || rest.length > 0 || after === '') {
        const entries = rest.slice(0, most)
        const next = rest.length > most ? entries.at(-1)!.key : last
        return { entries, next, ...(note && { note }) }
      }
      const found = await firstOf(most, { signal, ...(after && { after }) })
      return { entries: found.entries.filter(isAfter(after)), next: found.last ?? null }
    },
    async *each(after, signal) {
      const { entries, isCut } = await listing(signal)
      if (!isCut) return yield* entries.filter(isAfter(after))
      // The store may ignore `after`, and `after` need not be a key.
      for await (const entry of store.list('', { signal, shallow: !nested, ...(after && { after }) }))
        if (isAfter(after)(entry) && isListed(entry.key)) yield entry
    },
    async startingWith(prefix, signal) {
      const entries = fast ? await fast.listAll(prefix, MOST_LISTED) : []
      // Never cut by time: a member that is missing would be a wrong answer.
      if (!fast)
        for await (const entry of store.list(prefix, { signal, shallow: true, limit: MOST_LISTED }))
          entries.push(entry)
      return sorted(entries.filter(({ key }) => isListed(key)))
    },
    ...(joins && { joined: async (name) => (isListed(name) ? (await joins()).get(name) : null) }),
    async stat(name, signal, maxAge) {
      const entry = (await isFile(name)) ? await store.stat(name, { signal, maxAge }) : null
      return entry ?? joinedEntry(name, signal)
    },
    async read(name, range, options = {}) {
      if (!isListed(name) || (joins && !(await isFile(name)))) return unknownFile()
      if (fast && options.buffer && range) {
        const read = await fast.readInto(name, range, options.buffer, options)
        if (read !== undefined) return read ?? unknownFile()
      }
      return (await store.read(name, range, options)) ?? absent(name, options.signal)
    },
    ...(store.spans && {
      spans: async (entry, signal) => (!joins && isListed(entry.key) ? store.spans!(entry, signal) : null),
    }),
    revision,
    // A joined log grows by new objects, which no store reports.
    watch: (name, changed) => (joins ? null : (store.watch?.(name, changed) ?? null)),
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

/** One value for each set of log files, made when it is first needed. */
export function perFiles<T>(make: (files: LogFiles) => T): (files: LogFiles) => T {
  return perOwner(make)
}

/** A file directly in the log directory: nothing below it, nothing above it. */
function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

/** A file in a folder below: no empty segment and no `..`. */
function isPath(name: string): boolean {
  return name.split('/').every(isFileName)
}

export function unknownFile(): never {
  throw new LogError(
    'unknown-file',
    'There is no log file with this name; take a name from the list of logs.',
  )
}

/** Most stores list in order; what is unsorted, as some buckets are, is sorted here. */
function sorted(entries: Entry[]): Entry[] {
  const isSorted = entries.every((entry, i) => i === 0 || byCodePoint(entries[i - 1]!.key, entry.key) < 0)
  return isSorted ? entries : entries.sort((a, b) => byCodePoint(a.key, b.key))
}
