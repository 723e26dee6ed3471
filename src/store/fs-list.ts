import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { type FileState, toEntry, toStoreError } from './fs-file.ts'
import { byCodePoint, type Entry } from './store.ts'

/** How many files are examined between two turns of the event loop: 1 to 2 ms. */
const BATCH = 500
const LOOK = { throwIfNoEntry: false } as const

/** Entries in key order, with what each was made of: STATE numbers per entry, which take a third of objects. */
interface Seen {
  entries: Entry[]
  states: Float64Array
}
const STATE = 5

/** How far a list has come in the one before it. */
interface Walk {
  last: Seen
  at: number
}

/** Lists a directory again and again: each time one look at every file, but new entries only for those that changed. */
export class Lister {
  readonly #directory: string
  readonly #base: string
  readonly #locate: (name: string) => Stats | null
  #last: Seen = { entries: [], states: new Float64Array() }

  /** `base` is the directory with a separator at its end; `locate` judges what is no regular file at first sight. */
  constructor(directory: string, base: string, locate: (name: string) => Stats | null) {
    this.#directory = directory
    this.#base = base
    this.#locate = locate
  }

  /** The entries whose names begin with `prefix`, in key order. */
  async list(prefix: string): Promise<Entry[]> {
    const all = readNames(this.#directory)
    const names = prefix === '' ? all : all.filter((name) => name.startsWith(prefix))
    const walk = { last: this.#last, at: 0 }
    const now: Seen = { entries: [], states: new Float64Array(names.length * STATE) }
    for (let from = 0; from < names.length; from += BATCH) {
      if (from > 0) await turn()
      this.#see(names, from, Math.min(from + BATCH, names.length), now, walk)
    }
    if (prefix === '') this.#last = now
    return now.entries
  }

  /** Some of the names. Not in `list`: an engine makes more of a loop without waits. */
  #see(names: readonly string[], from: number, to: number, now: Seen, walk: Walk): void {
    const { entries, states } = walk.last
    let at = walk.at
    for (let i = from; i < to; i++) {
      const name = names[i]!
      const stats = this.#look(name)
      if (stats === null) continue
      // Both are in order: one walk beside the other finds what is known, without a table of 10,000 names.
      let known = entries[at]
      while (known !== undefined && known.key !== name && byCodePoint(known.key, name) < 0)
        known = entries[++at]
      const isKnown = known?.key === name && isState(states, at * STATE, stats)
      setState(now.states, now.entries.length * STATE, stats)
      now.entries.push(isKnown ? known! : toEntry(name, stats))
    }
    walk.at = at
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

function setState(states: Float64Array, at: number, stats: FileState): void {
  states[at] = stats.size
  states[at + 1] = stats.mtimeMs
  states[at + 2] = stats.ctimeMs
  states[at + 3] = stats.ino
  states[at + 4] = stats.dev
}

/** What `isSame` says of two looks, where one of them was kept by `setState`. */
function isState(states: Float64Array, at: number, stats: FileState): boolean {
  return (
    states[at] === stats.size &&
    states[at + 1] === stats.mtimeMs &&
    states[at + 2] === stats.ctimeMs &&
    states[at + 3] === stats.ino &&
    states[at + 4] === stats.dev
  )
}

/** Names in key order, each once. A name that is not UTF-8 is shown with U+FFFD, and found again by that. */
function readNames(directory: string): string[] {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    throw toStoreError(error, '.')
  }
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
