import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { type ByteRange, type Entry, type ReadOptions, type Store, StoreError } from '../../store/store.ts'
import { Joins } from '../join/joins.ts'
import { parseKey } from '../join/layout.ts'
import type { Member } from '../join/member.ts'
import { memberReads } from '../join/member-reads.ts'
import type { FromOptions, MemberQuery, Members, MemberTree } from '../join/members.ts'

/** Members whose entries are remembered for reads. */
const MAX_ENTRIES = 20_000
/** Members of which it is known whether their keys are right. */
const MAX_SKEWED = 1000

export class JoinedLogs {
  readonly #joins: Joins
  readonly #read: ReturnType<typeof memberReads>
  readonly #logs = new BoundedMap<string, JoinedLog>(100)

  /** `shared` says whether a request may wait for a read of another. */
  constructor(store: Store, rootName: string, { shared, clock }: { shared: boolean; clock: Clock }) {
    this.#joins = new Joins(store, rootName, clock)
    this.#read = memberReads(store, shared)
  }

  list(signal?: AbortSignal) {
    return this.#joins.list(signal)
  }

  /** Whether a key is an object of a joined log. */
  isMember(key: string): boolean {
    return parseKey(key) !== null
  }

  get(name: string): JoinedLog {
    return this.#logs.use(name, () => new JoinedLog(name, this.#joins.tree(name), this.#read))
  }
}

export class JoinedLog {
  readonly name: string
  /** The members as `LogFiles`, which no client can name. */
  readonly files = {
    list: async () => ({ entries: [] }),
    startingWith: async () => [],
    part: async () => ({ entries: [], next: null }),
    async *each() {},
    stat: async (key: string) => this.#entry(key),
    read: async (key: string, range: ByteRange | undefined, { signal }: ReadOptions = {}) =>
      (await this.#read(this.#entry(key), range, { signal }).catch(unlessChanged)) ?? this.#lost(key),
    watch: () => null,
  }
  /** Whether the records of an object are from another time than its key. */
  readonly skewed = new BoundedMap<string, boolean>(MAX_SKEWED)
  readonly #tree: MemberTree
  readonly #read: ReturnType<typeof memberReads>
  readonly #entries = new BoundedMap<string, Entry>(MAX_ENTRIES)

  constructor(name: string, tree: MemberTree, read: ReturnType<typeof memberReads>) {
    this.name = name
    this.#tree = tree
    this.#read = read
  }

  async find(query: MemberQuery, signal?: AbortSignal): Promise<Members> {
    const found = await this.#tree.find(query, signal)
    this.#learn(found.members)
    return found
  }

  /** A member, if it is still there, and those after it, up to that many stored bytes. */
  async from(first: Member, bytes: number, options?: FromOptions): Promise<Omit<Members, 'older'>> {
    const found = await this.#tree.from(first, bytes, options)
    this.#learn(found.members)
    return found
  }

  /** All members, if one request lists them and they have at most `bytes` stored bytes; otherwise null. */
  async whole(bytes: number, signal?: AbortSignal): Promise<Member[] | null> {
    const members = await this.#tree.whole(signal)
    if (!members || members.reduce((sum, { entry }) => sum + entry.size, 0) > bytes) return null
    this.#learn(members)
    return members
  }

  /** The first and the last member; null if there are none. */
  async ends(signal?: AbortSignal): Promise<[first: Member, last: Member] | null> {
    const [first, { members }] = await Promise.all([
      this.#tree.oldest(signal),
      this.#tree.find({ bytes: 1 }, signal),
    ])
    const last = members.at(-1)
    if (!first || !last) return null
    this.#learn([first, last])
    return [first, last]
  }

  /** The oldest member; null if there is none. */
  async oldest(signal?: AbortSignal): Promise<Member | null> {
    return this.#tree.oldest(signal)
  }

  /** A member by its key alone, as in a cursor; null if it is not part of this log. */
  memberOf(key: string): Member | null {
    const parsed = parseKey(key)
    if (!parsed || !this.#tree.holds(parsed.log)) return null
    return { entry: { key, size: 0, modified: 0, etag: '' }, time: parsed.time }
  }

  #entry(key: string): Entry {
    return this.#entries.get(key) ?? this.#lost(key)
  }

  /** A listed object has expired or was replaced. What is remembered may be outdated, so the request starts again. */
  #lost(key: string): never {
    this.#entries.delete(key)
    this.#tree.forget()
    throw new StoreError('changed', `Cannot read "${key}": it was deleted or replaced`)
  }

  #learn(members: readonly Member[]): void {
    for (const { entry } of members) this.#entries.set(entry.key, entry)
  }
}

function unlessChanged(error: unknown): null {
  if (error instanceof StoreError && error.code === 'changed') return null
  throw error
}
