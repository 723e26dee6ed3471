import { byCodePoint, type Entry, type Store } from '../store/store.ts'
import { folderPeriod, isFine, nameAt, type Period, parseKey } from './layout.ts'

/** An object of a joined log, and the time in its key. */
export interface Member {
  entry: Entry
  time: number
}

/** Part of a joined log: members in order, and whether there are others on either side. */
export interface Members {
  members: Member[]
  older: boolean
  newer: boolean
}

/** Which members are wanted: the newest ones that add up to this many stored bytes. */
export interface Reach {
  bytes: number
  /** Only members whose keys have times in this period. */
  since?: number | undefined
  until?: number | undefined
  /** Only this member and those before it. */
  last?: Member | undefined
}

/** Objects in one page of a listing. */
const PAGE = 1000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Finished folders whose members are remembered. */
const MAX_FINISHED = 2000

/** By the date in the key, then by key. */
export function byTime(a: Member, b: Member): number {
  return a.time - b.time || byCodePoint(a.entry.key, b.entry.key)
}

/**
 * Finds the objects of one joined log, newest first, through the folders of their dates: the newest of 10,000 objects
 * takes four round trips, and one the next time.
 */
export class MemberTree {
  readonly #store: Store
  readonly #log: string
  readonly #prefix: string
  /** The members of finished folders: nothing is written there any more. */
  readonly #finished = new Map<string, Member[]>()
  /** The folder that held the newest members. */
  #newest = ''

  /** `log` is the path of the log below the store, empty where the store itself is the log. */
  constructor(store: Store, log: string) {
    this.#store = store
    this.#log = log
    this.#prefix = log === '' ? '' : `${log}/`
  }

  /** Whether it is the tree of that log. */
  holds(log: string): boolean {
    return log === this.#log
  }

  /** The members of a reach, in order. */
  async find(reach: Reach, signal?: AbortSignal): Promise<Members> {
    const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, last } = reach
    const walk: Walk = {
      from: since,
      to: Math.min(until, last?.time ?? until),
      older: false,
      newer: false,
      signal,
    }
    const isLater = (member: Member) =>
      member.time > walk.to || (last !== undefined && byTime(member, last) > 0)
    const chosen: Member[][] = []
    let bytes = 0
    for await (const batch of this.#walk(walk)) {
      const end = batch.findIndex(isLater)
      walk.newer ||= end >= 0
      let at = end < 0 ? batch.length : end
      const stop = at
      while (at > 0 && bytes < reach.bytes && batch[at - 1]!.time >= since) bytes += batch[--at]!.entry.size
      chosen.unshift(batch.slice(at, stop))
      walk.older ||= at > 0
      if (walk.older) break
      if (bytes >= reach.bytes) {
        walk.older = true
        break
      }
    }
    return { members: chosen.flat(), older: walk.older, newer: walk.newer }
  }

  /** The members after one, in order; at most a page of them. */
  async after(last: Member, signal?: AbortSignal): Promise<Member[]> {
    const isSorted =
      last.entry.key.slice(this.#prefix.length).includes('/') || nameAt(nameOf(last), 0) !== null
    const after = isSorted ? { after: last.entry.key, limit: PAGE } : {}
    const entries: Entry[] = []
    for await (const entry of this.#store.list(this.#prefix, { signal, ...after })) entries.push(entry)
    return this.#membersOf(entries).filter((member) => byTime(member, last) > 0)
  }

  /** The members of a period in batches, the newest batch first, each in order; it may hold members beside the period. */
  async *#walk(walk: Walk): AsyncGenerator<Member[]> {
    const recent = walk.to === Number.POSITIVE_INFINITY ? await this.#sinceNewest(walk.signal) : null
    if (!recent) return yield* this.#folder('', walk)
    yield recent
    const { from } = folderPeriod(this.#newest)!
    const rest = { ...walk, to: from - 1 }
    if (from > walk.from) yield* this.#folder('', rest)
    walk.older ||= rest.older || from <= walk.from
  }

  /** The objects in the newest known folder and after it, in one request; null if that is not enough. */
  async #sinceNewest(signal: AbortSignal | undefined): Promise<Member[] | null> {
    if (this.#newest === '') return null
    const page = await this.#page('', { after: this.#prefix + this.#newest }, signal)
    const members = this.#membersOf(page)
    return page.length < PAGE && members.length > 0 ? members : null
  }

  async *#folder(folder: string, walk: Walk, isFinished = false): AsyncGenerator<Member[]> {
    const known = this.#finished.get(folder)
    if (known) return yield known
    const period = folder === '' ? null : folderPeriod(folder)
    let level: Level | null = null
    if (folder === '' || (period && isFine(period))) {
      const [page, top] = await Promise.all([
        this.#page(folder, {}, walk.signal),
        folder === '' ? this.#level(folder, walk.signal) : null,
      ])
      if (page.length < PAGE) return yield this.#remember(folder, this.#membersOf(page), isFinished)
      level = top
    }
    level ??= await this.#level(folder, walk.signal)
    yield* this.#below(folder, level, walk)
    if (level.objects.length > 0) yield await this.#objects(folder, level, walk)
  }

  /** The members in the folders of a folder, newest first, as far as their periods say. */
  async *#below(folder: string, { folders }: Level, walk: Walk): AsyncGenerator<Member[]> {
    const dated = folders
      .map((name) => ({ path: folder + name, period: folderPeriod(folder + name) }))
      .filter((child): child is { path: string; period: Period } => child.period !== null)
      .sort((a, b) => b.period.from - a.period.from)
    for (const { path, period } of dated) {
      if (period.from > walk.to) {
        walk.newer = true
        continue
      }
      if (period.to <= walk.from) {
        walk.older = true
        return
      }
      yield* this.#folder(path, walk, dated[0]!.period.from - period.to >= HOUR)
    }
  }

  #remember(folder: string, members: Member[], isFinished: boolean): Member[] {
    if (isFinished && this.#finished.size < MAX_FINISHED) this.#finished.set(folder, members)
    if (members.length > 0 && folder > this.#newest) this.#newest = folder
    return members
  }

  /** The objects directly in a folder. Beyond one page: its end if names sort by time, otherwise all. */
  async #objects(folder: string, level: Level, walk: Walk): Promise<Member[]> {
    if (level.complete) return this.#membersOf(level.objects)
    const base = this.#prefix + folder
    const like = level.objects
      .map(({ key }) => key.slice(base.length))
      .find((name) => nameAt(name, 0) !== null)
    if (like !== undefined) return this.#membersOf(await this.#endOf(folder, like, level.objects, walk))
    const all = [...level.objects]
    const options = { signal: walk.signal, shallow: true, after: all.at(-1)!.key }
    for await (const entry of this.#store.list(base, options)) all.push(entry)
    return this.#membersOf(all)
  }

  /** The last page of a folder up to the end of a period, using names that sort by time. Each request halves the rest. */
  async #endOf(folder: string, like: string, first: Entry[], walk: Walk): Promise<Entry[]> {
    const timeOf = (entry: Entry | undefined) => (entry && parseKey(entry.key)?.time) ?? Number.NaN
    const period = folderPeriod(folder)
    let best = first
    let lo = timeOf(first.at(-1))
    let hi = Math.min(walk.to + 1000, period ? period.to + DAY : Number.POSITIVE_INFINITY)
    if (hi === Number.POSITIVE_INFINITY) hi = Math.max(Date.now(), lo) + DAY
    while (hi - lo > 1000) {
      const middle = lo + (hi - lo) / 2
      const page = await this.#page(
        folder,
        { after: this.#prefix + folder + nameAt(like, middle) },
        walk.signal,
      )
      const isEnd = page.length < PAGE || timeOf(page.at(-1)) > walk.to
      if (page.length === 0 || timeOf(page[0]) > walk.to) hi = middle
      else best = page
      if (best === page && isEnd) break
      if (best === page) lo = timeOf(page.at(-1))
    }
    walk.older = true
    return best
  }

  /** A page of a folder and everything below it. A full page may not be all. */
  async #page(folder: string, options: { after?: string }, signal?: AbortSignal): Promise<Entry[]> {
    const entries: Entry[] = []
    const listing = this.#store.list(this.#prefix + folder, { signal, limit: PAGE, ...options })
    for await (const entry of listing) entries.push(entry)
    return entries
  }

  /** The folders in a folder, and a page of the objects directly in it. */
  async #level(folder: string, signal?: AbortSignal): Promise<Level> {
    const base = this.#prefix + folder
    const level: Level = { folders: [], objects: [], complete: true }
    for await (const entry of this.#store.list(base, { signal, shallow: true, folders: true })) {
      if (entry.folder) level.folders.push(entry.key.slice(base.length))
      else level.objects.push(entry)
      if (level.objects.length < PAGE) continue
      level.complete = false
      break
    }
    return level
  }

  #membersOf(entries: readonly Entry[]): Member[] {
    const members: Member[] = []
    for (const entry of entries) {
      const parsed = parseKey(entry.key)
      if (parsed?.log === this.#log) members.push({ entry, time: parsed.time })
    }
    return members.sort(byTime)
  }
}

function nameOf({ entry }: Member): string {
  return entry.key.slice(entry.key.lastIndexOf('/') + 1)
}

interface Walk {
  /** Times in keys. */
  from: number
  to: number
  /** Whether members before or after the period were seen. */
  older: boolean
  newer: boolean
  signal: AbortSignal | undefined
}

interface Level {
  folders: string[]
  objects: Entry[]
  complete: boolean
}
