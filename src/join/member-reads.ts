import {
  type ByteRange,
  clampRange,
  type Entry,
  type ReadOptions,
  type Store,
  type StoreRead,
} from '../store/store.ts'

/** Objects up to this size are fetched whole: one request instead of several, and none the next time. */
const WHOLE = 1024 * 1024
/** Bytes of objects to keep in memory. */
const KEPT = 16 * 1024 * 1024

/**
 * Reads the objects of joined logs. Most are small and never change, so they are fetched whole and kept while there is
 * room. A read that still runs is not shared: at the edge it never ends if its request was over first.
 */
export class MemberReads {
  readonly #store: Store
  readonly #kept = new Map<string, StoreRead>()
  #bytes = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** Bytes of an object as it was listed. */
  async read(
    entry: Entry,
    range: ByteRange | undefined,
    options: ReadOptions = {},
  ): Promise<StoreRead | null> {
    if (entry.size > WHOLE) return this.#store.read(entry.key, range, { ...options, ifMatch: entry.etag })
    options.signal?.throwIfAborted()
    const whole = await this.#whole(entry, options.signal)
    if (!whole) return null
    const { offset, length } = clampRange(range, whole.length)
    const body = (whole.body as Uint8Array<ArrayBuffer>).subarray(offset, offset + length)
    return { entry: whole.entry, offset, length, body }
  }

  async #whole(entry: Entry, signal: AbortSignal | undefined): Promise<StoreRead | null> {
    const id = `${entry.etag} ${entry.key}`
    const known = this.#kept.get(id)
    if (known) {
      this.#kept.delete(id)
      this.#kept.set(id, known)
      return known
    }
    const read = await this.#fetch(entry, signal)
    if (!read || this.#kept.has(id)) return read
    this.#kept.set(id, read)
    this.#bytes += read.length
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= KEPT || oldest === id) break
      this.#forget(oldest)
    }
    return read
  }

  async #fetch(entry: Entry, signal: AbortSignal | undefined): Promise<StoreRead | null> {
    const read = await this.#store.read(entry.key, undefined, { signal, ifMatch: entry.etag })
    if (!read || read.body instanceof Uint8Array) return read
    return { ...read, body: new Uint8Array(await new Response(read.body).arrayBuffer()) }
  }

  #forget(id: string): void {
    const kept = this.#kept.get(id)
    if (!kept) return
    this.#kept.delete(id)
    this.#bytes -= kept.length
  }
}
