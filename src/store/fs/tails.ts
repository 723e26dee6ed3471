import { fstatSync, type Stats } from 'node:fs'
import { type Entry, StoreError, type StoreRead } from '../store.ts'
import { type Chunk, extend, holds, newChunk, view } from './chunk.ts'
import { isSame, SLICE, toEntry } from './file.ts'
import type { Snapshot } from './snapshot.ts'

/** How much of the ends of files is kept in memory, all together. */
const KEPT = 16 * 1024 * 1024
/** And of one file. */
export const KEPT_OF_ONE = 8 * 1024 * 1024
/** And of how many files: even a tiny one is not free. */
const FILES = 256
/** A tail from here on is given as a Blob to those who send it: below, the copy that an answer makes costs nothing. */
const SHARED = 512 * 1024
/** What a short tail may grow by before it moves to new memory. */
const ROOM = 60 * 1024
/**
 * A kernel's file times tick every 1 to 10 ms: a change in the tick in which a file was looked at can't be seen in
 * them. What is read later than this after its times were first seen is right for as long as they stay.
 */
const TICK_MS = 20
/** How often a tail is read anew when the file changed under it: 10 µs each. */
const TRIES = 10

/** A file whose end is in memory. */
export interface Hot {
  readonly key: string
  stats: Stats
  entry: Entry
  /** Another one for every change that is seen, in order, over all files. */
  version: number
  /** When this version was first seen, on a clock that nobody sets. */
  since: number
  /** The end in one piece, for short tails. */
  tail: Chunk | null
  /** The longest of those tails that was asked for. */
  suffix: number
  /** The end as a Blob, which any number of answers can send without a copy of their own. Of this version. */
  shared: { offset: number; bytes: number; blob: Blob } | null
  /** Slices, by their number, for longer tails. */
  slices: Map<number, Chunk>
  /** Slices that are being read. */
  loading: Map<number, Promise<unknown>>
  /** A copy of the end that a server can send by itself, of this version. */
  snapshot: Snapshot | null
  /** Settles when the copy that is being made is there, or is not to be had. */
  making: Promise<void> | null
  bytes: number
}

/**
 * The ends of hot files, in bounded memory. While a file's stats stay what they were, its bytes are taken from here.
 * When they don't, what is here is compared with the file, byte by byte, and only what was appended is added: a
 * truncation, a replacement, a copy-truncate and a regrowth show, whatever the file's size and times say.
 */
export class Tails {
  readonly #files = new Map<string, Hot>()
  #bytes = 0
  #versions = 0

  /** The last `suffix` bytes of a file that was just looked at, if they are here; as a Blob where `sent` and long. */
  get(key: string, stats: Stats, suffix: number, sent = false): StoreRead | null {
    const hot = this.#files.get(key)
    const chunk = hot?.tail
    if (!hot || !chunk || chunk.proven !== hot.version || !isSame(hot.stats, stats)) return null
    const from = Math.max(0, stats.size - suffix)
    if (from < chunk.lo) return null
    this.#touch(hot)
    const bytes = view(chunk, from, stats.size)
    if (sent && bytes.length >= SHARED) return this.#share(hot, from, bytes)
    return { entry: hot.entry, offset: from, length: bytes.length, body: bytes }
  }

  /** A file that is here and was just looked at, if it is what it was. */
  known(key: string, stats: Stats): Hot | null {
    const hot = this.#files.get(key)
    return hot && isSame(hot.stats, stats) ? this.#touch(hot) : null
  }

  /** The last `suffix` bytes of an open file, in one piece. They are here after that. */
  read(fd: number, key: string, suffix: number, check: (entry: Entry) => void): StoreRead {
    for (let tries = 1; ; tries++) {
      const hot = this.look(key, fstatSync(fd))
      const { stats, entry, version } = hot
      check(entry)
      const settled = isSettled(hot)
      const from = Math.max(0, stats.size - suffix)
      try {
        const chunk = this.#cover(hot, fd, suffix)
        const after = fstatSync(fd)
        const same = isSame(stats, after)
        if (same && settled) {
          chunk.proven = version
          return give(entry, chunk, from)
        }
        // Read twice: when both agree, the bytes are those of the moment in between. Within a tick only that can tell
        // that nothing was exchanged; and a writer may be so busy that no two looks find the file at rest.
        if (same || (tries >= TRIES && after.size >= stats.size))
          if (holds(fd, chunk, from, stats.size)) return give(entry, chunk, from)
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'changed')) throw error
      }
      if (tries >= 2 * TRIES) throw new StoreError('changed', `Cannot read "${key}": it changes all the time`)
    }
  }

  /** The file as it is known here, after a look at it. */
  look(key: string, stats: Stats): Hot {
    const hot = this.#files.get(key)
    if (hot && isSame(hot.stats, stats)) return this.#touch(hot)
    const seen = { stats, entry: toEntry(key, stats), version: ++this.#versions, since: performance.now() }
    if (hot && hot.stats.ino === stats.ino && hot.stats.dev === stats.dev) {
      for (const [index] of hot.slices)
        if ((index + 1) * SLICE <= stats.size - KEPT_OF_ONE) this.keep(hot, index, null)
      this.#letGo(hot)
      this.#unshare(hot)
      return Object.assign(hot, seen)
    }
    if (hot) this.#drop(hot)
    const fresh: Hot = {
      key,
      ...seen,
      tail: null,
      suffix: 0,
      shared: null,
      slices: new Map(),
      loading: new Map(),
      snapshot: null,
      making: null,
      bytes: 0,
    }
    this.#files.set(key, fresh)
    this.#makeRoom()
    return fresh
  }

  /** Keeps a slice of a file, or forgets it. */
  keep(hot: Hot, index: number, chunk: Chunk | null): void {
    if (this.#files.get(hot.key) !== hot) return
    this.#count(hot, (chunk?.bytes.length ?? 0) - (hot.slices.get(index)?.bytes.length ?? 0))
    if (chunk) hot.slices.set(index, chunk)
    else hot.slices.delete(index)
  }

  /** Keeps a copy of a file's end, in place of its slices; false when the file is no longer here. */
  keepSnapshot(hot: Hot, snapshot: Snapshot): boolean {
    if (this.#files.get(hot.key) !== hot) return false
    this.#letGo(hot)
    for (const [index] of hot.slices) this.keep(hot, index, null)
    hot.snapshot = snapshot
    this.#count(hot, snapshot.bytes)
    return true
  }

  #share(hot: Hot, offset: number, bytes: Uint8Array<ArrayBuffer>): StoreRead {
    if (!hot.shared || offset < hot.shared.offset) {
      this.#unshare(hot)
      hot.shared = { offset, bytes: bytes.length, blob: new Blob([bytes]) }
      this.#count(hot, bytes.length)
    }
    const { entry, shared } = hot
    // The same one where it can be: each Blob looks to the garbage collector as if it held all the bytes.
    const body =
      shared && (offset === shared.offset ? shared.blob : shared.blob.slice(offset - shared.offset))
    return { entry, offset, length: bytes.length, body: body ?? bytes, head: bytes }
  }

  #unshare(hot: Hot): void {
    if (!hot.shared) return
    const { bytes } = hot.shared
    hot.shared = null
    this.#count(hot, -bytes)
  }

  #letGo(hot: Hot): void {
    const { snapshot } = hot
    if (!snapshot) return
    hot.snapshot = null
    snapshot.close()
    this.#count(hot, -snapshot.bytes)
  }

  /** The end of the file in one chunk: the one that is here, completed, or a new one. */
  #cover(hot: Hot, fd: number, suffix: number): Chunk {
    const { key, version, tail } = hot
    const { size } = hot.stats
    const first = Math.max(0, size - suffix)
    if (tail && first >= tail.base && extend(fd, key, tail, first, size, version)) return tail
    hot.suffix = Math.max(hot.suffix, suffix)
    const from = Math.max(0, size - hot.suffix)
    const chunk = newChunk(from, size - from + ROOM)
    extend(fd, key, chunk, from, size, version)
    this.#count(hot, chunk.bytes.length - (tail?.bytes.length ?? 0))
    hot.tail = chunk
    return chunk
  }

  /** Makes it the one that was asked for last. */
  #touch(hot: Hot): Hot {
    if (this.#files.size > 1) {
      this.#files.delete(hot.key)
      this.#files.set(hot.key, hot)
    }
    return hot
  }

  #count(hot: Hot, more: number): void {
    hot.bytes += more
    this.#bytes += more
    this.#makeRoom()
  }

  /** Forgets what was not asked for the longest; the newest stays. */
  #makeRoom(): void {
    for (const oldest of this.#files.values()) {
      if ((this.#bytes <= KEPT && this.#files.size <= FILES) || this.#files.size === 1) return
      this.#drop(oldest)
    }
  }

  /** A response that still runs may hold the file's record, but must not hold its bytes by that. */
  #drop(hot: Hot): void {
    this.#files.delete(hot.key)
    this.#bytes -= hot.bytes
    hot.bytes = 0
    hot.tail = null
    hot.shared = null
    hot.slices.clear()
    hot.snapshot?.close()
    hot.snapshot = null
  }
}

/** Whether the version of a file is older than a tick, so that a later change will show in its stats. */
export function isSettled(hot: Hot): boolean {
  return restlessFor(hot) <= 0
}

/** How many milliseconds are left until then. */
export function restlessFor(hot: Hot): number {
  return hot.since + TICK_MS - performance.now()
}

/** From `from` to the end. */
function give(entry: Entry, chunk: Chunk, from: number): StoreRead {
  return { entry, offset: from, length: entry.size - from, body: view(chunk, from, entry.size) }
}
