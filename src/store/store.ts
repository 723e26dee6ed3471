/** One stored file, as it was when the store answered. */
export interface Entry {
  /** The file's name below the store's root. Never empty, never with a leading slash. */
  key: string
  /** Bytes. */
  size: number
  /** Milliseconds since the Unix epoch. */
  modified: number
  /** Opaque and quoted; changes whenever the bytes do. */
  etag: string
  /** An identity that survives renaming (an inode), if the store has one. */
  id?: string
  /**
   * The `Content-Encoding` that an object was stored with, such as `gzip`, if the response says. It is only a hint: the
   * bytes are always returned as stored, still encoded, and their signature decides.
   */
  encoding?: string
  /** Set for a log that is made of many objects and has no bytes itself. */
  joined?: true
  /** Set for the folders of a shallow list, which have no bytes. */
  folder?: true
  /** Set if bytes below the size never change: a read with `ifMatch` then needs no check and can serve an older size. */
  appendOnly?: true
  /** Set if bytes were lost between the end of this file and the next one of its log. */
  gap?: true
}

/**
 * Which bytes to read, clamped as `slice()` would: `offset` past the end is an empty range,
 * `suffix` beyond the size is the whole file, `suffix: 0` is empty.
 */
export type ByteRange = { offset: number; length?: number } | { suffix: number }

/**
 * The bytes of a read: in memory if they are few, otherwise a stream. A stream that cannot deliver `length` correct
 * bytes errors; it never ends early.
 */
export type Bytes = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** Bytes, with the entry they came from. */
export interface StoreRead {
  /** The whole file's entry, from the same answer as the bytes. */
  entry: Entry
  /** Where the range starts after clamping. */
  offset: number
  /** How many bytes `body` holds. */
  length: number
  body: Bytes
  /** The storage's clock when it answered, in milliseconds since the Unix epoch, if known. */
  date?: number
  /** Why a suffix is shorter than requested: these bytes before it are missing. */
  missing?: Missing
}

/** Bytes of a file that should exist but do not: from `from` up to `to`. */
export interface Missing {
  from: number
  to: number
  /** True if nothing before `to` exists: the file begins late. Otherwise it is a hole between existing bytes. */
  head: boolean
}

export interface ReadOptions {
  /** Aborts the read, and its request, when the client disconnects. */
  signal?: AbortSignal | undefined
  /** Read only if the etag is still this one; otherwise a StoreError `changed`. */
  ifMatch?: string | undefined
  /** Read only if the etag differs from this one; otherwise a StoreError `unchanged`. */
  ifNoneMatch?: string | undefined
  /** How many milliseconds old the size may be. @default 0: the current size */
  maxAge?: number | undefined
}

/** Which part of a store to list. Options combine; keys are compared by their UTF-8 bytes. */
export interface ListOptions {
  /** Aborts the listing, and its request, when the client disconnects. */
  signal?: AbortSignal | undefined
  /** Leave out keys with a slash after the prefix. A bucket then skips deeper keys without listing them. */
  shallow?: boolean | undefined
  /**
   * With `shallow`, also list the folders, each once and in its place: an entry with `folder: true` whose key ends in
   * a slash, the common prefix of the keys in it.
   */
  folders?: boolean | undefined
  /** Only keys that come after this one, which need not exist. Folders sort by their key, trailing slash included. */
  after?: string | undefined
  /** At most this many entries, folders included. */
  limit?: number | undefined
}

/**
 * Where a node's bytes are stored. Everything else is built on these calls. Faster versions of them are the one optional
 * capability in `fast.ts`.
 */
export interface Store {
  /** Whether files in folders are shown, with slashes in their names; false where it has none to show. @default they are not */
  readonly nested?: boolean | undefined
  /** Entries in key order (by UTF-8 bytes); pages are fetched as they are consumed. */
  list(prefix?: string, options?: ListOptions): AsyncIterable<Entry>
  /** The entry, or null when there is no such file. */
  stat(key: string, options?: Pick<ReadOptions, 'signal' | 'maxAge'>): Promise<Entry | null>
  /** The bytes with the entry they came from, in one round trip; null when there is no such file. */
  read(key: string, range?: ByteRange, options?: ReadOptions): Promise<StoreRead | null>
  /**
   * When the records of this version of a file were written, stretch by stretch and without a hole from its first byte on, where the store
   * knows that without reading them; null where it does not. Only of files whose bytes never change.
   */
  spans?:
    | ((entry: Pick<Entry, 'key' | 'etag'>, signal?: AbortSignal) => Promise<readonly Span[] | null>)
    | undefined
  /**
   * Calls `changed` soon after the file at `key` may have changed, appeared or disappeared; returns a function that
   * stops it. Only where the system sends notifications; without it, followers poll.
   */
  watch?: ((key: string, changed: () => void) => () => void) | undefined
}

/** A stretch of a file in whole lines, and the times of the records that start in it. */
export interface Span {
  offset: number
  /** One past its last byte. */
  end: number
  /** Whose times they are: the name of a log format. */
  format: string
  /** Whether the lines name their zone; otherwise the times are UTC. */
  isZoned: boolean
  /** Where its first record with a time starts, from `offset` on. */
  first: number
  earliest: number
  latest: number
}

/** What wraps a T and must name every member of it, also the optional ones, so that none is forgotten. */
export type EveryMember<T> = { [K in keyof Required<T>]: T[K] }

const CODES = [
  'unavailable',
  'denied',
  'throttled',
  'timeout',
  'changed',
  'unchanged',
  'bad-segment',
  'missing-segment',
] as const

/**
 * Why a store could not answer: `unavailable` (missing directory or bucket, failing service, broken answer),
 * `denied`, `throttled`, `timeout`, the two conditions of a read, `changed` and `unchanged`, and for shipped logs
 * `bad-segment` (its bytes are not what its name says) and `missing-segment`.
 */
export type StoreErrorCode = (typeof CODES)[number]

/**
 * A failed store call. The message may name paths and hosts: it is for the log, never for a client. An error of another
 * copy of this package, or one with the same name and a code, is an instance, too.
 */
export class StoreError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false
    const { name, code } = value as Partial<StoreError>
    return (name === 'StoreError' || name === 'MissingBytes') && CODES.includes(code!)
  }

  readonly code: StoreErrorCode
  /** Seconds after which a retry should succeed. */
  readonly retryAfter: number | undefined
  /** Who failed, if it is not the storage: `The node db-1 at http://db-1:9000`. */
  who: string | undefined

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown; retryAfter?: number }) {
    super(message, { cause: options?.cause })
    this.name = 'StoreError'
    this.code = code
    this.retryAfter = options?.retryAfter
  }
}

/** The error for a file that is no longer the one that was asked for. */
export function replaced(key: string): StoreError {
  return new StoreError('changed', `Cannot read "${key}": it was replaced`)
}

/** A single instance: it is not a failure, and a stack for each would cost a third of the response (row `unchanged`). */
const UNCHANGED = new StoreError('unchanged', 'Did not read the file: it is unchanged')

/** Throws when the conditions of a read do not hold for an entry. */
export function checkConditions({ key, etag }: Entry, { ifMatch, ifNoneMatch }: ReadOptions): void {
  if (ifMatch !== undefined && ifMatch !== etag) throw replaced(key)
  if (ifNoneMatch === etag) throw UNCHANGED
}

/** A read of bytes that the store should have but does not. */
export class MissingBytes extends StoreError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof StoreError && value.name === 'MissingBytes'
  }

  readonly key: string
  readonly missing: Missing

  constructor(key: string, missing: Missing) {
    super(
      'missing-segment',
      `Cannot read "${key}": the bytes ${missing.from} to ${missing.to - 1} are missing`,
    )
    this.name = 'MissingBytes'
    this.key = key
    this.missing = missing
  }
}

/** A small object that others wrote. */
export interface StoredText {
  entry: Entry
  /** Null if it is larger than allowed. */
  text: string | null
  date?: number
}

/** Reads an object as text, if it has at most `largest` bytes; null when there is no such object. */
export async function readText(
  store: Store,
  key: string,
  largest: number,
  options?: ReadOptions,
): Promise<StoredText | null> {
  const read = await store.read(key, { offset: 0, length: largest }, options)
  if (read === null) return null
  const { entry, body, date } = read
  const isWhole = entry.size <= largest
  if (!isWhole && body instanceof ReadableStream) await body.cancel().catch(() => {})
  const text = isWhole ? await new Response(body).text() : null
  return { entry, text, ...(date !== undefined && { date }) }
}

/** Clamps a range to a size. Every store and reader uses this function, so that they agree on the ends. */
export function clampRange(range: ByteRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size }
  if ('suffix' in range) {
    const length = Math.min(range.suffix, size)
    return { offset: size - length, length }
  }
  const offset = Math.min(range.offset, size)
  return { offset, length: Math.min(range.length ?? size, size - offset) }
}

/** UTF-8 byte order, in which object stores list; JavaScript's string order differs beyond U+FFFF. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) {
      const xs = x >= 0xd800 && x <= 0xdfff
      const ys = y >= 0xd800 && y <= 0xdfff
      return xs === ys ? x - y : xs ? (y >= 0xe000 ? 1 : x - y) : x >= 0xe000 ? -1 : x - y
    }
  }
  return a.length - b.length
}
