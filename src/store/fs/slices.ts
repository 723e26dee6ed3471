import { closeSync, fstatSync } from 'node:fs'
import { BufferPool } from '../../kit/bytes.ts'
import { SliceMemory } from '../../kit/limits/slice-memory.ts'
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
import { isSame, readAtOnce, readInto, readLater, SLICE, toEntry, toStoreError } from './file.ts'

/** The bytes at a range's end that are read first and compared after each slice. */
const PROBE = 4096
/** How often the end is read again if the file changed meanwhile. */
const TRIES = 10
/** Reusable buffers: fresh memory costs 120 µs a slice. */
const buffers = new BufferPool(SLICE, 8)
/** A scratch buffer for comparing the last bytes. */
const again = new Uint8Array(PROBE)

/** Closes files that a server neither sends nor cancels, when they are garbage-collected. */
const forgotten = new FinalizationRegistry<number>((fd) => closeSync(fd))

interface LongRange {
  fd: number
  key: string
  range: ByteRange | undefined
  options: ReadOptions
}

/** A range of an open file that is longer than a slice, as a stream. It closes the descriptor at its end. */
export function readSliced({ fd, key, range, options }: LongRange): StoreRead {
  for (let tries = 1; ; tries++) {
    const stats = fstatSync(fd)
    const entry = toEntry(key, stats)
    checkConditions(entry, options)
    const { offset, length } = clampRange(range, entry.size)
    const end = offset + length
    try {
      const probe = readAtOnce(fd, key, end - Math.min(PROBE, length), Math.min(PROBE, length))
      const after = fstatSync(fd)
      if (isSame(stats, after) || (tries >= TRIES && after.size >= stats.size)) {
        const slices = new FileSlices({ fd, key, offset, end, probe, signal: options.signal })
        return { entry, offset, length, body: new SlicedStream(slices) }
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'changed')) throw error
      if (tries >= 2 * TRIES) throw error
    }
  }
}

interface FileRange {
  fd: number
  key: string
  offset: number
  end: number
  probe: Uint8Array
  signal: AbortSignal | undefined
}

/**
 * The slices of a range, read only as fast as they are taken. The file may be truncated and rewritten meanwhile:
 * after each slice the range's last bytes are compared with what they were at first, and if they differ it throws
 * rather than mix two texts under one length.
 */
class FileSlices implements Slices {
  readonly #range: FileRange
  /** What the slice that is being sent holds. */
  readonly #memory = new SliceMemory()
  readonly #leave = () => this.cancel()
  #at: number
  #open = true
  #reading: Promise<unknown> | null = null

  constructor(range: FileRange) {
    this.#range = range
    this.#at = range.offset
    forgotten.register(this, range.fd, this)
    if (range.signal?.aborted) this.cancel()
    else range.signal?.addEventListener('abort', this.#leave)
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    this.#memory.release()
    const { fd, key, end } = this.#range
    if (this.#at === end) {
      this.#close()
      return null
    }
    try {
      if (!this.#open) throw this.#left()
      const size = this.#memory.take(SLICE)
      const length = Math.min(size, end - this.#at)
      if (size === SLICE) return this.#later(buffers.take().subarray(0, length))
      // In a crowd slices are small, and 5 µs from the page cache; promises cost 110.
      const bytes = new Uint8Array(length)
      readInto(fd, key, bytes, this.#at)
      return this.#checked(bytes)
    } catch (error) {
      return this.#fail(error)
    }
  }

  release(slice: Uint8Array): void {
    this.#memory.release()
    buffers.give(slice)
  }

  cancel(): void {
    this.#memory.release()
    this.#close()
  }

  async #later(bytes: Uint8Array): Promise<Uint8Array> {
    const { fd, key } = this.#range
    try {
      this.#reading = readLater(fd, key, bytes, this.#at)
      await this.#reading
      this.#reading = null
      if (!this.#open) throw this.#left()
      return this.#checked(bytes)
    } catch (error) {
      this.#reading = null
      return this.#fail(error)
    }
  }

  #checked(bytes: Uint8Array): Uint8Array {
    const { fd, key, end, probe } = this.#range
    const now = again.subarray(0, probe.length)
    readInto(fd, key, now, end - probe.length)
    if (Buffer.compare(now, probe) !== 0) throw replaced(key)
    this.#at += bytes.length
    if (this.#at === end) this.#close()
    return bytes
  }

  #fail(error: unknown): never {
    this.cancel()
    throw toStoreError(error, this.#range.key)
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

  #left(): StoreError {
    return new StoreError('unavailable', `Stopped reading "${this.#range.key}": the client left`)
  }
}
