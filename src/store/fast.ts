import type { ByteRange, Entry, ReadOptions, Store, StoreRead } from './store.ts'

/**
 * Faster versions of a store's calls. They are optional: the results are the same with or without them.
 * `logFiles` is the only caller. Each call names the row of `bench/` that it speeds up by a fifth or more.
 */
export interface FastReads {
  /** The first entries of a shallow list: awaiting 10,000 one by one takes 8 of 24 ms (row `list-10k-new`). */
  listAll(prefix: string, most: number): Promise<Entry[]>
  /**
   * A cheap mark that changes when a file appears or disappears. A cached list is valid while the mark is unchanged, so
   * caching never hides a new file (row `list-10k`).
   */
  revision(): string | null
  /**
   * Reads a range into the caller's memory, where `body` points; null when there is no such file, undefined when the
   * range does not fit. The store does not touch the buffer after the read settles. Fresh memory costs a search more
   * than the reads themselves (rows `search-rare`, `search-common`).
   */
  readInto(
    key: string,
    range: ByteRange,
    buffer: Uint8Array<ArrayBuffer>,
    options: ReadOptions,
  ): Promise<StoreRead | null | undefined>
}

/** Kept beside the store, not in it: a copy of a store that overrides a call must not be bypassed. */
const capabilities = new WeakMap<Store, FastReads>()

export function withFastReads<S extends Store>(store: S, fast: FastReads): S {
  capabilities.set(store, fast)
  return store
}

/** The fast calls of a store, or undefined if it has none. */
export function fastReads(store: Store): FastReads | undefined {
  return capabilities.get(store)
}

/** Bytes in slices, for a single consumer. */
export interface Slices {
  /** The next bytes, synchronously where memory has them; null at the end. It throws rather than end early. */
  next(): Uint8Array | null | Promise<Uint8Array | null>
  /**
   * Hands over each of the remaining slices the moment it arrives. `take` may throw only a StoreError, which stops the
   * read. Absent where there is nothing to gain (`npm run bench:bucket`, row `q`).
   */
  each?: ((take: (slice: Uint8Array) => void) => Promise<void>) | undefined
  /** Releases a slice, so that its memory can be reused. */
  release(slice: Uint8Array): void
  /** Stops early, or cleans up after the end. */
  cancel(): void
}

/**
 * A stream that a server may read slice by slice instead, which avoids the overhead of web streams: Node sends 1 MiB
 * twice as fast (rows `view-1m`, `view-5m`). A consumer takes either the slices or the stream, never both.
 */
export class SlicedStream extends ReadableStream<Uint8Array> implements Slices {
  readonly each: Slices['each']
  readonly slices: Slices

  constructor(slices: Slices) {
    super(sourceOf(slices), { highWaterMark: 0 })
    this.slices = slices
    this.each = slices.each?.bind(slices)
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    return this.slices.next()
  }

  release(slice: Uint8Array): void {
    this.slices.release(slice)
  }

  override async cancel(reason?: unknown): Promise<void> {
    this.slices.cancel()
    if (!this.locked) await super.cancel(reason)
  }
}

function sourceOf(slices: Slices): UnderlyingDefaultSource<Uint8Array> {
  return {
    async pull(controller) {
      const slice = await slices.next()
      if (slice === null) controller.close()
      else controller.enqueue(slice)
    },
    cancel: () => slices.cancel(),
  }
}

/** Slices made from those of a stream, as a stream that a server sends like that one. */
export function streamLike(stream: ReadableStream<Uint8Array>, slices: Slices): ReadableStream<Uint8Array> {
  if (stream instanceof SlicedStream) return new SlicedStream(slices)
  return new ReadableStream(sourceOf(slices), { highWaterMark: 0 })
}

/** The same slices. Each passes through `take`, which gets null at the end, and each failure through `fail`. */
export function tapped(
  slices: Slices,
  take: (slice: Uint8Array | null) => Uint8Array | null,
  fail: (error: unknown) => never,
): Slices {
  return {
    next() {
      try {
        const slice = slices.next()
        return slice instanceof Promise ? slice.then(take, fail) : take(slice)
      } catch (error) {
        return fail(error)
      }
    },
    release: (slice) => slices.release(slice),
    cancel: () => slices.cancel(),
  }
}

/** How much one read of a stream may bring. workerd gives 4 KiB at a time unless it is asked for more. */
const READ = 256 * 1024

/**
 * Any stream as slices. Whoever wraps or sends them holds no stream: it takes 5 KB on Node, and an answer has passed
 * through four.
 */
export function slicesOf(stream: ReadableStream<Uint8Array>): Slices {
  if (stream instanceof SlicedStream) return stream.slices
  const { reader, read } = readerOf(stream)
  return {
    async next() {
      for (;;) {
        const { done, value } = await read()
        if (done) return null
        if (value.length > 0) return value
      }
    },
    release() {},
    cancel: () => void reader.cancel().catch(() => {}),
  }
}

/** A stream of bytes is read in large slices, any other as it comes. */
function readerOf(stream: ReadableStream<Uint8Array>) {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    return { reader, read: () => reader.read(new Uint8Array(READ)) }
  } catch {
    const reader = stream.getReader()
    return { reader, read: () => reader.read() }
  }
}
