import { closeSync, fstatSync, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { checkOptions, flag, type OptionsOf, whole } from '../kit/checked.ts'
import { isCrowded } from '../kit/limits/slice-memory.ts'
import { withFastReads } from './fast.ts'
import { Directory, type Located } from './fs/directory.ts'
import { instant, readIntoBuffer, readShort, SLICE, toEntry, toStoreError } from './fs/file.ts'
import { Lister } from './fs/list.ts'
import { readSliced } from './fs/slices.ts'
import { Tails } from './fs/tails.ts'
import { type ByteRange, checkConditions, type Store } from './store.ts'

/** Tails up to this size are kept in memory, together with the byte before them. */
const SHORT_TAIL = 2 * SLICE + 1

/** How a directory is read. */
const FS = {
  /** Whether to include files in subfolders, with slashes in their keys. @default false */
  nested: flag,
  /** With `nested`: a link may not lead out of this many folders of its key, or out of its own. @default 0 */
  linkDepth: whole(0),
}
export type FsOptions = OptionsOf<typeof FS>

/**
 * The regular files directly in a directory, and the symbolic links there whose target is a regular file inside it.
 * The directory need not exist yet: until it does, every call is a StoreError `unavailable`.
 */
export function fsStore(path: string, options: FsOptions = {}): Store {
  if (typeof path !== 'string' || path === '')
    throw new TypeError('Cannot use this as a directory: pass its path, such as /var/log/db.')
  checkOptions(options, FS, { what: 'fsStore' })
  const { nested = false, linkDepth } = options
  const directory = new Directory(path, nested, linkDepth)
  const lister = new Lister(directory)
  const tails = new Tails()

  const store: Store = {
    nested,
    list: (prefix = '', options = {}) => lister.walk(prefix, options),

    async stat(key) {
      const found = await directory.find(key)
      // Opens the file to refuse what a read would refuse, so that HEAD and GET agree.
      return withFile(directory, key, found, async (fd) => toEntry(key, fstatSync(fd)))
    },

    async read(key, range, options = {}) {
      const found = await directory.find(key)
      const suffix = shortSuffix(range)
      // Both are checked before the file is opened: an unchanged file or a cached tail costs one lstat.
      const kept = found && suffix !== null ? tails.get(key, found.stats, suffix) : null
      if (found) checkConditions(kept?.entry ?? toEntry(key, found.stats), options)
      if (kept) return kept
      return withFile(directory, key, found, async (fd, keepOpen) => {
        if (suffix !== null) return tails.read(fd, key, suffix, (entry) => checkConditions(entry, options))
        const short = readShort(fd, key, range, options)
        if (short) return short
        const long = readSliced({ fd, key, range, options })
        keepOpen()
        return long
      })
    },

    watch(key, changed) {
      // Watch the folder, not the file: a rotation replaces the file under its name.
      try {
        const target = directory.look(key)?.path ?? key
        const names = new Set([basename(key), basename(String(target))])
        const folder = dirname(directory.pathOf(key))
        const watcher = watch(folder, { persistent: false }, (_event, name) => {
          if (name === null || names.has(name)) changed()
        })
        watcher.on('error', () => watcher.close())
        return () => watcher.close()
      } catch {
        return () => {}
      }
    },
  }

  return withFastReads(store, {
    listAll: (prefix, most) => lister.list(prefix, most),
    // A folder's times do not change with the folders inside it.
    revision: () => (nested ? null : revisionOf(path)),
    async readInto(key, range, buffer, options) {
      const found = await directory.find(key)
      return withFile(directory, key, found, (fd) => readIntoBuffer(fd, key, range, { ...options, buffer }))
    },
  })
}

/** Runs `use` on an open file, which is closed after that unless `use` keeps it open; null when there is no file. */
async function withFile<T>(
  directory: Directory,
  key: string,
  found: Located | null,
  use: (fd: number, keepOpen: () => void) => Promise<T>,
): Promise<T | null> {
  const fd = found && directory.open(key, found)
  if (fd === null) {
    directory.require()
    return null
  }
  let kept = false
  try {
    return await use(fd, () => {
      kept = true
    })
  } catch (error) {
    throw toStoreError(error, key)
  } finally {
    if (!kept) closeSync(fd)
  }
}

/** The length of a tail that may be kept in memory; null for longer ones, for other ranges and in a crowd. */
function shortSuffix(range: ByteRange | undefined): number | null {
  if (range === undefined || !('suffix' in range) || range.suffix > SHORT_TAIL) return null
  return isCrowded(range.suffix) ? null : range.suffix
}

function revisionOf(path: string): string | null {
  try {
    const stats = statSync(path)
    return `${stats.ino}-${instant(stats.mtimeMs)}-${instant(stats.ctimeMs)}`
  } catch {
    return null
  }
}
