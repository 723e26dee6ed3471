import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read as readCallback,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  watch,
} from 'node:fs'
import { basename, join, sep } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { byCodePoint, clampRange, type Entry, type ReadOptions, type Store, StoreError } from './store.ts'

/** Up to here a range is read at once, synchronously: 5 µs from the page cache where the promises cost 110. */
const AT_ONCE = 256 * 1024
/** A larger range is read and sent in slices of this size, with a turn of the event loop between. */
const SLICE = 512 * 1024
/** How many files are examined between two turns of the event loop: about 2 ms. */
const STAT_BATCH = 500
/** O_NONBLOCK: a FIFO put in a file's place between lstat and open does not hang. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** So many bytes at a range's end are read first and looked at again after each slice. */
const PROBE = 64
/** How often a range is read anew when the file changed under it: 10 µs each, and appends are rarer than that. */
const TRIES = 10

/**
 * The regular files directly in `directory`, and the symbolic links there whose target is a regular file inside it.
 * The directory need not exist yet: until it does, every call is a StoreError `unavailable`.
 */
export function fsStore(directory: string): Store {
  return {
    async *list(prefix = '') {
      const names = readNames(directory).filter((name) => name.startsWith(prefix))
      for (let i = 0; i < names.length; i++) {
        if (i > 0 && i % STAT_BATCH === 0) await turn()
        const found = locate(directory, names[i]!)
        if (found) yield toEntry(names[i]!, found.stats)
      }
    },

    async stat(key) {
      const found = locate(directory, key)
      if (!found) {
        requireDirectory(directory)
        return null
      }
      return toEntry(key, found.stats)
    },

    async read(key, range, options = {}) {
      const fd = open(directory, key)
      if (fd === null) {
        requireDirectory(directory)
        return null
      }
      let streaming = false
      try {
        const stable = readStable(fd, key, (entry) => {
          checkConditions(entry, options)
          const { offset, length } = clampRange(range, entry.size)
          const probe = length <= AT_ONCE ? length : PROBE
          return { entry, offset, length, bytes: readAtOnce(fd, key, offset + length - probe, probe) }
        })
        const { entry, offset, length, bytes } = stable
        if (length <= AT_ONCE) return { entry, offset, length, body: bytes }
        const body = stream(fd, key, offset, length, bytes, options.signal)
        streaming = true
        return { entry, offset, length, body }
      } catch (error) {
        throw toStoreError(error, key)
      } finally {
        if (!streaming) closeSync(fd)
      }
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

/** Names in key order. A name that is not UTF-8 is shown with U+FFFD, and found again by that (see `locate`). */
function readNames(directory: string): string[] {
  try {
    const names = readdirSync(directory)
    return names.sort(byCodePoint)
  } catch (error) {
    throw toStoreError(error, '.')
  }
}

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
  const path = join(directory, name)
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
  const target = realpathSync.native(path)
  if (!target.startsWith(withSeparator(realpathSync.native(directory)))) return null
  const stats = lstatSync(target, { throwIfNoEntry: false })
  return stats?.isFile() ? { path: target, stats } : null
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
function open(directory: string, name: string): number | null {
  const found = locate(directory, name)
  if (!found) return null
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
  if (found.path === join(directory, name) || typeof found.path !== 'string') return false
  const again = locate(directory, name)
  return again === null || again.stats.ino !== opened.ino || again.stats.dev !== opened.dev
}

/**
 * What `read` gives, taken while the file did not change: the stats before and after are the same. A truncation and
 * a regrowth between the size and the bytes would else put another text under this size.
 */
function readStable<T extends { entry: Entry }>(fd: number, key: string, read: (entry: Entry) => T): T {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = toEntry(key, fstatSync(fd))
    try {
      const result = read(before)
      if (toEntry(key, fstatSync(fd)).etag === before.etag) return result
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'changed') || tries === TRIES - 1) throw error
    }
  }
  throw replaced(key)
}

function readAtOnce(fd: number, key: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const count = readSync(fd, bytes, done, length - done, offset + done)
    if (count === 0) throw shrunk(key)
    done += count
  }
  return bytes
}

const readAsync = promisify(readCallback)

/**
 * The range as a stream of slices, read only as fast as they are taken. The file may be truncated and written anew
 * meanwhile: after each slice the range's last bytes are looked at again, and when they are no longer what they were
 * at first, the stream errors rather than mix two texts under one length.
 */
function stream(
  fd: number,
  key: string,
  offset: number,
  length: number,
  probe: Uint8Array,
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  const end = offset + length
  let at = offset
  let open = true
  // Waits for a read under way: a descriptor closed below a read could be another file's by then.
  let reading: Promise<unknown> = Promise.resolve()
  const release = () => {
    if (!open) return
    open = false
    signal?.removeEventListener('abort', release)
    const close = () => closeSync(fd)
    void reading.then(close, close)
  }
  signal?.addEventListener('abort', release)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (!open) throw new StoreError('unavailable', `Stopped reading "${key}": the client left`)
          const slice = readSlice(fd, key, at, Math.min(SLICE, end - at))
          reading = slice
          const bytes = await slice
          if (!open) throw new StoreError('unavailable', `Stopped reading "${key}": the client left`)
          if (Buffer.compare(readAtOnce(fd, key, end - probe.length, probe.length), probe) !== 0)
            throw replaced(key)
          at += bytes.length
          controller.enqueue(bytes)
          if (at === end) {
            release()
            controller.close()
          }
        } catch (error) {
          release()
          controller.error(toStoreError(error, key))
        }
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
}

async function readSlice(fd: number, key: string, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await readAsync(fd, bytes, done, length - done, offset + done)
    if (bytesRead === 0) throw shrunk(key)
    done += bytesRead
  }
  return bytes
}

function checkConditions(entry: Entry, options: ReadOptions): void {
  if (options.ifMatch !== undefined && options.ifMatch !== entry.etag) throw replaced(entry.key)
  if (options.ifNoneMatch === entry.etag)
    throw new StoreError('unchanged', `Did not read "${entry.key}": it is unchanged`)
}

function toEntry(key: string, stats: Stats): Entry {
  const id = `${stats.dev.toString(36)}-${stats.ino.toString(36)}`
  return {
    key,
    size: stats.size,
    modified: Math.floor(stats.mtimeMs),
    etag: `"${id}-${stats.size.toString(36)}-${instant(stats.mtimeMs)}-${instant(stats.ctimeMs)}"`,
    id,
  }
}

/** A time with all that its double carries, a quarter of a microsecond; bigint stats would cost twice as much. */
function instant(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole.toString(36)}.${Math.round((ms - whole) * 4096).toString(36)}`
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

const shrunk = (key: string) => new StoreError('changed', `Cannot read "${key}": it shrank while it was read`)
const replaced = (key: string) => new StoreError('changed', `Cannot read "${key}": it was replaced`)

const ABSENT = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENXIO',
  'EINVAL',
  'ERR_INVALID_ARG_VALUE',
])

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

function isAbsence(error: unknown): boolean {
  return ABSENT.has(codeOf(error))
}

function toStoreError(error: unknown, key: string): StoreError {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  const kind = code === 'EACCES' || code === 'EPERM' ? 'denied' : 'unavailable'
  const passing = code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN' ? { retryAfter: 1 } : {}
  return new StoreError(kind, `Cannot read "${key}": ${code || String(error)}`, { cause: error, ...passing })
}
