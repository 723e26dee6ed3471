import { closeSync, fstatSync, read as readCallback } from 'node:fs'
import { promisify } from 'node:util'
import {
  type ByteRange,
  clampRange,
  type ReadOptions,
  SlicedStream,
  type Slices,
  StoreError,
  type StoreRead,
} from '../store.ts'
import { extend, holds, newChunk, view } from './chunk.ts'
import {
  checkConditions,
  isSame,
  readAtOnce,
  readInto,
  replaced,
  SLICE,
  shrunk,
  toStoreError,
} from './file.ts'
import { type Hot, isSettled, KEPT_OF_ONE, type Tails } from './tails.ts'

/** So many bytes at a range's end are read first and looked at again after each slice. */
const PROBE = 4096
/** How often the end is read anew when the file changed under it. */
const TRIES = 10
/** Buffers that wait for their next use, for ranges too long to be kept: fresh memory costs 120 µs a slice. */
const pool: Uint8Array<ArrayBuffer>[] = []
const POOLED = 8
/** Where the last bytes are read to when they are looked at again. */
const again = new Uint8Array(PROBE)

const readAsync = promisify(readCallback)
/** Closes what a server neither sends nor cancels, when the collector finds it. */
const forgotten = new FinalizationRegistry<number>((fd) => closeSync(fd))

/** A range of an open file that is longer than a slice, as a stream. The descriptor is closed when it is through. */
export function readSliced(
  fd: number,
  key: string,
  range: ByteRange | undefined,
  options: ReadOptions,
  tails: Tails,
): StoreRead {
  for (let tries = 1; ; tries++) {
    const hot = tails.look(key, fstatSync(fd))
    const { stats, entry } = hot
    checkConditions(entry, options)
    const { offset, length } = clampRange(range, entry.size)
    const end = offset + length
    try {
      const probe = readAtOnce(fd, key, end - Math.min(PROBE, length), Math.min(PROBE, length))
      const after = fstatSync(fd)
      if (isSame(stats, after) || (tries >= TRIES && after.size >= stats.size)) {
        const slices = new FileSlices(fd, hot, offset, end, probe, tails)
        return { entry, offset, length, body: new SlicedStream(slices, () => options.signal) }
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'changed')) throw error
      if (tries >= 2 * TRIES) throw error
    }
  }
}

/**
 * The slices of a range, read only as fast as they are taken. The file may be truncated and written anew meanwhile:
 * after each slice the range's last bytes are looked at again, and when they are no longer what they were at first,
 * it throws rather than mix two texts under one length.
 */
class FileSlices implements Slices {
  readonly #fd: number
  readonly #hot: Hot
  readonly #version: number
  readonly #end: number
  readonly #probe: Uint8Array
  readonly #tails: Tails
  readonly #kept: boolean
  #at: number
  #open = true
  #reading: Promise<unknown> | null = null

  constructor(fd: number, hot: Hot, offset: number, end: number, probe: Uint8Array, tails: Tails) {
    this.#fd = fd
    this.#hot = hot
    this.#version = hot.version
    this.#at = offset
    this.#end = end
    this.#probe = probe
    this.#tails = tails
    this.#kept = hot.entry.size - offset <= KEPT_OF_ONE
    forgotten.register(this, fd, this)
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.#at === this.#end) {
      this.cancel()
      return null
    }
    if (!this.#open) throw this.#left()
    try {
      const proven = this.#kept ? this.#proven() : null
      if (proven) return this.#given(proven)
      const kept = this.#kept ? this.#fromMemory() : null
      return kept ? this.#checked(kept) : this.#fromFile()
    } catch (error) {
      this.cancel()
      throw toStoreError(error, this.#hot.key)
    }
  }

  release(slice: Uint8Array): void {
    if (this.#kept || slice.buffer.byteLength !== SLICE || pool.length >= POOLED) return
    pool.push(new Uint8Array(slice.buffer as ArrayBuffer))
  }

  cancel(): void {
    if (!this.#open) return
    this.#open = false
    forgotten.unregister(this)
    // Waits for a read under way: a descriptor closed below a read could be another file's by then.
    const close = () => closeSync(this.#fd)
    if (this.#reading) void this.#reading.then(close, close)
    else close()
  }

  /** Up to the next multiple of the slice size, so that all responses share the same slices. */
  #sliceEnd(): number {
    return Math.min(this.#end, (Math.floor(this.#at / SLICE) + 1) * SLICE)
  }

  /** The slice as it was when the answer began, if it is here: whatever the file is by now, nothing is mixed by it. */
  #proven(): Uint8Array | null {
    if (this.#hot.version !== this.#version) return null
    const from = this.#at
    const to = this.#sliceEnd()
    const chunk = this.#hot.slices.get(Math.floor(from / SLICE))
    if (!chunk || chunk.proven !== this.#version || from < chunk.lo || to > chunk.hi) return null
    return view(chunk, from, to)
  }

  #fromMemory(): Uint8Array | null {
    const hot = this.#hot
    const from = this.#at
    const to = this.#sliceEnd()
    const index = Math.floor(from / SLICE)
    const chunk = hot.slices.get(index)
    if (!chunk) return null
    if (chunk.proven >= this.#version && from >= chunk.lo && to <= chunk.hi) return view(chunk, from, to)
    const settled = isSettled(hot) && isSame(fstatSync(this.#fd), hot.stats)
    const same = extend(this.#fd, hot.key, chunk, from, to, hot.version)
    if (!same || !(settled || holds(this.#fd, chunk, from, to))) {
      this.#tails.keep(hot, index, null)
      return null
    }
    if (settled && isSame(fstatSync(this.#fd), hot.stats)) chunk.proven = hot.version
    return view(chunk, from, to)
  }

  async #fromFile(): Promise<Uint8Array> {
    const { key } = this.#hot
    const from = this.#at
    const to = this.#sliceEnd()
    const index = Math.floor(from / SLICE)
    const { loading } = this.#hot
    try {
      // Sixty clients that come at once would else read it sixty times, each into memory of its own.
      for (let others = loading.get(index); this.#kept && others; others = loading.get(index)) {
        await others.catch(() => {})
        if (!this.#open) throw this.#left()
        const kept = this.#fromMemory()
        if (kept) return this.#checked(kept)
      }
    } catch (error) {
      this.cancel()
      throw toStoreError(error, key)
    }
    const chunk = this.#kept ? newChunk(index * SLICE, SLICE) : null
    const bytes = chunk ? view(chunk, from, to) : (pool.pop() ?? new Uint8Array(SLICE)).subarray(0, to - from)
    try {
      const reading = readFully(this.#fd, key, bytes, from)
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
        this.#tails.keep(this.#hot, index, chunk)
      }
      return this.#checked(bytes)
    } catch (error) {
      this.cancel()
      throw toStoreError(error, key)
    }
  }

  #checked(bytes: Uint8Array): Uint8Array {
    const { length } = this.#probe
    readInto(this.#fd, this.#hot.key, again, 0, length, this.#end - length)
    if (Buffer.compare(again.subarray(0, length), this.#probe) !== 0) throw replaced(this.#hot.key)
    return this.#given(bytes)
  }

  #given(bytes: Uint8Array): Uint8Array {
    this.#at += bytes.length
    if (this.#at === this.#end) this.cancel()
    return bytes
  }

  #left(): StoreError {
    return new StoreError('unavailable', `Stopped reading "${this.#hot.key}": the client left`)
  }
}

async function readFully(fd: number, key: string, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await readAsync(fd, bytes, done, bytes.length - done, offset + done)
    if (bytesRead === 0) throw shrunk(key)
    done += bytesRead
  }
}
