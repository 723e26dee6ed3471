import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { byCodePoint, type Entry } from '../store.ts'
import { type FileState, isSame, toEntry, toStoreError } from './file.ts'

/** How many files are examined between two turns of the event loop: 1 to 2 ms. */
const BATCH = 500
/** From here on the names are read by another thread: that costs 0.1 ms, and saves half a microsecond per name. */
const MANY = 1000
const LOOK = { throwIfNoEntry: false } as const

/** An entry with what it was made of: most files of a list are what they were, and 10,000 new entries are 3 MB. */
interface Seen extends FileState {
  entry: Entry
}

/** Lists a directory again and again: each time one look at every file, but new entries only for those that changed. */
export class Lister {
  readonly #directory: string
  readonly #base: string
  readonly #locate: (name: string) => Stats | null
  #last: Seen[] = []

  /** `base` is the directory with a separator at its end; `locate` judges what is no regular file at first sight. */
  constructor(directory: string, base: string, locate: (name: string) => Stats | null) {
    this.#directory = directory
    this.#base = base
    this.#locate = locate
  }

  /** The entries whose names begin with `prefix`, in key order. */
  async list(prefix: string): Promise<Entry[]> {
    if (prefix !== '') {
      const names = readNames(this.#directory).filter((name) => name.startsWith(prefix))
      return (await this.#merge(names, [], [])).map(({ entry }) => entry)
    }
    // What was there the last time is looked at while the names are read: most of them are the same.
    const last = this.#last
    const names = last.length < MANY ? readNames(this.#directory) : readNamesBeside(this.#directory)
    const renewed = await this.#renew(last)
    const now = await this.#merge(await names, last, renewed)
    this.#last = now
    return now.map(({ entry }) => entry)
  }

  /** What was seen, as it is now; null where there is no such file any more. */
  async #renew(last: readonly Seen[]): Promise<(Seen | null)[]> {
    const renewed: (Seen | null)[] = []
    for (let from = 0; from < last.length; from += BATCH) {
      if (from > 0) await turn()
      this.#renewSome(last, from, renewed)
    }
    return renewed
  }

  #renewSome(last: readonly Seen[], from: number, renewed: (Seen | null)[]): void {
    const to = Math.min(from + BATCH, last.length)
    for (let i = from; i < to; i++) {
      const seen = last[i]!
      const stats = this.#look(seen.entry.key)
      renewed.push(stats && (isSame(seen, stats) ? seen : see(seen.entry.key, stats)))
    }
  }

  /** The names that are files: what was renewed, and a look at each of the others. */
  async #merge(names: string[], last: readonly Seen[], renewed: (Seen | null)[]): Promise<Seen[]> {
    const merged: Seen[] = []
    let looks = 0
    let at = 0
    for (const name of names) {
      // Both are in order: one walk beside the other finds what is known, without a table of 10,000 names.
      while (at < last.length && last[at]!.entry.key !== name && byCodePoint(last[at]!.entry.key, name) < 0)
        at++
      let seen = last[at]?.entry.key === name ? renewed[at]! : null
      if (seen === null) {
        if (++looks % BATCH === 0) await turn()
        const stats = this.#look(name)
        seen = stats && see(name, stats)
      }
      if (seen !== null) merged.push(seen)
    }
    return merged
  }

  /** A regular file takes one call. What it is not, and what fails, is judged as a read would judge it. */
  #look(name: string): Stats | null {
    if (name.includes('\\')) return null
    try {
      const stats = lstatSync(this.#base + name, LOOK)
      if (stats?.isFile()) return stats
    } catch {}
    return this.#locate(name)
  }
}

function see(name: string, { dev, ino, size, mtimeMs, ctimeMs }: Stats): Seen {
  return { dev, ino, size, mtimeMs, ctimeMs, entry: toEntry(name, { dev, ino, size, mtimeMs, ctimeMs }) }
}

/** Names in key order, each once. A name that is not UTF-8 is shown with U+FFFD, and found again by that. */
function readNames(directory: string): string[] {
  try {
    return inOrder(readdirSync(directory))
  } catch (error) {
    throw toStoreError(error, '.')
  }
}

/** The same from another thread: a large directory takes the system 5 ms. */
function readNamesBeside(directory: string): Promise<string[]> {
  const names = readdir(directory).then(inOrder, (error) => {
    throw toStoreError(error, '.')
  })
  // Whoever fails before this is awaited has told enough.
  names.catch(() => {})
  return names
}

function inOrder(names: string[]): string[] {
  if (isInOrder(names)) return names
  // The order of UTF-16 is that of UTF-8 where there are no surrogates, and it is the one that engines sort fast by.
  if (names.some(hasSurrogate)) names.sort(byCodePoint)
  else names.sort()
  // Two names that are not UTF-8 may look the same; only the first of them can be read, so only one is listed.
  return names.filter((name, i) => name !== names[i - 1])
}

/** Node gives names in the order of their bytes, Bun and Deno as the directory has them. */
function isInOrder(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if (byCodePoint(names[i - 1]!, names[i]!) >= 0) return false
  return true
}

const hasSurrogate = (name: string) => /[\ud800-\udfff]/.test(name)
