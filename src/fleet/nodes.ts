import type { Grant } from '../access/grant.ts'
import type { FleetNode } from '../answers.ts'
import { Problem } from '../http/problem.ts'
import { BoundedMap } from '../limits/bounded-map.ts'
import { type ConcurrencyLimit, concurrencyLimit } from '../limits/concurrency-limit.ts'
import { inTime } from '../limits/in-time.ts'
import { isTurnOver, yieldToEventLoop } from '../limits/yield.ts'
import { includeFilter } from '../log/files/include.ts'
import { COUNTED_MINUTES, MINUTE_MS } from '../segment/ship-json.ts'
import { suggestion } from '../settings/suggestion.ts'
import { byCodePoint, type Store, StoreError } from '../store/store.ts'
import { callCounter, type HomeState, homeReader, NotAsked } from './state.ts'

export interface NodesOptions {
  /** Shell patterns: the logs that are shown. @default every log */
  include?: readonly string[] | undefined
  /** How many nodes are asked at once. @default 64 */
  atOnce?: number | undefined
  /** Requests to the store that one list may make. @default no limit */
  calls?: number | undefined
  /** Whether requests may wait for each other's answers; a worker's may not. @default true */
  shared?: boolean | undefined
  /** @default Date.now */
  now?: (() => number) | undefined
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** How long a list may take. What is not known by then says so. */
const PATIENCE_MS = 4000
/** How long names and states are valid. */
const FRESH_MS = 5000
const STATE: Validity = { home: FRESH_MS, other: FRESH_MS }
/** The same when it only matters whether a home is there. A folder that was none may have become one. */
const PRESENCE: Validity = { home: 60_000, other: 1000 }
/** Nodes whose state is remembered: about 1 KB each, at most 30 KB. */
const REMEMBERED = 2000
/** How many ids are compared with one that does not exist. */
const COMPARED = 2000

/** Whether a name can be the id of a node; `.` and `..` cannot. */
export function isNodeId(id: string): boolean {
  return ID.test(id)
}

/** How long the state of a home, and that a folder is none, are valid. */
interface Validity {
  home: number
  other: number
}

interface Known {
  /** Null if the folder is not a home. */
  state: HomeState | null
  at: number
}

interface Asking {
  running: Map<string, Promise<void>>
  limit: ConcurrencyLimit
}

/** The nodes of a fleet: one LIST for their names and one GET for each, every five seconds at most. */
export class FleetNodes {
  readonly #store: Store
  readonly #readHome: ReturnType<typeof homeReader>
  readonly #options: NodesOptions
  readonly #now: () => number
  readonly #included: (name: string) => boolean
  readonly #known = new BoundedMap<string, Known>(REMEMBERED)
  readonly #asking: Asking
  #ids: { ids: string[]; at: number } | null = null
  #listing: Promise<string[]> | null = null

  constructor(store: Store, options: NodesOptions = {}) {
    this.#store = store
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#readHome = homeReader(store, this.#now)
    this.#included = includeFilter(options.include ?? [])
    this.#asking = this.#newAsking()
  }

  /** The names that may be nodes and that a token may see, by one LIST. */
  async ids(grant: Pick<Grant, 'nodes'>): Promise<string[]> {
    const sees = nodeFilter(grant)
    return (await this.#list()).filter(sees)
  }

  /** A page of the nodes that a token may see, by id, and the id that the next one follows; null when there is none. */
  async page(
    { after, limit }: { after: string; limit: number },
    grant: Grant,
  ): Promise<{ nodes: FleetNode[]; next: string | null }> {
    const start = performance.now()
    const listing = this.ids(grant)
    if (!(await inTime(PATIENCE_MS, listing)))
      throw new StoreError('timeout', 'Cannot list the nodes: the storage takes too long')
    const behind = (await listing).filter((id) => byCodePoint(id, after) > 0)
    const wanted = behind.slice(0, limit)
    await inTime(PATIENCE_MS - (performance.now() - start), this.#ask(wanted, STATE))
    const sees = this.#logFilter(grant)
    const nodes = wanted.map((id) => this.#show(id, sees)).filter((node) => node !== null)
    return { nodes, next: behind.length > limit ? wanted.at(-1)! : null }
  }

  /** What is known about a node, at most a minute old; null if it is not a home, undefined if it was not asked. */
  async state(id: string, spend: () => void): Promise<HomeState | null | undefined> {
    await this.#ask([id], PRESENCE, spend)
    return this.#known.get(id)?.state
  }

  /**
   * Which of these folders are no homes, and up to when the others have shipped everything they had: ISO 8601 with
   * seconds, or null if no shipper says so.
   */
  async states(ids: readonly string[]): Promise<{ absent: ReadonlySet<string>; settled: string | null }> {
    await inTime(PATIENCE_MS, this.#ask(ids, STATE))
    const moments = ids.flatMap((id) => {
      const { shipped, lag } = this.#known.get(id)?.state ?? NOTHING
      return shipped ? [shipped.at - 1000 * (lag?.seconds ?? 0)] : []
    })
    const absent = new Set(ids.filter((id) => this.#known.get(id)?.state === null))
    if (moments.length === 0) return { absent, settled: null }
    const second = new Date(Math.floor(Math.min(...moments) / 1000) * 1000)
    return { absent, settled: second.toISOString().replace('.000Z', 'Z') }
  }

  /** Throws the problem `unknown-node` unless there is a node of this id for a token. */
  async require(id: string, grant: Pick<Grant, 'nodes'>): Promise<void> {
    if (nodeFilter(grant)(id)) {
      await inTime(PATIENCE_MS, this.#ask([id], PRESENCE))
      // One that cannot be asked counts as one, so that its failure is not hidden.
      if (this.#known.get(id)?.state !== null) return
    }
    const ids = await this.ids(grant).catch(() => [])
    throw unknownNode(suggestion(id, ids.slice(0, COMPARED)))
  }

  /** The names of the folders, which are listed once in five seconds. */
  async #list(): Promise<string[]> {
    if (this.#ids && this.#now() - this.#ids.at < FRESH_MS) return this.#ids.ids
    if (!this.#isShared) return this.#listNow()
    this.#listing ??= this.#listNow().finally(() => {
      this.#listing = null
    })
    return this.#listing
  }

  async #listNow(): Promise<string[]> {
    const ids: string[] = []
    for await (const { key, folder } of this.#store.list('', { shallow: true, folders: true }))
      if (folder && isNodeId(key.slice(0, -1))) ids.push(key.slice(0, -1))
    // A storage lists `a-b/` before `a/`.
    ids.sort(byCodePoint)
    this.#ids = { ids, at: this.#now() }
    return ids
  }

  /** Asks the nodes whose state is not valid any more; first those that are not known at all, then the oldest. */
  async #ask(
    ids: readonly string[],
    { home, other }: Validity,
    spend = callCounter(this.#options.calls),
  ): Promise<void> {
    const now = this.#now()
    const asked = (id: string) => this.#known.get(id)?.at ?? Number.NEGATIVE_INFINITY
    const isStale = (id: string) => now - asked(id) >= (this.#known.get(id)?.state === null ? other : home)
    const stale = ids.filter(isStale).sort((a, b) => asked(a) - asked(b))
    const asking = this.#isShared ? this.#asking : this.#newAsking()
    await Promise.all(stale.map((id) => this.#askOne(id, asking, spend)))
  }

  /** Asks a node, unless that is under way. It continues after the callers have been answered. */
  #askOne(id: string, { running, limit }: Asking, spend: () => void): Promise<void> {
    const under = running.get(id)
    if (under) return under
    const ask = limit
      .run(async () => {
        // A disk answers at once: a thousand homes would hold up everyone else.
        if (isTurnOver()) await yieldToEventLoop()
        const state = await this.#readHome(id, this.#known.get(id)?.state, spend)
        this.#known.delete(id)
        this.#known.set(id, { state, at: this.#now() })
      })
      .catch((error) => {
        if (!(error instanceof NotAsked)) throw error
      })
      .finally(() => running.delete(id))
    running.set(id, ask)
    return ask
  }

  /** What is known about a node; null if the folder is not a home. `sees` tells which of its logs count. */
  #show(id: string, sees: ((name: string) => boolean) | null): FleetNode | null {
    const known = this.#known.get(id)
    if (known?.state === null) return null
    const { node, shipped, lag, counts, error } = known?.state ?? NOTHING
    return {
      id,
      node,
      described: node !== null,
      shipped: shipped && new Date(shipped.at).toISOString(),
      age: shipped && Math.round((shipped.age + Math.max(0, this.#now() - known!.at)) / 1000),
      lag: lag && lagOf(lag, sees),
      ...levelsOf(counts, sees, this.#now()),
      error,
    }
  }

  /** Whether a log is shown to a token; null if all are. */
  #logFilter({ files }: Grant): ((name: string) => boolean) | null {
    const { include = [] } = this.#options
    if (files === null) return include.length === 0 ? null : this.#included
    const sees = patternFilter(files)
    return (name) => this.#included(name) && sees(name)
  }

  get #isShared(): boolean {
    return this.#options.shared !== false
  }

  #newAsking(): Asking {
    const most = this.#options.atOnce ?? 64
    const queue = Number.POSITIVE_INFINITY
    return { running: new Map(), limit: concurrencyLimit({ most, queue, busy: () => new NotAsked() }) }
  }
}

const NOTHING: HomeState = { node: null, shipped: null, lag: null, counts: null, error: 'not-asked' }

/** The bytes that lag in the logs that count; null if it is not known which do. */
function lagOf({ bytes, logs }: NonNullable<HomeState['lag']>, sees: ((name: string) => boolean) | null) {
  if (sees === null) return bytes
  return logs?.reduce((sum, [name, bytes]) => sum + (sees(name) ? bytes : 0), 0) ?? null
}

/** The errors and warnings of the last hour in the logs that count, and when the last line of them was written. */
function levelsOf(counts: HomeState['counts'], sees: ((name: string) => boolean) | null, now: number) {
  if (counts === null) return { errors: null, warnings: null, lastLine: null }
  const since = Math.floor(now / MINUTE_MS) - COUNTED_MINUTES
  const sum = { errors: 0, warnings: 0, lastLine: null as number | null }
  for (const [name, { lastLine, minutes }] of Object.entries(counts)) {
    if (sees && !sees(name)) continue
    if (lastLine !== null) sum.lastLine = Math.max(lastLine, sum.lastLine ?? lastLine)
    for (const [minute, [errors, warnings]] of Object.entries(minutes)) {
      if (Number(minute) <= since) continue
      sum.errors += errors
      sum.warnings += warnings
    }
  }
  return sum
}

function nodeFilter({ nodes }: Pick<Grant, 'nodes'>): (id: string) => boolean {
  return nodes === null ? () => true : patternFilter(nodes)
}

/** Whether one of the patterns matches; without patterns, nothing does. */
function patternFilter(patterns: readonly string[]): (name: string) => boolean {
  return patterns.length === 0 ? () => false : includeFilter(patterns)
}

/** The problem for an id without a node. `near` names the nearest one. */
export function unknownNode(near = ''): Problem {
  const detail = near === '' ? '; take one from' : `${near} Take one from`
  return new Problem('unknown-node', `There is no node with this id${detail} /api/v1/nodes.`)
}
