import { each } from '../../kit/limits/each.ts'
import { byCodePoint, type Entry, type Store } from '../../store/store.ts'
import { nameAt, nameAtShare, shareOf } from './layout.ts'

export const KEYS_PER_PAGE = 1000
const FOLDERS_AT_ONCE = 6

export interface FolderLevel {
  folders: string[]
  /** At most a page of them. */
  objects: Entry[]
}

/** Lists the folders of one log; `prefix` is its path, with a slash at its end if it is not empty. */
export function folderListing(store: Store, prefix: string) {
  /** Everything in a folder, given its first page. The random names of Logstash are listed in parallel. */
  async function all(folder: string, first: Entry[], signal: AbortSignal | undefined): Promise<Entry[]> {
    if (first.length > 0 && first.length < KEYS_PER_PAGE) return first
    const base = prefix + folder
    const last = first.at(-1)?.key
    const share = last === undefined ? null : shareOf(last.slice(base.length))
    const rest = share === null ? 1 : Math.min(64, Math.ceil(((1 - share) / Math.max(share, 0.001)) * 1.1))
    const starts = [last]
    for (let i = 1; i < rest; i++) starts.push(base + nameAtShare(share! + ((1 - share!) * i) / rest))
    const found: Entry[][] = new Array(starts.length)
    await each(starts, FOLDERS_AT_ONCE, async (after, i) => {
      const to = starts[i + 1]
      found[i] = []
      for await (const entry of store.list(base, { signal, ...(after !== undefined && { after }) })) {
        if (to !== undefined && byCodePoint(entry.key, to) > 0) break
        found[i]!.push(entry)
      }
    })
    return [...first, ...found.flat()]
  }

  /** A page of a folder and everything below it. A full page may not be all. */
  async function page(folder: string, options: { after?: string; shallow?: boolean }, signal?: AbortSignal) {
    const entries: Entry[] = []
    const listing = store.list(prefix + folder, { signal, limit: KEYS_PER_PAGE, ...options })
    for await (const entry of listing) entries.push(entry)
    return entries
  }

  /** The folders in a folder, and a page of the objects directly in it. */
  async function level(folder: string, signal?: AbortSignal): Promise<FolderLevel> {
    const base = prefix + folder
    const level: FolderLevel = { folders: [], objects: [] }
    for await (const entry of store.list(base, { signal, shallow: true, folders: true })) {
      if (entry.folder) level.folders.push(entry.key.slice(base.length))
      else level.objects.push(entry)
      if (level.objects.length >= KEYS_PER_PAGE) break
    }
    const isFull = level.objects.length >= KEYS_PER_PAGE
    if (folder !== '' || !isFull || !nameAt(level.objects.at(-1)!.key.slice(base.length), 0)) return level
    // Names that begin with seconds come before most dated folders; those are found behind them.
    const behind = { signal, shallow: true, folders: true, after: `${base}2`, limit: KEYS_PER_PAGE }
    for await (const entry of store.list(base, behind))
      if (entry.folder) level.folders.push(entry.key.slice(base.length))
    return level
  }
  return { all, page, level }
}
