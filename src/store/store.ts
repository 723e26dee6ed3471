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
  /** What stays the same when the file is renamed (an inode), where the store has such a thing. */
  id?: string
  /**
   * The `Content-Encoding` that an object was stored with, where the answer tells, as `gzip`. A hint: the bytes are
   * always those that are stored, still encoded, and their first ones decide.
   */
  encoding?: string
  /** Set for the folders of a shallow list, which have no bytes. */
  folder?: true
  /** Set where bytes below the size never change: a read with `ifMatch` then asks nobody, and still serves an older size. */
  appendOnly?: true
  /** Set where bytes were lost between the end of this file and the next one of its log. */
  gap?: true
}

/**
 * Which bytes to read, clamped as `slice()` would: `offset` past the end is an empty range,
 * `suffix` beyond the size is the whole file, `suffix: 0` is empty.
 */
export type ByteRange = { offset: number; length?: number } | { suffix: number }

/**
 * The bytes of a read: in memory where they are few, else a stream. A stream that cannot deliver `length` right bytes
 * errors; it never just ends.
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
  /** The storage's clock when it answered, in milliseconds since the Unix epoch, where it tells. */
  date?: number
  /** Why a suffix is shorter than asked for: these bytes before it are missing. */
  missing?: Missing
}

/** Bytes of a file that should be there and are not: from `from` up to `to`. */
export interface Missing {
  from: number
  to: number
  /** Nothing before `to` is there: the file begins late. Otherwise it is a hole between bytes that are. */
  head: boolean
}

export interface ReadOptions {
  /** Ends the read, and the request behind it, when the client has left. */
  signal?: AbortSignal | undefined
  /** Read only while the etag is still this one, else a StoreError `changed`. */
  ifMatch?: string | undefined
  /** Read only when the etag is another one, else a StoreError `unchanged`. */
  ifNoneMatch?: string | undefined
  /** How many milliseconds old the size may be. @default 0: it is the present one */
  maxAge?: number | undefined
}

/** Which part of a store to list. Options combine; keys are compared by their UTF-8 bytes. */
export interface ListOptions {
  /** Ends the listing, and the request behind it, when the client has left. */
  signal?: AbortSignal | undefined
  /** Leave out keys with a slash after the prefix. A bucket then skips what lies deeper without listing it. */
  shallow?: boolean | undefined
  /**
   * With `shallow`, also list the folders, each once and in its place: an entry with `folder: true` whose key ends in
   * a slash, the common prefix of what lies in it.
   */
  folders?: boolean | undefined
  /** Only keys that come after this one, which need not exist. A folder comes where its key with the slash does. */
  after?: string | undefined
  /** At most this many entries, folders included. */
  limit?: number | undefined
}

/**
 * Where a node's bytes lie. Everything else stands on these calls. What a store can do faster than this is the one
 * optional capability in `fast.ts`.
 */
export interface Store {
  /** Entries in key order (by UTF-8 bytes); pages are fetched as they are consumed. */
  list(prefix?: string, options?: ListOptions): AsyncIterable<Entry>
  /** The entry, or null when there is no such file. */
  stat(key: string, options?: Pick<ReadOptions, 'signal' | 'maxAge'>): Promise<Entry | null>
  /** The bytes with the entry they came from, in one round trip; null when there is no such file. */
  read(key: string, range?: ByteRange, options?: ReadOptions): Promise<StoreRead | null>
  /**
   * Calls `changed` soon after the file behind `key` may have changed, appeared or gone; returns how to stop.
   * Only where the system gives notice; without it, followers poll.
   */
  watch?(key: string, changed: () => void): () => void
}

/**
 * Why a store could not answer: `unavailable` (missing directory or bucket, failing service, broken answer),
 * `denied`, `throttled`, `timeout`, the two conditions of a read, `changed` and `unchanged`, and for shipped logs
 * `bad-segment` (its bytes are not what its name says) and `missing-segment`.
 */
export type StoreErrorCode =
  | 'unavailable'
  | 'denied'
  | 'throttled'
  | 'timeout'
  | 'changed'
  | 'unchanged'
  | 'bad-segment'
  | 'missing-segment'

/** Everything a store cannot do. The message may name paths and hosts: it is for the log, never for a client. */
export class StoreError extends Error {
  readonly code: StoreErrorCode
  /** Seconds after which it is known to pass. */
  readonly retryAfter: number | undefined

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown; retryAfter?: number }) {
    super(message, { cause: options?.cause })
    this.name = 'StoreError'
    this.code = code
    this.retryAfter = options?.retryAfter
  }
}

/** A read that needs bytes which the store should hold and does not. */
export class MissingBytes extends StoreError {
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

/** A range against a size, clamped: every store and every reader agrees on the ends through this one function. */
export function clampRange(range: ByteRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size }
  if ('suffix' in range) {
    const length = Math.min(range.suffix, size)
    return { offset: size - length, length }
  }
  const offset = Math.min(range.offset, size)
  return { offset, length: Math.min(range.length ?? size, size - offset) }
}

/** The order of UTF-8 bytes, which object stores list in; JavaScript's own order differs beyond U+FFFF. */
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
