import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { byCodePoint, type Entry, type ListOptions } from '../store.ts'
import type { Directory } from './directory.ts'
import { isAbsence, toEntry, toStoreError } from './file.ts'

/** Files examined between two turns of the event loop: 1 to 2 ms. */
export const BATCH = 500

interface WalkOptions extends ListOptions {
  /** The names in the directory itself, which other lists may share. @default they are read */
  names?: () => Promise<readonly string[]>
  /** Called with a name under which there is no file, or none any more. */
  missed?: (key: string) => void
}

/** Lists a directory as the contract requires: one folder at a time, and only folders that may contain the keys. */
export async function* walk(directory: Directory, prefix: string, options: WalkOptions) {
  let left = options.limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  const top = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  if (top !== '' && !directory.isKey(top.slice(0, -1))) return
  for await (const entry of walkFolder(directory, top, prefix, options)) {
    yield entry
    if (--left <= 0) return
  }
}

async function* walkFolder(
  directory: Directory,
  folder: string,
  prefix: string,
  options: WalkOptions,
): AsyncGenerator<Entry> {
  const { signal, shallow = false, folders = false, after = '' } = options
  let looks = 0
  const names = folder === '' && options.names ? options.names() : namesIn(directory, folder)
  for (const name of await names) {
    signal?.throwIfAborted()
    const key = folder + name
    if (!key.startsWith(prefix)) continue
    if (!name.endsWith('/')) {
      if (after !== '' && byCodePoint(key, after) <= 0) continue
      if (++looks % BATCH === 0) await nextTurn()
      const found = await directory.find(key)
      if (found) yield toEntry(key, found.stats)
      else options.missed?.(key)
    } else if (shallow) {
      if (folders && byCodePoint(key, after) > 0)
        yield { key, size: 0, modified: 0, etag: '""', folder: true }
    } else if (after.startsWith(key) || byCodePoint(key, after) > 0) {
      yield* walkFolder(directory, key, prefix, options)
    }
  }
}

/**
 * The names in a folder in key order, each once; folders end in a slash, and sort by it. A name that is not UTF-8 has
 * U+FFFD. If two of them look the same, only the first can be read, so only one is listed.
 */
export async function namesIn(directory: Directory, folder: string): Promise<string[]> {
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
