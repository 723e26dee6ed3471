import { type Stats, statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '../store.ts'
import type { Directory } from './directory.ts'
import { type FileState, isSame, toEntry } from './file.ts'
import { sharedRun } from './shared-run.ts'
import { BATCH, namesIn } from './walk.ts'

/** How often a directory whose files keep moving is read. */
const MAX_LOOKS = 20
/** The kernel's file times tick every 1 to 10 ms. */
const TICK_MS = 20

/** An entry with the state it was made from: most files of a list are unchanged, and 10,000 new entries are 3 MB. */
interface Seen extends FileState {
  entry: Entry
}

/** Lists the files directly in a directory, repeatedly: each list stats every file once. */
export class Lister {
  readonly #directory: Directory
  readonly #names: () => Promise<string[]>
  #last = new Map<string, Seen>()

  constructor(directory: Directory) {
    this.#directory = directory
    this.#names = sharedRun(() => namesIn(directory, ''))
  }

  /** The first entries whose names begin with `prefix`, in key order. */
  async list(prefix: string, most: number): Promise<Entry[]> {
    if (prefix !== '') return this.#family(prefix)
    this.#last = await this.#look(await this.#names(), most)
    return entriesOf(this.#last)
  }

  /**
   * The files of a prefix at one moment. Names and files are read one after the other, and a rotation in between would
   * hide a file that moved from one name to another. So a pass counts if the directory was unchanged since before it began,
   * or if two passes saw the same files under the same names.
   */
  async #family(prefix: string): Promise<Entry[]> {
    let before: string | null = null
    for (let looks = 1; ; looks++) {
      const rested = restedSince(this.#directory.path)
      const seen = await this.#look((await this.#names()).filter((name) => name.startsWith(prefix)))
      const isCertain = rested !== null && rested === restedSince(this.#directory.path)
      const now = entriesOf(seen)
        .map(({ key, id }) => `${id} ${key}`)
        .join('/')
      if (isCertain || before === now || looks >= MAX_LOOKS) return entriesOf(seen)
      before = now
    }
  }

  /** The first names that are files, with the entries of the last list where those are unchanged. */
  async #look(names: readonly string[], most = Number.POSITIVE_INFINITY): Promise<Map<string, Seen>> {
    const seen = new Map<string, Seen>()
    let looks = 0
    for (const name of names) {
      if (seen.size >= most) break
      if (++looks % BATCH === 0) await nextTurn()
      const found = this.#directory.look(name) ?? (await this.#directory.findRaw(name))
      if (!found) continue
      const last = this.#last.get(name)
      seen.set(name, last && isSame(last, found.stats) ? last : see(name, found.stats))
    }
    return seen
  }
}

function entriesOf(seen: ReadonlyMap<string, Seen>): Entry[] {
  return Array.from(seen.values(), ({ entry }) => entry)
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
