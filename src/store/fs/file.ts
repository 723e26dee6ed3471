import { read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { type Entry, StoreError } from '../store.ts'

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

export const shrunk = (key: string) =>
  new StoreError('changed', `Cannot read "${key}": it shrank while it was read`)

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
