import { closeSync, fstatSync } from 'node:fs'
import { BufferPool } from '../../kit/bytes.ts'
import { isCrowded, SliceMemory } from '../../kit/limits/slice-memory.ts'
import { SlicedStream, type Slices } from '../fast.ts'
import {
  type ByteRange,
  checkConditions,
  clampRange,
  type ReadOptions,
  replaced,
  StoreError,
  type StoreRead,
} from '../store.ts'
import { type Chunk, extend, holds, newChunk, pin, unpin, view } from './chunk.ts'
import { isSame, readAtOnce, readInto, readLater, SLICE, toStoreError } from './file.ts'
import { type CachedFile, isSettled, KEPT_OF_ONE, type Tails } from './tails.ts'

/** The bytes at a range's end that are read first and compared after each slice. */
const PROBE = 4096
/** How often the end is read again if the file changed meanwhile. */
const TRIES = 10
/** Reusable buffers for ranges too long to keep: fresh memory costs 120 µs a slice. */
const buffers = new BufferPool(SLICE, 8)
/** A scratch buffer for comparing the last bytes. */
const again = new Uint8Array(PROBE)

/** Closes files that a server neither sends nor cancels, when they are garbage-collected. */
const forgotten = new FinalizationRegistry<number>((fd) => closeSync(fd))

/** A range of an open file that is longer than a slice, as a stream. It closes the descriptor at its end. */
export function readSliced({ fd, key, range, options, tails }: LongRange): StoreRead {
  for (let tries = 1; ; tries++) {
    const file = tails.look(key, fstatSync(fd))
    const { stats, entry } = file
    checkConditions(entry, options)
    const { offset, length } = clampRange(range, entry.size)
    const end = offset + length
    try {
      const probe = readAtOnce(fd, key, end - Math.min(PROBE, length), Math.min(PROBE, length))
      const after = fstatSync(fd)
      if (isSame(stats, after) || (tries >= TRIES && after.size >= stats.size)) {
        const slices = new FileSlices({ fd, file, offset, end, probe, tails, signal: options.signal })
        return { entry, offset, length, body: new SlicedStream(slices) }
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'changed')) throw error
      if (tries >= 2 * TRIES) throw error
    }
  }
}

interface LongRange {
  fd: number
  key: string
  range: ByteRange | undefined
  options: ReadOptions
  tails: Tails
}

interface FileRange {
  fd: number
  file: CachedFile
  offset: number
  end: number
  probe: Uint8Array
  tails: Tails
  signal: AbortSignal | undefined
}

/**
 * The slices of a range, read only as fast as they are taken. The file may be truncated and rewritten meanwhile:
 * after each slice the range's last bytes are compared with what they were at first, and if they differ it throws
 * rather than mix two texts under one length.
 */
class FileSlices implements Slices {
  readonly #range: FileRange
  /** What the slice that is being sent holds: memory of its own, or a part of the cache. */
  readonly #memory = new SliceMemory()
  #pinned: Chunk | null = null
  readonly #version: number
  readonly #kept: boolean
  readonly #leave = () => this.cancel()
  #at: number
  #open = true
  #reading: Promise<unknown> | null = null

  constructor(range: FileRange) {
    const { fd, file, offset, signal } = range
    this.#range = range
    this.#version = file.version
    this.#at = offset
    this.#kept = file.entry.size - offset <= KEPT_OF_ONE
    forgotten.register(this, fd, this)
    if (signal?.aborted) this.cancel()
    else signal?.addEventListener('abort', this.#leave)
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    this.#sent()
    if (this.#at === this.#range.end) {
      this.#close()
      return null
    }
    try {
      if (!this.#open) throw this.#left()
      const kept = this.#kept ? this.#fromMemory() : null
      return kept ?? this.#fromFile().catch((error) => this.#fail(error))
    } catch (error) {
      return this.#fail(error)
    }
  }

  release(slice: Uint8Array): void {
    this.#sent()
    if (!this.#kept) buffers.give(slice)
  }

  cancel(): void {
    this.#sent()
    this.#close()
  }

  #fail(error: unknown): never {
    this.cancel()
    throw toStoreError(error, this.#range.file.key)
  }

  /** The last slice has been sent, or never will be. */
  #sent(): void {
    this.#memory.release()
    if (this.#pinned) unpin(this.#pinned)
    this.#pinned = null
  }

  #close(): void {
    if (!this.#open) return
    this.#open = false
    forgotten.unregister(this)
    this.#range.signal?.removeEventListener('abort', this.#leave)
    // Wait for a running read: if the descriptor were closed under it, its number could already belong to another file.
    const close = () => closeSync(this.#range.fd)
    if (this.#reading) void this.#reading.then(close, close)
    else close()
  }

  /** The next multiple of the slice size, so that all responses share the same slices. */
  #sliceEnd(): number {
    return Math.min(this.#range.end, (Math.floor(this.#at / SLICE) + 1) * SLICE)
  }

  #fromMemory(): Uint8Array | null {
    const { fd, file, tails } = this.#range
    const from = this.#at
    const to = this.#sliceEnd()
    const index = Math.floor(from / SLICE)
    const chunk = file.slices.get(index)
    if (!chunk || !this.#pin(chunk)) return null
    if (chunk.proven >= this.#version && from >= chunk.lo && to <= chunk.hi) {
      const bytes = view(chunk, from, to)
      // As the slice was when the response began: later changes of the file do not matter then.
      return file.version === this.#version ? this.#given(bytes) : this.#checked(bytes)
    }
    const settled = isSettled(file) && isSame(fstatSync(fd), file.stats)
    const same = extend(fd, chunk, { key: file.key, from, to, version: file.version })
    if (!same || !(settled || holds(fd, chunk, from, to))) {
      this.#sent()
      tails.keep(file, index, null)
      return null
    }
    if (settled && isSame(fstatSync(fd), file.stats)) chunk.proven = file.version
    return this.#checked(view(chunk, from, to))
  }

  /** Keeps a part of the cache in memory until the slice is sent; false in a crowd. */
  #pin(chunk: Chunk): boolean {
    if (!pin(chunk)) return false
    this.#pinned = chunk
    return true
  }

  async #fromFile(): Promise<Uint8Array> {
    const { fd, file, tails } = this.#range
    const { key, loading } = file
    const from = this.#at
    const index = Math.floor(from / SLICE)
    // Without this, sixty concurrent clients would read the slice sixty times, each into its own memory.
    for (let others = loading.get(index); this.#kept && others; others = loading.get(index)) {
      await others.catch(() => {})
      if (!this.#open) throw this.#left()
      const kept = this.#fromMemory()
      if (kept) return kept
    }
    const fresh = this.#kept && !isCrowded(SLICE) ? newChunk(index * SLICE, SLICE) : null
    const chunk = fresh && this.#pin(fresh) ? fresh : null
    const size = chunk ? SLICE : this.#memory.take(SLICE)
    const to = Math.min(this.#sliceEnd(), from + size)
    const bytes = chunk ? view(chunk, from, to) : memoryFor(size).subarray(0, to - from)
    if (size < SLICE) {
      // As for short ranges: 5 µs from the page cache, where promises cost 110, and a crowd takes many of these.
      readInto(fd, key, bytes, from)
      return this.#checked(bytes)
    }
    const reading = readLater(fd, key, bytes, from)
    this.#reading = reading
    if (chunk) loading.set(index, reading)
    try {
      await reading
    } finally {
      this.#reading = null
      if (loading.get(index) === reading) loading.delete(index)
    }
    if (!this.#open) throw this.#left()
    if (chunk) {
      chunk.lo = from
      chunk.hi = to
      tails.keep(file, index, chunk)
    }
    return this.#checked(bytes)
  }

  #checked(bytes: Uint8Array): Uint8Array {
    const { length } = this.#range.probe
    const now = again.subarray(0, length)
    readInto(this.#range.fd, this.#range.file.key, now, this.#range.end - length)
    if (Buffer.compare(now, this.#range.probe) !== 0) throw replaced(this.#range.file.key)
    return this.#given(bytes)
  }

  #given(bytes: Uint8Array): Uint8Array {
    this.#at += bytes.length
    if (this.#at === this.#range.end) this.#close()
    return bytes
  }

  #left(): StoreError {
    return new StoreError('unavailable', `Stopped reading "${this.#range.file.key}": the client left`)
  }
}

/** In a crowd, slices are smaller than what is pooled. */
function memoryFor(size: number): Uint8Array<ArrayBuffer> {
  return size === SLICE ? buffers.take() : new Uint8Array(size)
}
