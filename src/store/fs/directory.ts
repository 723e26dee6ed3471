import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { sharedRun } from '../../kit/limits/once.ts'
import { StoreError } from '../store.ts'
import { isAbsence, toStoreError } from './file.ts'

/** O_NONBLOCK: a FIFO put in a file's place between lstat and open does not hang. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const MAYBE = { throwIfNoEntry: false } as const

/** A regular file, with links resolved. */
export interface Located {
  path: string | Buffer
  stats: Stats
}

/**
 * Finds files by key in a directory and, if `nested`, in the folders below it, where a key is a path with slashes.
 * Only regular files count, and links to regular files inside. Folders behind links are not entered.
 */
export class Directory {
  readonly path: string
  readonly nested: boolean
  readonly #linkDepth: number
  readonly #base: string
  #raw: { folder: string; names: () => Promise<Buffer[]> } | null = null

  constructor(path: string, nested: boolean, linkDepth = 0) {
    this.path = path
    this.nested = nested
    this.#linkDepth = linkDepth
    this.#base = path.endsWith(sep) ? path : path + sep
  }

  /** Whether a key can name a file here: no system's separator, no `..`, no empty segment. */
  isKey(key: string): boolean {
    return this.nested ? key.split('/').every(isPlainName) : isPlainName(key)
  }

  /** The path of a key or of a folder, whose key ends in a slash. */
  pathOf(key: string): string {
    return this.#base + (sep === '/' ? key : key.replaceAll('/', sep))
  }

  find(key: string): Located | Promise<Located | null> {
    return this.look(key) ?? this.findRaw(key)
  }

  /** The same without files whose names are not UTF-8, in one `lstat`. */
  look(key: string): Located | null {
    if (!this.isKey(key)) return null
    const path = this.pathOf(key)
    try {
      const stats = lstatSync(path, MAYBE)
      if (stats === undefined || !this.isReal(key)) return null
      if (stats.isFile()) return { path, stats }
      return stats.isSymbolicLink() ? this.#lookBehind(path, key) : null
    } catch (error) {
      if (isAbsence(error)) return null
      throw toStoreError(error, key)
    }
  }

  /** A descriptor of a file that was just found; null if it has since been removed or replaced. */
  open(key: string, found: Located): number | null {
    let fd: number
    try {
      fd = openSync(found.path, OPEN_FLAGS)
    } catch (error) {
      // ELOOP: the name became a link after it was found. The next request checks it again.
      if (isAbsence(error)) return null
      throw toStoreError(error, key)
    }
    const stats = fstatSync(fd)
    if (stats.isFile() && !this.#wasExchanged(key, found, stats)) return fd
    closeSync(fd)
    return null
  }

  /** Throws when the directory itself is missing: a missing file is null, a missing directory is a failure. */
  require(): void {
    let stats: Stats | undefined
    try {
      stats = statSync(this.path, MAYBE)
    } catch (error) {
      throw toStoreError(error, '.')
    }
    if (!stats?.isDirectory())
      throw new StoreError('unavailable', `Cannot read "${this.path}": it is not a directory`)
  }

  /** Whether no folder on the way to a key is a link. */
  isReal(key: string): boolean {
    const slash = key.lastIndexOf('/')
    if (slash < 0) return true
    const folder = realpathSync.native(this.pathOf(key.slice(0, slash)))
    return folder === join(realpathSync.native(this.path), key.slice(0, slash))
  }

  /** A link counts if its real target is a regular file inside the folder it may not leave, compared at a separator. */
  #lookBehind(path: string, key: string): Located | null {
    const target = realPathOf(path)
    const folders = key.split('/').slice(0, -1)
    const root = join(realpathSync.native(this.path), ...folders.slice(0, this.#linkDepth))
    if (!target?.startsWith(root.endsWith(sep) ? root : root + sep)) return null
    const stats = lstatSync(target, MAYBE)
    return stats?.isFile() ? { path: target, stats } : null
  }

  /** A file whose name is not UTF-8, found by the replacement characters it is listed with; the first match wins. */
  async findRaw(key: string): Promise<Located | null> {
    if (!key.includes('\uFFFD') || !this.isKey(key)) return null
    const slash = key.lastIndexOf('/') + 1
    const folder = this.pathOf(key.slice(0, slash))
    const name = key.slice(slash)
    try {
      if (!this.isReal(key)) return null
      const raw = (await this.#rawNames(folder)).find((raw) => raw.toString() === name)
      if (!raw) return null
      const path = Buffer.concat([Buffer.from(folder), raw])
      const stats = lstatSync(path)
      return stats.isFile() ? { path, stats } : null
    } catch (error) {
      if (isAbsence(error)) return null
      throw toStoreError(error, key)
    }
  }

  /** The names in a folder that are not UTF-8, as bytes. Only one folder is read at a time. */
  #rawNames(folder: string): Promise<Buffer[]> {
    if (this.#raw?.folder !== folder) {
      const read = () => readdir(folder, { encoding: 'buffer' })
      this.#raw = { folder, names: sharedRun(async () => (await read()).filter((raw) => !isUtf8(raw))) }
    }
    return this.#raw.names()
  }

  /** Whether a link or a folder on the path was replaced between lstat and open, so that a different file is open. */
  #wasExchanged(key: string, found: Located, opened: Stats): boolean {
    if (typeof found.path !== 'string') return false
    if (found.path === this.pathOf(key) && !key.includes('/')) return false
    const again = this.look(key)
    return again === null || again.stats.ino !== opened.ino || again.stats.dev !== opened.dev
  }
}

function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

/** The target of a link; null if it is missing or not accessible: one such link must not fail the whole list. */
function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}
