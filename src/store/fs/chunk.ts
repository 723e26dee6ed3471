import { readSync } from 'node:fs'
import { SliceMemory } from '../../kit/limits/slice-memory.ts'
import { readInto, SLICE } from './file.ts'

/**
 * A part of a file in memory. The bytes in [lo, hi) may be on their way to clients, so they are never overwritten.
 * The chunk grows around them; different bytes go into another chunk.
 */
export interface Chunk {
  /** Where in the file `bytes` begins. */
  base: number
  bytes: Uint8Array<ArrayBuffer>
  /** The part of the file that is here. */
  lo: number
  hi: number
  /** The file version these bytes were verified against; 0 if unverified. */
  proven: number
  /** How many answers are sending bytes of it, and what that takes of the memory for slices. */
  pins: number
  readonly memory: SliceMemory
}

/** A scratch buffer for bytes that are only compared: 37 µs a slice, where fresh memory costs 120. */
const scratch = new Uint8Array(SLICE)

/** An empty chunk for the bytes from `base` on. */
export function newChunk(base: number, capacity: number): Chunk {
  return {
    base,
    bytes: new Uint8Array(capacity),
    lo: base,
    hi: base,
    proven: 0,
    pins: 0,
    memory: new SliceMemory(),
  }
}

/** Counts one more answer that sends bytes of a chunk, which stays in memory meanwhile; false in a crowd. */
export function pin(chunk: Chunk): boolean {
  if (chunk.pins === 0 && chunk.memory.take(chunk.bytes.length) < chunk.bytes.length) {
    chunk.memory.release()
    return false
  }
  chunk.pins++
  return true
}

export function unpin(chunk: Chunk): void {
  if (--chunk.pins === 0) chunk.memory.release()
}

/** The bytes [from, to) of a chunk, which must contain them. They are read-only. */
export function view(chunk: Chunk, from: number, to: number): Uint8Array<ArrayBuffer> {
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
export function extend(fd: number, chunk: Chunk, { key, from, to, version }: Extent): boolean {
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
export function holds(fd: number, chunk: Chunk, from: number, to: number): boolean {
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
