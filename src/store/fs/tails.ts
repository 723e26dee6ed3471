import { fstatSync, type Stats } from 'node:fs'
import { type Entry, StoreError, type StoreRead } from '../store.ts'
import { type Chunk, extend, holds, newChunk, view } from './chunk.ts'
import { isSame, SLICE, toEntry } from './file.ts'

/** Total bytes of file ends kept in memory. */
const KEPT = 16 * 1024 * 1024
/** Bytes kept of one file. */
export const KEPT_OF_ONE = 8 * 1024 * 1024
/** The most files with bytes in memory: even a tiny one is not free. */
const FILES = 256
/** How far a short tail can grow before it moves to new memory. */
const ROOM = 60 * 1024
/**
 * The kernel's file times tick every 1 to 10 ms, so a change in the same tick as a stat does not show. Bytes read more
 * than this after the times were first seen stay valid for as long as the times stay the same.
 */
const TICK_MS = 20
/** How often a tail is read again when the file changed meanwhile: 10 µs each. */
const TRIES = 10

/** A file whose end is in memory. */
export interface CachedFile {
  readonly key: string
  stats: Stats
  entry: Entry
  /** Increases with every change that is seen, over all files. */
  version: number
  /** When this version was first seen, on a monotonic clock. */
  since: number
  /** The end in one piece, for short tails. */
  tail: Chunk | null
  /** The longest short tail that was requested. */
  suffix: number
  /** Slices, by their number, for longer tails. */
  slices: Map<number, Chunk>
  /** Slices that are being read. */
  loading: Map<number, Promise<unknown>>
  bytes: number
}

/**
 * The ends of files, in bounded memory. While a file's stats are unchanged, its bytes come from here. When they change,
 * the cached bytes are compared with the file, and only what was appended is added. This detects a truncation, a
 * replacement, a copy-truncate and a regrowth, whatever the file's size and times say.
 */
export class Tails {
  readonly #files = new Map<string, CachedFile>()
  #bytes = 0
  #versions = 0

  /** The last `suffix` bytes of a file that was just checked, if they are in memory. */
  get(key: string, stats: Stats, suffix: number): StoreRead | null {
    const file = this.#files.get(key)
    const chunk = file?.tail
    if (!file || !chunk || chunk.proven !== file.version || !isSame(file.stats, stats)) return null
    const from = Math.max(0, stats.size - suffix)
    if (from < chunk.lo) return null
    this.#touch(file)
    const bytes = view(chunk, from, stats.size)
    return { entry: file.entry, offset: from, length: bytes.length, body: bytes }
  }

  /** The entry of a file that was just checked, from memory if it is unchanged. */
  entryOf(key: string, stats: Stats): Entry {
    const file = this.#files.get(key)
    return file && isSame(file.stats, stats) ? file.entry : toEntry(key, stats)
  }

  /** The last `suffix` bytes of an open file, in one piece; they are cached. */
  read(fd: number, key: string, suffix: number, check: (entry: Entry) => void): StoreRead {
    for (let tries = 1; ; tries++) {
      const file = this.look(key, fstatSync(fd))
      const { stats, entry, version } = file
      check(entry)
      const settled = isSettled(file)
      const from = Math.max(0, stats.size - suffix)
      try {
        const chunk = this.#cover(file, fd, suffix)
        const after = fstatSync(fd)
        const same = isSame(stats, after)
        if (same && settled) {
          chunk.proven = version
          return give(entry, chunk, from)
        }
        // Read twice: if both agree, the bytes are those of the moment in between. Within a tick only that proves
        // that nothing was replaced, and with a busy writer two stats may never find the file unchanged.
        if (same || (tries >= TRIES && after.size >= stats.size))
          if (holds(fd, chunk, from, stats.size)) return give(entry, chunk, from)
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'changed')) throw error
      }
      if (tries >= 2 * TRIES) throw new StoreError('changed', `Cannot read "${key}": it keeps changing`)
    }
  }

  /** The cached file, updated with new stats. */
  look(key: string, stats: Stats): CachedFile {
    const file = this.#files.get(key)
    if (file && isSame(file.stats, stats)) return this.#touch(file)
    const seen = { stats, entry: toEntry(key, stats), version: ++this.#versions, since: performance.now() }
    if (file && file.stats.ino === stats.ino && file.stats.dev === stats.dev) {
      for (const [index] of file.slices)
        if ((index + 1) * SLICE <= stats.size - KEPT_OF_ONE) this.keep(file, index, null)
      return Object.assign(file, seen)
    }
    if (file) this.#drop(file)
    const fresh: CachedFile = {
      key,
      ...seen,
      tail: null,
      suffix: 0,
      slices: new Map(),
      loading: new Map(),
      bytes: 0,
    }
    this.#files.set(key, fresh)
    this.#makeRoom()
    return fresh
  }

  /** Caches a slice of a file, or drops it. */
  keep(file: CachedFile, index: number, chunk: Chunk | null): void {
    if (this.#files.get(file.key) !== file) return
    this.#count(file, (chunk?.bytes.length ?? 0) - (file.slices.get(index)?.bytes.length ?? 0))
    if (chunk) file.slices.set(index, chunk)
    else file.slices.delete(index)
  }

  /** The end of the file in one chunk: the current one, extended, or a new one. */
  #cover(file: CachedFile, fd: number, suffix: number): Chunk {
    const { key, version, tail } = file
    const { size } = file.stats
    const first = Math.max(0, size - suffix)
    if (tail && first >= tail.base && extend(fd, tail, { key, from: first, to: size, version })) return tail
    file.suffix = Math.max(file.suffix, suffix)
    const from = Math.max(0, size - file.suffix)
    const chunk = newChunk(from, size - from + ROOM)
    extend(fd, chunk, { key, from, to: size, version })
    this.#count(file, chunk.bytes.length - (tail?.bytes.length ?? 0))
    file.tail = chunk
    return chunk
  }

  /** Marks a file as the most recently used. */
  #touch(file: CachedFile): CachedFile {
    if (this.#files.size > 1) {
      this.#files.delete(file.key)
      this.#files.set(file.key, file)
    }
    return file
  }

  #count(file: CachedFile, more: number): void {
    file.bytes += more
    this.#bytes += more
    this.#makeRoom()
  }

  /** Drops the least recently used files; the newest stays. */
  #makeRoom(): void {
    for (const oldest of this.#files.values()) {
      if ((this.#bytes <= KEPT && this.#files.size <= FILES) || this.#files.size === 1) return
      this.#drop(oldest)
    }
  }

  /** A running response may still hold the file's record, but not its bytes through it. */
  #drop(file: CachedFile): void {
    this.#files.delete(file.key)
    this.#bytes -= file.bytes
    file.bytes = 0
    file.tail = null
    file.slices.clear()
  }
}

/** Whether the version of a file is older than a tick, so that a later change will show in its stats. */
export function isSettled(file: CachedFile): boolean {
  return performance.now() >= file.since + TICK_MS
}

/** From `from` to the end. */
function give(entry: Entry, chunk: Chunk, from: number): StoreRead {
  return { entry, offset: from, length: entry.size - from, body: view(chunk, from, entry.size) }
}
