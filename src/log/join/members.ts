import type { Clock } from '../../kit/limits/clock.ts'
import { byCodePoint, type Entry, type Store } from '../../store/store.ts'
import {
  datedFolder,
  folderPeriod,
  isFine,
  isSortedName,
  nameAt,
  type Period,
  parseKey,
  timeInName,
} from './layout.ts'
import { type FolderLevel, folderListing, KEYS_PER_PAGE } from './listing.ts'
import { byTime, costOf, firstWithin, type Member } from './member.ts'
import { newestFirst } from './sorted-folder.ts'

/** Part of a joined log: members in order, and whether there are others on either side. */
export interface Members {
  members: Member[]
  older: boolean
  newer: boolean
}

/** Which members are wanted: the newest ones that add up to this many stored bytes, where small ones count as 4 KiB. */
export interface MemberQuery {
  bytes: number
  /** Only members whose keys have times in this period. */
  since?: number | undefined
  until?: number | undefined
  /** Members after this time are not counted: they are in the margin of a period. */
  countUntil?: number | undefined
  /** Only this member and those before it. */
  last?: Member | undefined
}

export interface FromOptions {
  signal?: AbortSignal | undefined
  /** Keys of members that cost nothing, because they are not read. */
  known?: ReadonlySet<string>
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A walk for this many bytes, or for a period, reads many folders. */
const WIDE = 16 * 1024 * 1024
/** Finished folders whose members are remembered, and how much older than the newest folder they are. */
const MAX_FINISHED = 2000
const FINISHED_AGE = 2 * DAY
/**
 * Finds the objects of one joined log, newest first, through the folders of their dates: the newest of 10,000 objects
 * takes four round trips, and one the next time.
 */
export class MemberTree {
  readonly #listing: ReturnType<typeof folderListing>
  readonly #clock: Clock
  readonly #log: string
  readonly #prefix: string
  /** The members of finished folders: nothing is written there any more. */
  readonly #finished = new Map<string, Member[]>()
  /** Every member from a time on has a key after this one. */
  #newest: { after: string; from: number } | null = null
  /** Members per millisecond in the first page of the log. */
  #rate = 0
  /** Whether there is more than a page of objects. */
  #isLarge = false
  /** Whether the order of the keys is not that of the dates: there are folders of two kinds, or objects beside them. */
  #isIrregular: boolean | null = null

  /** `log` is the path of the log below the store, empty where the store itself is the log. */
  constructor(store: Store, log: string, clock: Clock) {
    this.#clock = clock
    this.#log = log
    this.#prefix = log === '' ? '' : `${log}/`
    this.#listing = folderListing(store, this.#prefix)
  }

  /** Whether this tree belongs to `log`. */
  holds(log: string): boolean {
    return log === this.#log
  }

  /** Forgets finished folders, because an object that was in one of them is gone. */
  forget(): void {
    this.#finished.clear()
    this.#newest = null
  }

  async find(query: MemberQuery, signal?: AbortSignal): Promise<Members> {
    const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, last } = query
    const { countUntil = Number.POSITIVE_INFINITY } = query
    const walk: Walk = {
      from: since,
      to: Math.min(until, last?.time ?? until),
      older: false,
      newer: false,
      isWide: query.bytes >= WIDE,
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
      while (at > 0 && bytes < query.bytes && batch[at - 1]!.time >= since)
        if (batch[--at]!.time <= countUntil) bytes += costOf(batch[at]!)
      chosen.push(batch.slice(at, stop))
      walk.older ||= at > 0
      if (walk.older) break
      if (bytes >= query.bytes) {
        walk.older = true
        break
      }
    }
    return { members: chosen.reverse().flat(), older: walk.older, newer: walk.newer }
  }

  /** A member, if it is still there, and those after it in order, up to that many stored bytes. */
  async from(first: Member, bytes: number, { signal, known }: FromOptions = {}) {
    await this.#judge(signal)
    const { start, isSorted } = this.#startAt(first)
    const entries: Entry[] = []
    for (let after = start; ; after = entries.at(-1)!.key) {
      const page = await this.#listing.page('', { ...(after !== undefined && { after }) }, signal)
      entries.push(...(start === undefined ? await this.#listing.all('', page, signal) : page))
      const isAll = page.length < KEYS_PER_PAGE || start === undefined
      const listed = isAll || isSorted ? entries : this.#wholeFolders(entries)
      const members = this.#membersOf(listed).filter((member) => byTime(member, first) >= 0)
      const near = firstWithin(members, bytes, known)
      if (isAll || near.length < members.length)
        return { members: near, newer: !isAll || near.length < members.length }
    }
  }

  /** All members, if one request lists them; otherwise null. */
  async whole(signal?: AbortSignal): Promise<Member[] | null> {
    if (this.#isLarge) return null
    const page = await this.#listing.page('', {}, signal)
    this.#isLarge = page.length >= KEYS_PER_PAGE
    return this.#isLarge ? null : this.#membersOf(page)
  }

  async oldest(signal?: AbortSignal): Promise<Member | null> {
    const [page] = await Promise.all([this.#listing.page('', {}, signal), this.#judge(signal)])
    if (page.length === KEYS_PER_PAGE && this.#isIrregular)
      return this.#membersOf(await this.#listing.all('', page, signal))[0] ?? null
    const members = this.#membersOf(page)
    const first = members[0]
    if (page.length < KEYS_PER_PAGE || !first) return first ?? null
    const folder = datedFolder(first.entry.key) || this.#prefix
    const isFirst = ({ key }: Entry) => key.startsWith(folder)
    if (isSortedName(first.entry.key.slice(folder.length)) || !isFirst(page.at(-1)!)) return first
    const below = folder.slice(this.#prefix.length)
    return this.#membersOf(await this.#listing.all(below, page.filter(isFirst), signal))[0] ?? null
  }

  /** The key after which a listing has a member and all those after it; undefined where that takes all keys. */
  #startAt({ entry }: Member): { start: string | undefined; isSorted: boolean } {
    const { key } = entry
    const folder = datedFolder(key) || this.#prefix
    const isSorted = isSortedName(key.slice(folder.length))
    if (this.#isIrregular || (folder === this.#prefix && !isSorted)) return { start: undefined, isSorted }
    return { start: isSorted ? key.slice(0, -1) : folder, isSorted }
  }

  /** Entries without those of the last dated folder, which may go on. */
  #wholeFolders(entries: Entry[]): Entry[] {
    const last = datedFolder(entries.at(-1)!.key)
    const end = entries.findIndex(({ key }) => datedFolder(key) === last)
    return last === '' ? [] : entries.slice(0, end)
  }

  /** The members of a period in batches, the newest batch first, each in order; it may hold members beside the period. */
  async *#walk(walk: Walk): AsyncGenerator<Member[]> {
    const newest = walk.to === Number.POSITIVE_INFINITY ? this.#newest : null
    const recent = newest && (await this.#after(newest.after, walk.signal))
    if (!recent) return yield* this.#folder('', walk)
    yield recent
    const { from } = newest
    const rest = { ...walk, to: from - 1 }
    if (from > walk.from)
      for await (const batch of this.#folder('', rest)) yield batch.filter(({ time }) => time < from)
    walk.older ||= rest.older || from <= walk.from
  }

  /** The members after a key, in one request; null if that is not enough. */
  async #after(after: string, signal: AbortSignal | undefined): Promise<Member[] | null> {
    const page = await this.#listing.page('', { after }, signal)
    const members = this.#membersOf(page)
    return page.length < KEYS_PER_PAGE && members.length > 0 ? members : null
  }

  async *#folder(folder: string, walk: Walk, isFinished = false): AsyncGenerator<Member[]> {
    const known = this.#finished.get(folder)
    if (known) return yield known
    const period = folder === '' ? null : folderPeriod(folder)
    let level: FolderLevel | null = null
    if (folder === '' || (period && isFine(period) && !this.#isCrowded(period, walk))) {
      const [page, top] = await Promise.all([
        this.#listing.page(folder, {}, walk.signal),
        folder === '' ? this.#listing.level(folder, walk.signal) : null,
      ])
      if (page.length < KEYS_PER_PAGE) return yield this.#remember(folder, this.#membersOf(page), isFinished)
      if (folder === '') this.#rate = rateOf(this.#membersOf(page))
      const base = this.#prefix + folder
      if (folder !== '' && page.every(({ key }) => !key.slice(base.length).includes('/')))
        return yield* this.#objects(folder, page, walk)
      // Sixty minutes one by one cost more than a few pages.
      if (period && walk.isWide && period.to - period.from <= HOUR)
        return yield this.#membersOf(await this.#listing.all(folder, page, walk.signal))
      level = top
    }
    level ??= await this.#listing.level(folder, walk.signal)
    const children = this.#datedIn(folder, level)
    const isInOrder = this.#isInOrder(folder, children, level)
    if (children.length === 0) return yield* this.#objects(folder, level.objects, walk)
    if (isInOrder) return yield* this.#below(children, walk)
    yield this.#membersOf(await this.#listing.all(folder, [], walk.signal))
  }

  /** Whether the dated folders of a folder can be read one after another. */
  #isInOrder(folder: string, children: readonly Child[], { objects }: FolderLevel): boolean {
    const period = folder === '' ? null : folderPeriod(folder)
    const isInOrder =
      children.length === 0 || (isRegular(children, period) && this.#membersOf(objects).length === 0)
    if (folder === '') this.#isIrregular = !isInOrder
    return isInOrder
  }

  /** Judges the top of the log, once. */
  async #judge(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isIrregular !== null) return
    const level = await this.#listing.level('', signal)
    this.#isInOrder('', this.#datedIn('', level), level)
  }

  /** Whether a folder probably has more than a page of objects, but small folders inside. */
  #isCrowded({ from, to }: Period, { isWide }: Walk): boolean {
    return to - from > MINUTE && !(isWide && to - from <= HOUR) && this.#rate * (to - from) > KEYS_PER_PAGE
  }

  /** The dated folders of a folder, newest first. */
  #datedIn(folder: string, { folders }: FolderLevel): Child[] {
    return folders
      .map((name) => ({ path: folder + name, period: folderPeriod(folder + name) }))
      .filter((child): child is Child => child.period !== null)
      .sort((a, b) => b.period.from - a.period.from)
  }

  /** The members in folders, newest first, as far as their periods say. */
  async *#below(children: readonly Child[], walk: Walk): AsyncGenerator<Member[]> {
    for (const { path, period } of children) {
      if (period.from > walk.to) {
        walk.newer = true
        continue
      }
      if (period.to <= walk.from) {
        walk.older = true
        return
      }
      yield* this.#folder(path, walk, children[0]!.period.from - period.to >= FINISHED_AGE)
    }
  }

  #remember(folder: string, members: Member[], isFinished: boolean): Member[] {
    if (isFinished && this.#finished.size < MAX_FINISHED) this.#finished.set(folder, members)
    if (members.length > 0 && folder !== '')
      this.#learnNewest(this.#prefix + folder, folderPeriod(folder)!.from)
    return members
  }

  #learnNewest(after: string, from: number): void {
    if (!this.#isIrregular && (this.#newest === null || from > this.#newest.from))
      this.#newest = { after, from }
  }

  /** The objects directly in a folder with at least a page of them, newest first if their names sort by time. */
  async *#objects(folder: string, first: Entry[], walk: Walk): AsyncGenerator<Member[]> {
    const base = this.#prefix + folder
    const like = this.#membersOf(first).map(({ entry }) => entry.key.slice(base.length))
    if (like.length === 0 || !like.every((name) => nameAt(name, 0) !== null))
      return yield this.#membersOf(await this.#listing.all(folder, first, walk.signal))
    const period = folderPeriod(folder)
    const ahead = (after: string) => this.#listing.page(folder, { after, shallow: true }, walk.signal)
    const chunks = newestFirst({
      first: this.#membersOf(first).map(({ entry }) => entry),
      pageSize: KEYS_PER_PAGE,
      timeOf: ({ key }) => timeInName(key.slice(base.length)) ?? Number.NEGATIVE_INFINITY,
      pageAt: (instant) => ahead(base + nameAt(like[0]!, instant)),
      pageAfter: ({ key }) => ahead(key),
      // Names after the folder's period count with its last moment.
      end: period && walk.to >= period.to - 1 ? Number.POSITIVE_INFINITY : walk.to + 1,
      likelyEnd: likelyEnd(period, this.#clock.now()),
    })
    for await (const chunk of chunks) {
      const members = this.#membersOf(chunk)
      if (members.length === 0) continue
      const { time, entry } = members[0]!
      const from = Math.floor(time / 1000) * 1000
      // Not if the time in the name is outside the folder's period, so that many members have the same time.
      if (timeInName(entry.key.slice(base.length)) === time)
        this.#learnNewest(base + nameAt(like[0]!, from), from)
      yield members
      if (from <= walk.from) {
        walk.older = true
        return
      }
    }
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

function rateOf(members: readonly Member[]): number {
  const period = members.length < 2 ? 0 : members.at(-1)!.time - members[0]!.time
  return period === 0 ? 0 : members.length / period
}

/** Where the newest object of a folder probably is: now, unless its period is over or yet to come. */
function likelyEnd(period: Period | null, now: number): number {
  return period && (now > period.to || now < period.from) ? period.to : now
}

/**
 * Whether folders, newest first, can be read one after another: their periods do not overlap, each is shorter than
 * that of the folder they are in, and their names sort as their dates do.
 */
function isRegular(children: readonly Child[], parent: Period | null): boolean {
  return children.every(({ path, period }, i) => {
    if (parent && period.to - period.from >= parent.to - parent.from) return false
    const newer = children[i - 1]
    return !newer || (period.to <= newer.period.from && byCodePoint(path, newer.path) < 0)
  })
}

interface Child {
  path: string
  period: Period
}

interface Walk {
  /** Times in keys. */
  from: number
  to: number
  /** Whether members before or after the period were seen. */
  older: boolean
  newer: boolean
  isWide: boolean
  signal: AbortSignal | undefined
}
