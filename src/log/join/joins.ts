import type { Clock } from '../../kit/limits/clock.ts'
import { byCodePoint, type Entry, type Store } from '../../store/store.ts'
import { folderPeriod, parseKey } from './layout.ts'
import { folderListing, KEYS_PER_PAGE } from './listing.ts'
import { MemberTree } from './members.ts'

/** Requests for the sizes of one log in a list. */
const MAX_REQUESTS = 12
/** Total requests for one list: a location with more folders than that does not hold logs. */
const MAX_LIST_REQUESTS = 300
/** Objects this much older than the newest of their log are not expected to change. */
const FINISHED_AGE = 2 * 24 * 3_600_000
/** Folders that are walked in parallel. */
const FOLDERS_AT_ONCE = 6

export class Joins {
  readonly #store: Store
  readonly #rootName: string
  readonly #clock: Clock
  /** What is known about folders that contain dated folders. */
  readonly #known = new Map<string, Sums>()

  /** `rootName` is the name of the log where the store itself is a dated folder. */
  constructor(store: Store, rootName: string, clock: Clock) {
    this.#store = store
    this.#rootName = rootName
    this.#clock = clock
  }

  /** The objects of a log of that name; there may be none. */
  tree(name: string): MemberTree {
    return new MemberTree(this.#store, name === this.#rootName ? '' : name, this.#clock)
  }

  /** Joined logs and the other keys, in order; `partial` if some sizes are not the sum of all objects. */
  async list(signal?: AbortSignal) {
    const walk: ListWalk = { logs: new Map(), others: [], requests: 0, partial: false, signal }
    await this.#walk('', walk)
    const joined = [...walk.logs].map(([log, sum]) => entryOf(log === '' ? this.#rootName : log, sum))
    const names = new Set(joined.map(({ key }) => key))
    const entries = [...joined, ...walk.others.filter(({ key }) => !names.has(key))]
    return { entries: entries.sort((a, b) => byCodePoint(a.key, b.key)), partial: walk.partial }
  }

  async #walk(folder: string, walk: ListWalk): Promise<void> {
    if (await this.#takePage(folder, walk)) return
    const folders: string[] = []
    const objects: Entry[] = []
    let members = 0
    const { signal } = walk
    for await (const entry of this.#store.list(folder, { signal, shallow: true, folders: true })) {
      if (entry.folder) folders.push(entry.key)
      else objects.push(entry)
      if (!entry.folder && parseKey(entry.key)) members++
      if (members >= KEYS_PER_PAGE) break
    }
    walk.requests += Math.ceil((folders.length + objects.length) / KEYS_PER_PAGE)
    const isDated = (path: string) => folderPeriod(path.slice(folder.length)) !== null
    if (members >= KEYS_PER_PAGE || folders.some(isDated)) return this.#sumUp(folder, walk)
    for (const entry of objects) take(entry, walk)
    for (let i = 0; i < folders.length; i += FOLDERS_AT_ONCE)
      await Promise.all(folders.slice(i, i + FOLDERS_AT_ONCE).map((path) => this.#walk(path, walk)))
  }

  /** Takes everything below a folder if it fits one page; otherwise false. */
  async #takePage(folder: string, walk: ListWalk): Promise<boolean> {
    if (walk.requests >= MAX_LIST_REQUESTS) {
      walk.partial = true
      return true
    }
    walk.requests++
    const page = await folderListing(this.#store, '').page(folder, {}, walk.signal)
    if (page.length >= KEYS_PER_PAGE) return false
    for (const entry of page) take(entry, walk)
    return true
  }

  /**
   * Adds up the sizes below a folder of dated folders, in key order, as far as its requests go. The sum is remembered up
   * to the objects that are two days older than the newest, and the next list continues from there.
   */
  async #sumUp(folder: string, walk: ListWalk): Promise<void> {
    const none: Sums = { logs: new Map(), others: [], after: undefined, time: 0, isSorted: true }
    let sums = this.#known.get(folder) ?? none
    const pages: Sums[] = []
    let isComplete = false
    for (let requests = 0; requests < MAX_REQUESTS && !isComplete; requests++) {
      walk.requests++
      sums = copyOf(sums)
      let count = 0
      const before = sums.time
      const options = { signal: walk.signal, limit: KEYS_PER_PAGE, after: sums.after }
      for await (const entry of this.#store.list(folder, options)) {
        count++
        sums.after = entry.key
        const time = parseKey(entry.key)?.time ?? before
        sums.time = Math.max(sums.time, time)
        // Random names, as of Logstash: a new object may be anywhere.
        sums.isSorted &&= time >= before - FINISHED_AGE
        take(entry, sums)
      }
      isComplete = count < KEYS_PER_PAGE
      if (!isComplete) pages.push(sums)
    }
    const finished = !sums.isSorted
      ? undefined
      : isComplete
        ? pages.findLast(({ time }) => time <= sums.time - FINISHED_AGE)
        : sums
    if (finished && this.#known.size < 1000) this.#known.set(folder, copyOf(finished))
    walk.partial ||= !isComplete
    for (const [log, sum] of sums.logs) add(walk.logs, log, sum)
    walk.others.push(...sums.others)
  }
}

/** The sum so far, and the key up to which it counts. */
interface Sums {
  logs: Map<string, Sum>
  others: Entry[]
  after: string | undefined
  /** The newest time among the keys. */
  time: number
  /** Whether pages come in the order of their times. */
  isSorted: boolean
}

function copyOf(sums: Sums): Sums {
  const logs = new Map([...sums.logs].map(([log, sum]) => [log, { ...sum }]))
  return { ...sums, logs, others: [...sums.others] }
}

interface Sum {
  size: number
  modified: number
  newest: string
}

interface ListWalk {
  logs: Map<string, Sum>
  others: Entry[]
  requests: number
  partial: boolean
  signal: AbortSignal | undefined
}

function take(entry: Entry, walk: Pick<ListWalk, 'logs' | 'others'>): void {
  const parsed = parseKey(entry.key)
  if (!parsed) return void walk.others.push(entry)
  const { key, size, modified } = entry
  add(walk.logs, parsed.log, { size, modified, newest: key })
}

function add(logs: Map<string, Sum>, log: string, more: Sum): void {
  const sum = logs.get(log)
  if (!sum) return void logs.set(log, { ...more })
  sum.size += more.size
  sum.modified = Math.max(sum.modified, more.modified)
  if (more.newest > sum.newest) sum.newest = more.newest
}

/** A joined log in a list. Its tag changes with every new object. */
function entryOf(key: string, { size, modified, newest }: Sum): Entry {
  return { key, size, modified, joined: true, etag: `"${size}-${modified}-${encodeURIComponent(newest)}"` }
}
