import { fstatSync, readSync, type Stats } from 'node:fs'
import { type Entry, StoreError, type StoreRead } from '../store.ts'
import { isSame, readInto, SLICE, toEntry } from './file.ts'

/** Total bytes of file ends kept in memory. */
const KEPT = 16 * 1024 * 1024
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
interface CachedFile {
  readonly key: string
  stats: Stats
  entry: Entry
  /** Increases with every change that is seen, over all files. */
  version: number
  /** When this version was first seen, on a monotonic clock. */
  since: number
  /** The end, in one piece. */
  tail: Chunk | null
  /** The longest tail that was requested. */
  suffix: number
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

  /** The last `suffix` bytes of an open file, in one piece; they are cached. */
  read(fd: number, key: string, suffix: number, check: (entry: Entry) => void): StoreRead {
    for (let tries = 1; ; tries++) {
      const file = this.#look(key, fstatSync(fd))
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
  #look(key: string, stats: Stats): CachedFile {
    const file = this.#files.get(key)
    if (file && isSame(file.stats, stats)) return this.#touch(file)
    const seen = { stats, entry: toEntry(key, stats), version: ++this.#versions, since: performance.now() }
    if (file && file.stats.ino === stats.ino && file.stats.dev === stats.dev) return Object.assign(file, seen)
    if (file) this.#drop(file)
    const fresh: CachedFile = { key, ...seen, tail: null, suffix: 0 }
    this.#files.set(key, fresh)
    this.#makeRoom()
    return fresh
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
    this.#bytes += chunk.bytes.length - (tail?.bytes.length ?? 0)
    file.tail = chunk
    this.#makeRoom()
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

  /** Drops the least recently used files; the newest stays. */
  #makeRoom(): void {
    for (const oldest of this.#files.values()) {
      if ((this.#bytes <= KEPT && this.#files.size <= FILES) || this.#files.size === 1) return
      this.#drop(oldest)
    }
  }

  #drop(file: CachedFile): void {
    this.#files.delete(file.key)
    this.#bytes -= file.tail?.bytes.length ?? 0
    file.tail = null
  }
}

/** Whether the version of a file is older than a tick, so that a later change will show in its stats. */
function isSettled(file: CachedFile): boolean {
  return performance.now() >= file.since + TICK_MS
}

/** From `from` to the end. */
function give(entry: Entry, chunk: Chunk, from: number): StoreRead {
  return { entry, offset: from, length: entry.size - from, body: view(chunk, from, entry.size) }
}

/**
 * A part of a file in memory. The bytes in [lo, hi) may be on their way to clients, so they are never overwritten.
 * The chunk grows around them; different bytes go into another chunk.
 */
interface Chunk {
  /** Where in the file `bytes` begins. */
  base: number
  bytes: Uint8Array<ArrayBuffer>
  /** The part of the file that is here. */
  lo: number
  hi: number
  /** The file version these bytes were verified against; 0 if unverified. */
  proven: number
}

/** A scratch buffer for bytes that are only compared: 37 µs a slice, where fresh memory costs 120. */
const scratch = new Uint8Array(SLICE)

/** An empty chunk for the bytes from `base` on. */
function newChunk(base: number, capacity: number): Chunk {
  return { base, bytes: new Uint8Array(capacity), lo: base, hi: base, proven: 0 }
}

/** The bytes [from, to) of a chunk, which must contain them. They are read-only. */
function view(chunk: Chunk, from: number, to: number): Uint8Array<ArrayBuffer> {
  return chunk.bytes.subarray(from - chunk.base, to - chunk.base)
}

interface Extent {
  key: string
  from: number
  to: number
  version: number
}

/**
 * Makes a chunk hold [from, to) of an open file. What it holds already is compared with the file, unless it is known
 * to be of this version. False when the file differs or the chunk is too small: the chunk must then be discarded.
 */
function extend(fd: number, chunk: Chunk, { key, from, to, version }: Extent): boolean {
  if (from < chunk.base || to > chunk.base + chunk.bytes.length) return false
  if (chunk.proven !== version && !holds(fd, chunk, chunk.lo, chunk.hi)) return false
  chunk.proven = 0
  if (chunk.lo === chunk.hi) chunk.lo = chunk.hi = from
  if (from < chunk.lo) {
    readInto(fd, key, view(chunk, from, chunk.lo), from)
    chunk.lo = from
  }
  if (to > chunk.hi) {
    readInto(fd, key, view(chunk, chunk.hi, to), chunk.hi)
    chunk.hi = to
  }
  return true
}

/** Whether the file still has the bytes [from, to) of a chunk. */
function holds(fd: number, chunk: Chunk, from: number, to: number): boolean {
  for (let at = from; at < to; ) {
    const count = readSync(fd, scratch, 0, Math.min(scratch.length, to - at), at)
    if (count === 0) return false
    const there = at - chunk.base
    if (Buffer.compare(scratch.subarray(0, count), chunk.bytes.subarray(there, there + count)) !== 0)
      return false
    at += count
  }
  return true
}
