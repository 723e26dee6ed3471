import { readSync, type Stats } from 'node:fs'
import { type Entry, type ReadOptions, StoreError } from '../store.ts'

/** A range up to here is read at once; a larger one comes in slices of this size, with a turn of the event loop between. */
export const SLICE = 512 * 1024

/** What tells one state of a file from another. */
export type FileState = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

/** Reads exactly the bytes [offset, offset + length) into `into`; a file that ends before is a StoreError `changed`. */
export function readInto(
  fd: number,
  key: string,
  into: Uint8Array,
  at: number,
  length: number,
  offset: number,
): void {
  for (let done = 0; done < length; ) {
    const count = readSync(fd, into, at + done, length - done, offset + done)
    if (count === 0) throw shrunk(key)
    done += count
  }
}

/** Reads a range into memory of its own: 5 µs from the page cache where the promises cost 110. */
export function readAtOnce(fd: number, key: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  readInto(fd, key, bytes, 0, length, offset)
  return bytes
}

/** What the system says of a file, as an entry. In decimal: other digits take ten times as long to write. */
export function toEntry(key: string, stats: FileState): Entry {
  const { size, mtimeMs, ctimeMs } = stats
  const id = `${stats.dev}-${stats.ino}`
  const times = ctimeMs === mtimeMs ? instant(mtimeMs) : `${instant(mtimeMs)}-${instant(ctimeMs)}`
  return { key, size, modified: Math.floor(mtimeMs), etag: `"${id}-${size}-${times}"`, id }
}

/** A time with all that its double carries, a quarter of a microsecond; bigint stats would cost twice as much. */
export function instant(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${seconds}.${Math.round((ms - seconds * 1000) * 4096)}`
}

/** Whether two looks at a file saw the same: what `toEntry` makes an etag of, without the text. */
export function isSame(a: FileState, b: FileState): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.ino === b.ino &&
    a.dev === b.dev
  )
}

/** Throws when the conditions of a read do not hold for an entry. */
export function checkConditions(entry: Entry, options: ReadOptions): void {
  if (options.ifMatch !== undefined && options.ifMatch !== entry.etag) throw replaced(entry.key)
  if (options.ifNoneMatch === entry.etag) throw UNCHANGED
}

/** One for all: it is no failure, and a stack of its own would cost a third of the answer. */
export const UNCHANGED = new StoreError('unchanged', 'Did not read the file: it is unchanged')

export const shrunk = (key: string) =>
  new StoreError('changed', `Cannot read "${key}": it shrank while it was read`)

export const replaced = (key: string) => new StoreError('changed', `Cannot read "${key}": it was replaced`)

const ABSENT = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENXIO',
  'EINVAL',
  'ERR_INVALID_ARG_VALUE',
])

/** Whether an error of the system means that there is no such file. */
export function isAbsence(error: unknown): boolean {
  return ABSENT.has(codeOf(error))
}

/** Any error as the contract's: what may pass by itself says when. */
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
