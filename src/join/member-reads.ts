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
 * room. Where requests may share work, those that wait for the same object share its fetch; at the edge, a fetch never
 * settles if the request that started it ends.
 */
export class MemberReads {
  readonly #store: Store
  readonly #kept = new Map<string, StoreRead>()
  /** Fetches that others may wait for; null where they may not. */
  readonly #running: Map<string, Promise<StoreRead | null>> | null
  #bytes = 0

  constructor(store: Store, shared: boolean) {
    this.#store = store
    this.#running = shared ? new Map() : null
  }

  /** Bytes of an object as it was listed. */
  async read(entry: Entry, range: ByteRange | undefined, options: ReadOptions = {}) {
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
    // Its client may have disconnected and aborted it.
    const others = await this.#running?.get(id)?.catch(() => undefined)
    if (others !== undefined) return others
    const fetching = this.#fetch(entry, signal)
    this.#running?.set(id, fetching)
    const read = await fetching.finally(() => this.#running?.delete(id))
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
