import { fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { type ByteRange, clampRange, type ReadOptions, type StoreRead } from '../store.ts'
import { checkConditions, isSame, shrunk, toEntry } from './file.ts'

const readAsync = promisify(read)

/**
 * Reads a range into memory that the caller lends, beside the event loop; null when it does not fit. When the file
 * changed meanwhile, the entry is the one of after: its etag tells the caller to look whether what it knew still holds.
 */
export async function readLent(
  fd: number,
  key: string,
  range: ByteRange | undefined,
  options: ReadOptions,
  into: Uint8Array<ArrayBuffer>,
): Promise<StoreRead | null> {
  const before = fstatSync(fd)
  checkConditions(toEntry(key, before), options)
  const { offset, length } = clampRange(range, before.size)
  if (length > into.length) return null
  for (let done = 0; done < length; ) {
    const { bytesRead } = await readAsync(fd, into, done, length - done, offset + done)
    if (bytesRead === 0) throw shrunk(key)
    done += bytesRead
  }
  const after = fstatSync(fd)
  if (after.size < before.size) throw shrunk(key)
  const entry = toEntry(key, isSame(before, after) ? before : after)
  return { entry, offset, length, body: into.subarray(0, length) }
}
