import { type Dirent, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sharedRun } from '../../kit/limits/once.ts'
import { byCodePoint, type Entry, type ListOptions } from '../store.ts'
import type { Directory } from './directory.ts'
import { isAbsence, toEntry, toStoreError } from './file.ts'

/** Files examined between two turns of the event loop: 1 to 2 ms. */
const BATCH = 500
/** How often a directory whose files keep moving is read: for the files of a log, and for all files. */
const MAX_LOOKS = 20
const LOOKS_AT_ALL = 5
/** The kernel's file times tick every 1 to 10 ms. */
const TICK_MS = 20

interface WalkOptions extends ListOptions {
  /** Called with a name under which there is no file, or none any more. */
  missed?: (key: string) => void
}

/** Lists a directory as the contract requires: one folder at a time, and only folders that may contain the keys. */
export class Lister {
  readonly #directory: Directory
  /** The names in the directory. Concurrent lists share them: those of 250,000 files take 20 MB. */
  readonly #names: () => Promise<readonly string[]>

  constructor(directory: Directory) {
    this.#directory = directory
    this.#names = sharedRun(() => namesIn(directory, ''))
  }

  /**
   * The first files whose keys begin with `prefix`, at one moment: they may be files of one log, which is rotated
   * meanwhile. All files of a tree of folders are not read again.
   */
  async list(prefix: string, limit: number): Promise<Entry[]> {
    const pass = async (missed?: (key: string) => void) => {
      const entries: Entry[] = []
      for await (const some of this.#walk(prefix, { limit, ...(missed && { missed }) })) entries.push(...some)
      return entries
    }
    const { nested } = this.#directory
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    if ((nested && prefix === '') || !this.#isFolder(folder)) return pass()
    return atOneMoment(this.#directory.pathOf(folder), pass, prefix === '' ? LOOKS_AT_ALL : MAX_LOOKS)
  }

  async *walk(prefix: string, options: ListOptions): AsyncGenerator<Entry> {
    for await (const entries of this.#walk(prefix, options)) yield* entries
  }

  /** In batches: awaiting 10,000 entries one by one takes as long as looking at the files. */
  async *#walk(prefix: string, options: WalkOptions): AsyncGenerator<Entry[]> {
    let left = options.limit ?? Number.POSITIVE_INFINITY
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    if (left <= 0 || !this.#isFolder(folder)) return
    for await (const entries of this.#walkFolder(folder, prefix, options)) {
      yield entries.length > left ? entries.slice(0, left) : entries
      left -= entries.length
      if (left <= 0) return
    }
  }

  async *#walkFolder(folder: string, prefix: string, options: WalkOptions): AsyncGenerator<Entry[]> {
    const { signal, shallow = false, folders = false, after = '', limit = BATCH } = options
    const most = Math.min(limit, BATCH)
    let entries: Entry[] = []
    let looks = 0
    for (const name of await (folder === '' ? this.#names() : namesIn(this.#directory, folder))) {
      signal?.throwIfAborted()
      const key = folder + name
      if (!key.startsWith(prefix)) continue
      if (!name.endsWith('/')) {
        if (after !== '' && byCodePoint(key, after) <= 0) continue
        if (++looks % BATCH === 0) await nextTurn()
        let found = this.#directory.look(key)
        if (!found && key.includes('\uFFFD')) found = await this.#directory.findRaw(key)
        if (found) entries.push(toEntry(key, found.stats))
        else options.missed?.(key)
      } else if (shallow) {
        if (folders && byCodePoint(key, after) > 0)
          entries.push({ key, size: 0, modified: 0, etag: '""', folder: true })
      } else if (after.startsWith(key) || byCodePoint(key, after) > 0) {
        yield entries
        entries = []
        yield* this.#walkFolder(key, prefix, options)
      }
      if (entries.length < most) continue
      yield entries
      entries = []
    }
    yield entries
  }

  #isFolder(folder: string): boolean {
    return folder === '' || (this.#directory.nested && this.#directory.isKey(folder.slice(0, -1)))
  }
}

/**
 * The files that a pass through a folder finds, at one moment. Names and files are read one after the other, and a
 * rotation in between would hide a file that moved from one name to another. So a pass counts if the folder was unchanged
 * since before it began, or if two passes saw the same files under the same names, and missed the same names. Otherwise,
 * a file that is renamed during one pass and compressed during the next could be lost from both.
 */
export async function atOneMoment(
  folder: string,
  pass: (missed: (key: string) => void) => Promise<Entry[]>,
  most = MAX_LOOKS,
): Promise<Entry[]> {
  let before: string | null = null
  for (let looks = 1; ; looks++) {
    const rested = restedSince(folder)
    const gone: string[] = []
    const entries = await pass((key) => gone.push(key))
    if (looks >= most || (rested !== null && rested === restedSince(folder))) return entries
    const now = [...entries.map(({ key, id }) => `${id} ${key}`), ...gone].join('/')
    if (before === now) return entries
    before = now
  }
}

/** The time of a directory's last change; null if that is so recent that another change might not show. */
function restedSince(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return null
  const changed = Math.max(stats.mtimeMs, stats.ctimeMs)
  return Date.now() - changed > TICK_MS ? changed : null
}

/**
 * The names in a folder in key order, each once; folders end in a slash, and sort by it. A name that is not UTF-8 has
 * U+FFFD. If two of them look the same, only the first can be read, so only one is listed.
 */
async function namesIn(directory: Directory, folder: string): Promise<string[]> {
  try {
    if (!directory.isReal(folder)) return []
    const names = await readFolder(directory, folder)
    // Without surrogates, UTF-16 order equals UTF-8 order, and engines sort by it fast.
    names.sort(names.some((name) => /[\ud800-\udfff]/.test(name)) ? byCodePoint : undefined)
    return names.filter((name, i) => name !== names[i - 1])
  } catch (error) {
    // A folder may disappear while its parent is walked; the root directory must exist.
    if (folder !== '' && isAbsence(error)) return []
    throw toStoreError(error, folder || '.')
  }
}

/** Without folders the names are enough: 300,000 of them take a third of the memory. */
async function readFolder(directory: Directory, folder: string): Promise<string[]> {
  const path = directory.pathOf(folder)
  if (!directory.nested) return readdir(path)
  return (await readdir(path, { withFileTypes: true })).flatMap(nameOf)
}

function nameOf(entry: Dirent): string[] {
  if (!entry.isDirectory()) return [entry.name]
  return /[\\\uFFFD]/.test(entry.name) ? [] : [`${entry.name}/`]
}
