import { KeptBytes } from '../../store/kept-bytes.ts'
import {
  type ByteRange,
  clampRange,
  type Entry,
  type ReadOptions,
  type Store,
  type StoreRead,
} from '../../store/store.ts'

/** Objects up to this size are fetched whole: one request instead of several, and none the next time. */
const WHOLE = 1024 * 1024
const KEPT = 16 * 1024 * 1024

/**
 * Reads the objects of joined logs. Most are small and never change, so they are fetched whole and kept while there is
 * room. Where requests may share work, those that wait for the same object share its fetch; at the edge, a fetch never
 * settles if the request that started it ends.
 */
export function memberReads(store: Store, shared: boolean) {
  const kept = new KeptBytes<StoreRead>(KEPT)
  /** Fetches that others may wait for; null where they may not. */
  const running = shared ? new Map<string, Promise<StoreRead | null>>() : null

  async function fetch({ key, etag }: Entry, signal: AbortSignal | undefined): Promise<StoreRead | null> {
    const read = await store.read(key, undefined, { signal, ifMatch: etag })
    if (!read || read.body instanceof Uint8Array) return read
    return { ...read, body: new Uint8Array(await new Response(read.body).arrayBuffer()) }
  }
  async function whole(entry: Entry, signal: AbortSignal | undefined): Promise<StoreRead | null> {
    const id = `${entry.etag} ${entry.key}`
    const known = kept.get(id)
    if (known) return known
    // Its client may have disconnected and aborted it.
    const others = await running?.get(id)?.catch(() => undefined)
    if (others !== undefined) return others
    const fetching = fetch(entry, signal)
    running?.set(id, fetching)
    const read = await fetching.finally(() => running?.delete(id))
    if (read) kept.set(id, read)
    return read
  }

  /** Bytes of an object as it was listed. */
  return async (entry: Entry, range: ByteRange | undefined, options: ReadOptions = {}) => {
    if (entry.size > WHOLE) return store.read(entry.key, range, { ...options, ifMatch: entry.etag })
    options.signal?.throwIfAborted()
    const read = await whole(entry, options.signal)
    if (!read) return null
    const { offset, length } = clampRange(range, read.length)
    const body = (read.body as Uint8Array<ArrayBuffer>).subarray(offset, offset + length)
    return { entry: read.entry, offset, length, body }
  }
}
