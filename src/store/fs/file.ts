import { fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { isCrowded } from '../../kit/limits/slice-memory.ts'
import {
  type ByteRange,
  checkConditions,
  clampRange,
  type Entry,
  type ReadOptions,
  StoreError,
  type StoreRead,
} from '../store.ts'

/** Ranges up to this size are read at once; longer ones in slices of this size, one per turn of the event loop. */
export const SLICE = 512 * 1024

export type FileState = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

/** Fills `buffer` with the bytes from `offset` on; throws a StoreError `changed` if the file ends too early. */
export function readInto(fd: number, key: string, buffer: Uint8Array, offset: number): void {
  for (let done = 0; done < buffer.length; ) {
    const count = readSync(fd, buffer, done, buffer.length - done, offset + done)
    if (count === 0) throw shrunk(key)
    done += count
  }
}

const readAsync = promisify(read)

/** The same, off the event loop. */
export async function readLater(fd: number, key: string, buffer: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await readAsync(fd, buffer, done, buffer.length - done, offset + done)
    if (bytesRead === 0) throw shrunk(key)
    done += bytesRead
  }
}

/** Reads a range into new memory, synchronously: 5 µs from the page cache, where promises cost 110. */
export function readAtOnce(fd: number, key: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  readInto(fd, key, bytes, offset)
  return bytes
}

/** A file's stats as an entry. The etag uses decimal: other bases take ten times as long to format. */
export function toEntry(key: string, stats: FileState): Entry {
  const { size, mtimeMs, ctimeMs } = stats
  const id = `${stats.dev}-${stats.ino}`
  const times = ctimeMs === mtimeMs ? instant(mtimeMs) : `${instant(mtimeMs)}-${instant(ctimeMs)}`
  return { key, size, modified: Math.floor(mtimeMs), etag: `"${id}-${size}-${times}"`, id }
}

/** A time with the full precision of its double, a quarter of a microsecond; bigint stats would cost twice as much. */
export function instant(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${seconds}.${Math.round((ms - seconds * 1000) * 4096)}`
}

/** Whether two stats of a file show the same state: compares what `toEntry` builds the etag from. */
export function isSame(a: FileState, b: FileState): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.ino === b.ino &&
    a.dev === b.dev
  )
}

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

const shrunk = (key: string) => new StoreError('changed', `Cannot read "${key}": it shrank while it was read`)

export function isAbsence(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR|ELOOP|ENAMETOOLONG|ENXIO|EINVAL|ERR_INVALID_ARG_VALUE)$/.test(codeOf(error))
}

/** Converts any error to a StoreError, with `retryAfter` if it is likely to be temporary. */
export function toStoreError(error: unknown, key: string): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  const kind = code === 'EACCES' || code === 'EPERM' ? 'denied' : 'unavailable'
  const passing = code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN' ? { retryAfter: 1 } : {}
  return new StoreError(kind, `Cannot read "${key}": ${code || String(error)}`, { cause: error, ...passing })
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}
