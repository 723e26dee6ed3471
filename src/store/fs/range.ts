import { fstatSync } from 'node:fs'
import { isCrowded } from '../../limits/slice-memory.ts'
import {
  type ByteRange,
  checkConditions,
  clampRange,
  type ReadOptions,
  StoreError,
  type StoreRead,
} from '../store.ts'
import { isSame, readAtOnce, readLater, SLICE, shrunk, toEntry } from './file.ts'

/** How often a range is read again if the file changed meanwhile: 10 µs each, and appends are rarer than that. */
const TRIES = 10

/**
 * A range of an open file that is at most a slice; undefined when it is longer, or long in a crowd. The stats before
 * and after must be the same; otherwise a file that is truncated and grows again between the size and the bytes would
 * return a different text under this size. A file that keeps changing is still read, as long as it only grows.
 */
export function readShort(
  fd: number,
  key: string,
  range: ByteRange | undefined,
  options: ReadOptions,
): StoreRead | undefined {
  for (let tries = 1; ; tries++) {
    const before = fstatSync(fd)
    const entry = toEntry(key, before)
    checkConditions(entry, options)
    const { offset, length } = clampRange(range, entry.size)
    if (length > SLICE || isCrowded(length)) return undefined
    try {
      const body = readAtOnce(fd, key, offset, length)
      const after = fstatSync(fd)
      if (isSame(before, after)) return { entry, offset, length, body }
      if (tries >= TRIES && after.size >= before.size)
        if (Buffer.compare(readAtOnce(fd, key, offset, length), body) === 0)
          return { entry, offset, length, body }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'changed') || tries >= TRIES) throw error
    }
    if (tries >= 2 * TRIES) throw new StoreError('changed', `Cannot read "${key}": it keeps changing`)
  }
}

/**
 * Reads a range into the caller's buffer, off the event loop; undefined when it does not fit. When the file changed
 * meanwhile, the entry is the later one: its etag tells the caller to check whether what it knew still holds.
 */
export async function readIntoBuffer(
  fd: number,
  key: string,
  range: ByteRange,
  { buffer, ...options }: ReadOptions & { buffer: Uint8Array<ArrayBuffer> },
): Promise<StoreRead | undefined> {
  const before = fstatSync(fd)
  checkConditions(toEntry(key, before), options)
  const { offset, length } = clampRange(range, before.size)
  if (length > buffer.length) return undefined
  const body = buffer.subarray(0, length)
  await readLater(fd, key, body, offset)
  const after = fstatSync(fd)
  if (after.size < before.size) throw shrunk(key)
  const entry = toEntry(key, isSame(before, after) ? before : after)
  return { entry, offset, length, body }
}
