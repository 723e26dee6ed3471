import type { Grant } from '../core/access/grant.ts'
import { Problem } from '../core/http/problem.ts'
import type { FleetNode } from '../kit/answers.ts'
import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { type Clock, inTime, systemClock } from '../kit/limits/clock.ts'
import { type ConcurrencyLimit, concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { each } from '../kit/limits/each.ts'
import { SharedWork } from '../kit/limits/once.ts'
import { isTurnOver, yieldToEventLoop } from '../kit/limits/yield.ts'
import { suggestion } from '../kit/suggestion.ts'
import { includeFilter } from '../log/files/include.ts'
import { dayOf } from '../store/segment/node-day.ts'
import { COUNTED_MINUTES, type LogCounts, MINUTE_MS } from '../store/segment/ship-json.ts'
import { byCodePoint, type Store, StoreError } from '../store/store.ts'

import { callCounter, type HomeState, homeReader, type Lag, type LogLag, NotAsked, sumOf } from './state.ts'

export interface NodesOptions {
  /** Shell patterns: the logs that are shown. @default every log */
  include?: readonly string[] | undefined
  /** How many nodes are asked at once. @default 64 */
  atOnce?: number | undefined
  /** Requests to the store that one list may make. @default no limit */
  calls?: number | undefined
  /** Whether requests may wait for each other's answers; a worker's may not. @default true */
  shared?: boolean | undefined
  /** @default the system's */
  clock?: Clock | undefined
  /** The nodes that live; the others are in the store. @default none */
  living?: LivingNodes | undefined
}

/** The nodes of a fleet that live. */
export interface LivingNodes {
  ids(): readonly string[]
  /** What a living node says; undefined if there is none with this id. */
  state(id: string): Promise<HomeState> | undefined
  /** How far its clock is ahead of this one's, in milliseconds; null if that is not known. */
  offset(id: string): number | null
  /** What all logs of a living node count together, which is asked only for lists. */
  counts: { ask(ids: readonly string[]): Promise<void>; get(id: string): LogCounts | null }
}

const NOBODY: LivingNodes = {
  ids: () => [],
  state: () => undefined,
  offset: () => null,
  counts: { ask: async () => {}, get: () => null },
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** How long a list may take. What is not known by then says so. */
const PATIENCE_MS = 4000
/** How much of it living nodes have to count their errors; the next list has what they count later. */
const COUNTING_MS = 1000
/** How long names and states are valid. */
const FRESH_MS = 5000
const STATE: Validity = { home: FRESH_MS, other: FRESH_MS }
/** The same when it only matters whether a home is there. A folder that was none may have become one. */
const PRESENCE: Validity = { home: 60_000, other: 1000 }
/** Nodes whose state is remembered: about 1 KB each, at most 30 KB, and up to 32 KB for their last day. */
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
  shared: SharedWork<void>
  limit: ConcurrencyLimit
}

/** The nodes of a fleet: one LIST for their names and one GET for each, every five seconds at most. */
export class FleetNodes {
  /** Null where all nodes live. */
  readonly #store: Store | null
  readonly #home: ReturnType<typeof homeReader> | null
  readonly #living: LivingNodes
  readonly #options: NodesOptions
  readonly #clock: Clock
  readonly #included: (name: string) => boolean
  readonly #known = new BoundedMap<string, Known>(REMEMBERED)
  readonly #asking: Asking
  #ids: { ids: string[]; at: number } | null = null
  readonly #listing = new SharedWork<string[]>()

  constructor(store: Store | null, options: NodesOptions = {}) {
    this.#store = store
    this.#living = options.living ?? NOBODY
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#home = store && homeReader(store, this.#clock)
    this.#included = includeFilter(options.include ?? [])
    this.#asking = this.#newAsking()
  }

  /** The names that may be nodes and that a token may see, by one LIST. */
  async ids(grant: Pick<Grant, 'nodes'>): Promise<string[]> {
    const sees = nodeFilter(grant)
    const stored = await this.#list()
    const living = this.#living.ids()
    const all = living.length === 0 ? stored : [...new Set([...stored, ...living])].sort(byCodePoint)
    return all.filter(sees)
  }

  /** Whether the store has a home of this name: of a peer, its copy. */
  async hasHome(id: string): Promise<boolean> {
    return (await this.#list().catch((): string[] => [])).includes(id)
  }

  /** A page of the nodes that a token may see, by id, and the id that the next one follows; null when there is none. */
  async page(
    { after, limit }: { after: string; limit: number },
    grant: Grant,
  ): Promise<{ nodes: FleetNode[]; next: string | null }> {
    const start = this.#clock.elapsed()
    const listing = this.ids(grant)
    if (!(await inTime(this.#clock, PATIENCE_MS, listing)))
      throw new StoreError('timeout', 'Cannot list the nodes: the storage takes too long')
    const behind = (await listing).filter((id) => byCodePoint(id, after) > 0)
    const wanted = behind.slice(0, limit)
    const lags = await this.#lags(wanted, grant, PATIENCE_MS - (this.#clock.elapsed() - start))
    await this.#count(wanted, grant, PATIENCE_MS - (this.#clock.elapsed() - start))
    const nodes = wanted.map((id) => this.#show(id, grant, lags)).filter((node) => node !== null)
    return { nodes, next: behind.length > limit ? wanted.at(-1)! : null }
  }

  /** What is known about a node, at most a minute old; null if it is not a home, undefined if it was not asked. */
  async state(id: string, spend: () => void): Promise<HomeState | null | undefined> {
    await this.#ask([id], PRESENCE, spend)
    return this.#known.get(id)?.state
  }

  /**
   * Which of these folders are no homes, and up to when the others have shipped all that a token may see of their logs:
   * ISO 8601 with seconds, or null if no shipper says so or one does not say enough. Of the peers, only those whose
   * copies were read count.
   */
  async states(
    ids: readonly string[],
    grant: Grant,
    copies: ReadonlySet<string> = new Set(),
  ): Promise<{ absent: ReadonlySet<string>; settled: string | null }> {
    const lags = await this.#lags(ids, grant, PATIENCE_MS)
    const absent = new Set(ids.filter((id) => this.#known.get(id)?.state === null))
    let settled = Number.POSITIVE_INFINITY
    for (const id of ids) {
      const { shipped, live } = this.#known.get(id)?.state ?? NOTHING
      if (copies.has(id) && !shipped) return { absent, settled: null }
      if (!shipped || (live !== undefined && !copies.has(id))) continue
      const lag = lags.get(id)
      if (!lag) return { absent, settled: null }
      settled = Math.min(settled, Math.max(0, shipped.at - 1000 * lag.seconds))
    }
    if (settled === Number.POSITIVE_INFINITY) return { absent, settled: null }
    const second = new Date(Math.floor(settled / 1000) * 1000)
    return { absent, settled: second.toISOString().replace('.000Z', 'Z') }
  }

  /** Throws the problem `unknown-node` unless there is a node of this id for a token. */
  async require(id: string, grant: Pick<Grant, 'nodes'>): Promise<void> {
    if (nodeFilter(grant)(id)) {
      if (this.#living.ids().includes(id)) return
      await inTime(this.#clock, PATIENCE_MS, this.#ask([id], PRESENCE))
      // One that cannot be asked counts as one, so that its failure is not hidden.
      if (this.#known.get(id)?.state !== null) return
    }
    const ids = await this.ids(grant).catch(() => [])
    throw unknownNode(suggestion(id, ids.slice(0, COMPARED)))
  }

  /** The names of the folders, which are listed once in five seconds. */
  async #list(): Promise<string[]> {
    if (this.#ids && this.#clock.elapsed() - this.#ids.at < FRESH_MS) return this.#ids.ids
    if (!this.#isShared) return this.#listNow()
    return this.#listing.run('', () => this.#listNow())
  }

  async #listNow(): Promise<string[]> {
    const ids: string[] = []
    if (this.#store === null) return ids
    for await (const { key, folder } of this.#store.list('', { shallow: true, folders: true }))
      if (folder && isNodeId(key.slice(0, -1))) ids.push(key.slice(0, -1))
    // A storage lists `a-b/` before `a/`.
    ids.sort(byCodePoint)
    this.#ids = { ids, at: this.#clock.elapsed() }
    return ids
  }

  /** Asks the nodes whose state is not valid any more; first those that are not known at all, then the oldest. */
  async #ask(
    ids: readonly string[],
    { home, other }: Validity,
    spend = callCounter(this.#options.calls),
  ): Promise<void> {
    const now = this.#clock.elapsed()
    const asked = (id: string) => this.#known.get(id)?.at ?? Number.NEGATIVE_INFINITY
    const isStale = (id: string) => now - asked(id) >= (this.#known.get(id)?.state === null ? other : home)
    const stale = ids.filter(isStale).sort((a, b) => asked(a) - asked(b))
    const asking = this.#isShared ? this.#asking : this.#newAsking()
    await Promise.all(stale.map((id) => this.#askOne(id, asking, spend)))
  }

  /** Asks a node, unless that is under way. It continues after the callers have been answered. */
  #askOne(id: string, { shared, limit }: Asking, spend: () => void): Promise<void> {
    const ask = async () => {
      // A disk answers at once: a thousand homes would hold up everyone else.
      if (isTurnOver()) await yieldToEventLoop()
      const state = await this.#stateOf(id, spend)
      this.#known.delete(id)
      this.#known.set(id, { state, at: this.#clock.elapsed() })
    }
    return shared.run(id, () =>
      limit.run(ask).catch((error) => {
        if (!(error instanceof NotAsked)) throw error
      }),
    )
  }

  /** What a living node says; of one that does not answer, what its copy says. */
  async #stateOf(id: string, spend: () => void): Promise<HomeState | null> {
    const last = this.#known.get(id)?.state
    const stored = async () => (this.#home ? this.#home.state(id, last, spend) : null)
    const live = await this.#living.state(id)
    if (live === undefined) return stored()
    if (live.error === null || !(await this.hasHome(id))) return live
    const copy = await stored()
    return copy ? { ...copy, live: false, answered: live.answered ?? null } : live
  }

  /**
   * Asks nodes, and returns what lags on each in the logs that a token may see. Where more lag than are remembered, they
   * are read again: a token must not learn that others do.
   */
  async #lags(ids: readonly string[], grant: Grant, patience: number): Promise<Map<string, Lag>> {
    const start = this.#clock.elapsed()
    const spend = callCounter(this.#options.calls)
    await inTime(this.#clock, patience, this.#ask(ids, STATE, spend))
    const stateOf = (id: string) => this.#known.get(id)?.state?.lag ?? null
    const sees = this.#logFilter(grant)
    const again = new Map<string, LogLag[] | null>()
    const cut = sees === null ? [] : ids.filter((id) => stateOf(id)?.logs === null)
    const rereads = each(cut, this.#atOnce, async (id) => {
      again.set(id, (await this.#home?.lags(id, spend).catch(() => null)) ?? null)
    })
    if (cut.length > 0) await inTime(this.#clock, patience - (this.#clock.elapsed() - start), rereads)
    const lags = new Map<string, Lag>()
    for (const id of ids) {
      const lag = stateOf(id)
      const logs = lag?.logs ?? again.get(id)
      if (lag && sees === null) lags.set(id, lag)
      else if (logs && sees) lags.set(id, sumOf(logs.filter(({ name }) => sees(name))))
    }
    return lags
  }

  /** Asks those nodes that live for their errors and warnings, if a token may see all of their logs. */
  async #count(ids: readonly string[], grant: Grant, patience: number): Promise<void> {
    if (!this.#seesAll(grant) || !this.#isShared) return
    const live = ids.filter((id) => this.#known.get(id)?.state?.live)
    const counting = this.#living.counts.ask(live).catch(() => {})
    if (live.length > 0) await inTime(this.#clock, Math.min(COUNTING_MS, patience), counting)
  }

  #seesAll(grant: Grant): boolean {
    return grant.scopes.has('logs') && this.#logFilter(grant) === null
  }

  /** What a token may know about a node, by its scopes; null if the folder is not a home. */
  #show(id: string, grant: Grant, lags: ReadonlyMap<string, Lag>): FleetNode | null {
    const known = this.#known.get(id)
    if (known?.state === null) return null
    const { node, known: set, shipped, counts, error, live, answered = null } = known?.state ?? NOTHING
    const isPeer = this.#living.ids().includes(id)
    const age = shipped && shipped.age + Math.max(0, this.#clock.elapsed() - known!.at)
    const sees = this.#logFilter(grant)
    const living = live && this.#seesAll(grant) ? this.#living.counts.get(id) : null
    const logs = living
      ? [living]
      : counts && Object.entries(counts).flatMap(([name, log]) => (sees && !sees(name) ? [] : [log]))
    const ofLogs = {
      shipped: shipped && new Date(shipped.at).toISOString(),
      age: age && Math.round(age / 1000),
      lag: lags.get(id)?.bytes ?? null,
      ...levelsOf(logs, this.#clock.now()),
      day: logs && dayOf(logs, this.#clock.now(), this.#clock.now() - (age ?? 0)),
    }
    return {
      id,
      node: grant.scopes.has('config') ? node : null,
      described: node !== null,
      ...(grant.scopes.has('logs') ? ofLogs : NO_LOGS),
      ...(isPeer && { live: live ?? false, clock: this.#living.offset(id) }),
      ...(isPeer && !live && { answered }),
      ...(set && grant.scopes.has('config') && { known: set }),
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

  get #atOnce(): number {
    return this.#options.atOnce ?? 64
  }

  #newAsking(): Asking {
    const most = this.#atOnce
    const queue = Number.POSITIVE_INFINITY
    return { shared: new SharedWork(), limit: concurrencyLimit({ most, queue, busy: () => new NotAsked() }) }
  }
}

const NOTHING: HomeState = { node: null, shipped: null, lag: null, counts: null, error: 'not-asked' }

/** What a token without the scope `logs` is told about them. */
const NO_LOGS = {
  shipped: null,
  age: null,
  lag: null,
  errors: null,
  warnings: null,
  lastLine: null,
  day: null,
}

/** The errors and warnings of some logs in the last hour, and when the last line of them was written. */
function levelsOf(logs: readonly LogCounts[] | null, now: number) {
  if (logs === null) return { errors: null, warnings: null, lastLine: null }
  const since = Math.floor(now / MINUTE_MS) - COUNTED_MINUTES
  const sum = { errors: 0, warnings: 0, lastLine: null as number | null }
  for (const { lastLine, minutes } of logs) {
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
