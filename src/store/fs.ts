import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
  watch,
} from 'node:fs'
import { basename, sep } from 'node:path'
import {
  checkConditions,
  instant,
  isAbsence,
  isSame,
  readAtOnce,
  SLICE,
  toEntry,
  toStoreError,
  UNCHANGED,
} from './fs/file.ts'
import { readLent } from './fs/into.ts'
import { Lister } from './fs/list.ts'
import { readSliced } from './fs/slices.ts'
import { Snapshots, sendableFiles } from './fs/snapshots.ts'
import { Tails } from './fs/tails.ts'
import { clampRange, type ReadOptions, type Store, StoreError, type StoreRead } from './store.ts'

/** O_NONBLOCK: a FIFO put in a file's place between lstat and open does not hang. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** How often a range is read anew when the file changed under it: 10 µs each, and appends are rarer than that. */
const TRIES = 10
/** A tail up to here is kept and sent in one piece; it is read with the byte before it. */
const SHORT_TAIL = 2 * SLICE + 1

/** How a directory is read. */
export interface FsOptions {
  /**
   * Whether the server can send files itself. The answer must then be given to it in the same turn of the event loop.
   * Counts on Bun alone. @default false
   */
  sendsFiles?: boolean
}

/**
 * The regular files directly in `directory`, and the symbolic links there whose target is a regular file inside it.
 * The directory need not exist yet: until it does, every call is a StoreError `unavailable`.
 */
export function fsStore(directory: string, { sendsFiles = false }: FsOptions = {}): Store {
  const tails = new Tails()
  const files = sendsFiles ? sendableFiles() : null
  const snapshots = files && new Snapshots(tails, files)
  const look = (name: string) => locate(directory, name)?.stats ?? null
  const lister = new Lister(directory, withSeparator(directory), look)
  return {
    list: (prefix = '') => ({
      all: () => lister.list(prefix),
      async *[Symbol.asyncIterator]() {
        yield* await lister.list(prefix)
      },
    }),

    async stat(key) {
      const found = locate(directory, key)
      // Opened, for what a read would refuse a look refuses too: HEAD answers as GET does.
      const fd = found && open(directory, key, found)
      if (found === null || fd === null) {
        requireDirectory(directory)
        return null
      }
      closeSync(fd)
      return toEntry(key, found.stats)
    },

    async read(key, range, options = {}) {
      const found = locate(directory, key)
      const suffix =
        range !== undefined && 'suffix' in range && range.suffix <= SHORT_TAIL ? range.suffix : null
      if (found && suffix !== null) {
        const kept = tails.get(key, found.stats, suffix, files !== null && options.sent)
        if (kept && kept.entry.etag === options.ifNoneMatch) return unchanged
        if (kept) checkConditions(kept.entry, options)
        if (kept) return kept
      }
      // Judged before it is opened: what is unchanged costs one look.
      if (found && options.ifNoneMatch !== undefined)
        if (toEntry(key, found.stats).etag === options.ifNoneMatch) return unchanged
      const sent = suffix === null && options.sent ? snapshots : null
      const copied = found && sent?.get(key, found.stats, range, options)
      if (copied) return copied
      const fd = found && open(directory, key, found)
      if (fd === null) {
        requireDirectory(directory)
        return null
      }
      let streaming = false
      try {
        if (suffix !== null) return tails.read(fd, key, suffix, (entry) => checkConditions(entry, options))
        const lent = options.into && (await readLent(fd, key, range, options, options.into))
        if (lent) return lent
        const copy = await sent?.read(fd, key, range, options)
        if (copy) return copy
        const short = readShort(fd, key, range, options)
        if (short) return short
        const long = readSliced(fd, key, range, options, tails)
        streaming = true
        return long
      } catch (error) {
        throw toStoreError(error, key)
      } finally {
        if (!streaming) closeSync(fd)
      }
    },

    unchanged(key, etag) {
      const found = locate(directory, key)
      if (!found) return false
      const entry = tails.known(key, found.stats)?.entry ?? toEntry(key, found.stats)
      return entry.etag === etag
    },

    watch(key, changed) {
      // The directory is watched, not the file: a rotation replaces the file under its name.
      try {
        const target = locate(directory, key)?.path ?? key
        const names = new Set([key, basename(String(target))])
        const watcher = watch(directory, { persistent: false }, (_event, name) => {
          if (name === null || names.has(name)) changed()
        })
        watcher.on('error', () => watcher.close())
        return () => watcher.close()
      } catch {
        return () => {}
      }
    },

    revision() {
      try {
        const stats = statSync(directory)
        return `${stats.ino}-${instant(stats.mtimeMs)}-${instant(stats.ctimeMs)}`
      } catch {
        return null
      }
    },
  } satisfies Store
}

/** Returned, not thrown: a throw costs a fifth of the answer, and an unchanged file is the most common one. */
const unchanged: Promise<never> = Promise.reject(UNCHANGED)
unchanged.catch(() => {})

/** Whether a name can be an entry at all: no separator of any system, no way up, nothing empty. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

interface Located {
  path: string | Buffer
  stats: Stats
}

/** The regular file behind a name, links inside the directory resolved; null when the name is none of ours. */
function locate(directory: string, name: string): Located | null {
  if (!isPlainName(name)) return null
  const path = withSeparator(directory) + name
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return name.includes('\uFFFD') ? locateRaw(directory, name) : null
    if (stats.isFile()) return { path, stats }
    return stats.isSymbolicLink() ? locateLink(directory, path) : null
  } catch (error) {
    if (isAbsence(error)) return null
    throw toStoreError(error, name)
  }
}

/** A link counts when its real target lies inside the real directory, judged at a separator, and is a regular file. */
function locateLink(directory: string, path: string): Located | null {
  const target = realPathOf(path)
  if (target === null || !target.startsWith(withSeparator(realpathSync.native(directory)))) return null
  const stats = lstatSync(target, { throwIfNoEntry: false })
  return stats?.isFile() ? { path: target, stats } : null
}

/** Where a link leads; null when that is nowhere or cannot be seen: one such link must not fail the whole list. */
function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

/** A file whose name is not UTF-8, by the replacement characters it is listed with: the first that looks so. */
function locateRaw(directory: string, name: string): Located | null {
  for (const raw of readdirSync(directory, { encoding: 'buffer' })) {
    if (raw.toString() !== name) continue
    const path = Buffer.concat([Buffer.from(withSeparator(directory)), raw])
    const stats = lstatSync(path)
    if (stats.isFile()) return { path, stats }
  }
  return null
}

/** An open descriptor of the regular file behind a name, or null. */
function open(directory: string, name: string, found: Located): number | null {
  let fd: number
  try {
    fd = openSync(found.path, OPEN_FLAGS)
  } catch (error) {
    // ELOOP: the name became a link since it was located. It is judged anew by the next request.
    if (isAbsence(error)) return null
    throw toStoreError(error, name)
  }
  const stats = fstatSync(fd)
  if (!stats.isFile() || escaped(directory, name, found, stats)) {
    closeSync(fd)
    return null
  }
  return fd
}

/** Whether a link's target was exchanged between the check and the open, so that another file was opened. */
function escaped(directory: string, name: string, found: Located, opened: Stats): boolean {
  if (found.path === withSeparator(directory) + name || typeof found.path !== 'string') return false
  const again = locate(directory, name)
  return again === null || again.stats.ino !== opened.ino || again.stats.dev !== opened.dev
}

/**
 * A range that is at most a slice, in memory of its own, taken while the file did not change: the stats before and
 * after are the same. A truncation and a regrowth between the size and the bytes would else put another text under
 * this size. Null when it is longer. A file that never rests is read all the same, as long as it only grows.
 */
function readShort(
  fd: number,
  key: string,
  range: Parameters<Store['read']>[1],
  options: ReadOptions,
): StoreRead | null {
  for (let tries = 1; ; tries++) {
    const before = fstatSync(fd)
    const entry = toEntry(key, before)
    checkConditions(entry, options)
    const { offset, length } = clampRange(range, entry.size)
    if (length > SLICE) return null
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
    if (tries >= 2 * TRIES) throw new StoreError('changed', `Cannot read "${key}": it changes all the time`)
  }
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep
}

/** A file that is not there and a directory that is not there differ: null, and a failure. */
function requireDirectory(directory: string): void {
  let stats: Stats | undefined
  try {
    stats = statSync(directory, { throwIfNoEntry: false })
  } catch (error) {
    throw toStoreError(error, '.')
  }
  if (!stats?.isDirectory())
    throw new StoreError('unavailable', `Cannot read "${directory}": it is not a directory`)
}
