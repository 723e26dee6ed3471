import { type Stats, statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sharedRun } from '../../kit/limits/once.ts'
import { byCodePoint, type Entry } from '../store.ts'
import type { Directory } from './directory.ts'
import { type FileState, isSame, toEntry } from './file.ts'
import { BATCH, namesIn } from './walk.ts'

/** How often a directory whose files keep moving is read: for the files of a log, and for all files. */
const MAX_LOOKS = 20
const LOOKS_AT_ALL = 5
/** The kernel's file times tick every 1 to 10 ms. */
const TICK_MS = 20

/** An entry with the state it was made from: most files of a list are unchanged, and 10,000 new entries are 3 MB. */
interface Seen extends FileState {
  entry: Entry
}

/** What a list is made from: the last one, as far as its files are still there. */
interface Merging {
  last?: readonly Seen[]
  renewed?: readonly (Seen | null)[]
  most?: number
  missed: Missed
}

/** Called with a name under which there is no file, or none any more. */
type Missed = (key: string) => void

/**
 * Lists the files directly in a directory, repeatedly: each list stats every file once, but creates new entries only
 * for files that changed.
 */
export class Lister {
  readonly #directory: Directory
  readonly #names: () => Promise<readonly string[]>
  #last: Seen[] = []
  /** The names that were read last, while a list still uses them, and the state of the directory then. */
  #kept: { names: WeakRef<readonly string[]>; state: number } | null = null

  constructor(directory: Directory) {
    this.#directory = directory
    this.#names = sharedRun(() => this.#read())
  }

  /** The names in the directory. Lists share them while it is unchanged: those of 250,000 files take 20 MB. */
  names(): Promise<readonly string[]> {
    return this.#names()
  }

  async #read(): Promise<readonly string[]> {
    const before = restedSince(this.#directory.path)
    const kept = before !== null && this.#kept?.state === before ? this.#kept.names.deref() : undefined
    if (kept) return kept
    const names = await namesIn(this.#directory, '')
    const isCertain = before !== null && before === restedSince(this.#directory.path)
    this.#kept = isCertain ? { names: new WeakRef(names), state: before } : null
    return names
  }

  /** The first entries whose names begin with `prefix`, in key order. Without one, too, they may be files of one log. */
  list(prefix: string, most: number): Promise<Entry[]> {
    const { path } = this.#directory
    if (prefix !== '') return atOneMoment(path, (missed) => this.#family(prefix, missed))
    return atOneMoment(path, (missed) => this.#all(most, missed), LOOKS_AT_ALL)
  }

  async #all(most: number, missed: Missed): Promise<Entry[]> {
    // Stat the files of the last list while another thread reads the names: most of them are the same.
    const last = this.#last
    const names = this.#names()
    names.catch(() => {})
    const renewed = await this.#renew(last)
    const now = await this.#merge(await names, { last, renewed, most, missed })
    this.#last = now
    return now.map(({ entry }) => entry)
  }

  async #family(prefix: string, missed: Missed): Promise<Entry[]> {
    const names = (await this.#names()).filter((name) => name.startsWith(prefix))
    return (await this.#merge(names, { missed })).map(({ entry }) => entry)
  }

  /** The last list's files as they are now; null for files that are gone. */
  async #renew(last: readonly Seen[]): Promise<(Seen | null)[]> {
    const renewed: (Seen | null)[] = []
    for (let i = 0; i < last.length; i++) {
      if (i % BATCH === BATCH - 1) await nextTurn()
      const seen = last[i]!
      const stats = this.#directory.look(seen.entry.key)?.stats ?? null
      renewed.push(stats && (isSame(seen, stats) ? seen : see(seen.entry.key, stats)))
    }
    return renewed
  }

  /** The names that are files: those already checked again, and the others after a stat of each. */
  async #merge(
    names: readonly string[],
    { last = [], renewed = [], most = Number.POSITIVE_INFINITY, missed }: Merging,
  ): Promise<Seen[]> {
    const merged: Seen[] = []
    let looks = 0
    let at = 0
    for (const name of names) {
      if (merged.length >= most) break
      // Both are sorted, so walking them side by side finds known files without a map of 10,000 names.
      while (at < last.length && last[at]!.entry.key !== name && byCodePoint(last[at]!.entry.key, name) < 0)
        at++
      let seen = last[at]?.entry.key === name ? renewed[at]! : null
      if (seen === null) {
        if (++looks % BATCH === 0) await nextTurn()
        const found = this.#directory.look(name) ?? (await this.#directory.findRaw(name))
        seen = found && see(name, found.stats)
      }
      if (seen === null) missed(name)
      else merged.push(seen)
    }
    return merged
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
  pass: (missed: Missed) => Promise<Entry[]>,
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

function see(name: string, { dev, ino, size, mtimeMs, ctimeMs }: Stats): Seen {
  return { dev, ino, size, mtimeMs, ctimeMs, entry: toEntry(name, { dev, ino, size, mtimeMs, ctimeMs }) }
}
