import type { LevelHistogram } from '../kit/answers.ts'
import type { Clock } from '../kit/limits/clock.ts'
import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { SharedWork } from '../kit/limits/once.ts'
import { COLUMNS } from '../log/histogram/chart.ts'
import { DAY_MINUTES, type EachMinute, writeDay } from '../store/segment/day.ts'
import { COUNTED_MINUTES, type LogCounts, MINUTE_MS } from '../store/segment/ship-json.ts'
import type { FleetHome } from './homes.ts'
import { isNodeId, type LivingNodes } from './nodes.ts'
import { Peer, type PeerOptions } from './peer.ts'
import type { HomeState } from './state.ts'

/** The nodes that live: peers, and the node that the service itself runs on. */
export interface Living {
  peers: FleetPeers
  self: (FleetHome & { id: string }) | null
}

/** The peers of a fleet; a function is called for every request: return the same list while nothing has changed. */
export type PeersSource = readonly PeerOptions[] | (() => readonly PeerOptions[])

/** Each peer keeps a few kilobytes, and its connections while they are used. */
export const MOST_PEERS = 1000

/** The living nodes of a fleet, by id. A peer that stays in the list keeps its connections and what is known of it. */
export class FleetPeers {
  readonly #source: PeersSource
  readonly #clock: Clock
  #listed: readonly PeerOptions[] | null = null
  #peers = new Map<string, { peer: Peer; options: PeerOptions }>()

  /** Throws a TypeError about peers that cannot be used. */
  constructor(source: PeersSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
    this.#now()
  }

  get(id: string): Peer | undefined {
    return this.#now().get(id)?.peer
  }

  ids(): string[] {
    return [...this.#now().keys()]
  }

  all(): Peer[] {
    return [...this.#now().values()].map(({ peer }) => peer)
  }

  #now() {
    const listed = typeof this.#source === 'function' ? this.#source() : this.#source
    if (listed === this.#listed) return this.#peers
    checkPeers(listed)
    const peers = new Map<string, { peer: Peer; options: PeerOptions }>()
    for (const options of listed) {
      const known = this.#peers.get(options.id)
      const isSame = known?.options.url === options.url && known.options.token === options.token
      peers.set(options.id, isSame ? known : { peer: new Peer(options, this.#clock), options })
    }
    this.#listed = listed
    this.#peers = peers
    return peers
  }
}

/** What the list of nodes asks of those that live. */
export function livingNodes({ peers, self }: Living, counts: LivingNodes['counts']): LivingNodes {
  return {
    counts,
    ids: () => (self ? [...peers.ids(), self.id] : peers.ids()),
    state: (id) => (self?.id === id ? stateOfSelf(self) : peers.get(id)?.state()),
    offset: (id) => (self?.id === id ? 0 : (peers.get(id)?.wire.health.offset ?? null)),
  }
}

async function stateOfSelf(self: FleetHome): Promise<HomeState> {
  const node = await self.node().catch(() => null)
  return { node, shipped: null, lag: null, counts: null, error: null, live: true }
}

/** A chart that a node counts of its logs; null if it cannot. `missing` names logs that are not in it. */
export type ChartOf = (
  query: string,
  signal: AbortSignal,
) => Promise<(LevelHistogram & { missing: string | null }) | null>

/** How long the counts of the last hour, and those of the day before it, are valid. */
const HOUR_VALID_MS = 60_000
const DAY_VALID_MS = 15 * MINUTE_MS
/** The width of a step of the day, in minutes. */
const DAY_STEP = 15
/** How many nodes count at once. */
const COUNTED_AT_ONCE = 16
/** A count that takes longer is given up. Nobody waits for it, so the node is not taken for one that fails. */
const COUNT_MS = 8000

type Row = [minute: number, errors: number, warnings: number]

/**
 * The errors and warnings of living nodes, which their own charts count: the last hour at most once a minute, the last day
 * four times an hour, and only while somebody asks. About 10 KB for each node.
 */
export class LivingCounts {
  readonly #chartOf: (id: string) => ChartOf | undefined
  readonly #clock: Clock
  readonly #known = new Map<string, { counts: LogCounts | null; at: number }>()
  readonly #days = new Map<string, { rows: Row[] | null; at: number }>()
  readonly #asking = new SharedWork<void>()
  readonly #limit = concurrencyLimit({ most: COUNTED_AT_ONCE, queue: MOST_PEERS })

  /** `chartOf` returns undefined for a node that should not be asked now. */
  constructor(chartOf: (id: string) => ChartOf | undefined, clock: Clock) {
    this.#chartOf = chartOf
    this.#clock = clock
  }

  /** What was last counted of all logs of a node; null if that is not known. */
  get(id: string): LogCounts | null {
    const known = this.#known.get(id)
    return known && this.#clock.elapsed() - known.at < 2 * HOUR_VALID_MS ? known.counts : null
  }

  /** Asks the nodes whose counts are not valid any more. It continues after the callers have been answered. */
  async ask(ids: readonly string[]): Promise<void> {
    const now = this.#clock.elapsed()
    const isStale = (id: string) => now - (this.#known.get(id)?.at ?? -HOUR_VALID_MS) >= HOUR_VALID_MS
    const count = (id: string) => this.#asking.run(id, () => this.#limit.run(() => this.#count(id)))
    await Promise.all(ids.filter(isStale).map(count))
    if (this.#known.size > MOST_PEERS) this.#known.clear()
    if (this.#days.size > MOST_PEERS) this.#days.clear()
  }

  async #count(id: string): Promise<void> {
    const chartOf = this.#chartOf(id)
    if (!chartOf) return
    const minute = Math.floor(this.#clock.now() / MINUTE_MS)
    const at = this.#clock.elapsed()
    const from = minute - COUNTED_MINUTES + 1
    const rowsOf = (from: number, step: number) => this.#rowsOf(chartOf, from, step)
    const hour = await rowsOf(from, 1)
    const counts = hour && {
      lastLine: null,
      minutes: minutesOf(hour),
      ...(await this.#dayOf(id, rowsOf, minute, hour)),
    }
    this.#known.set(id, { counts, at })
  }

  /** The errors and warnings since a minute, in steps of `step` minutes; null if not all are counted in time. */
  async #rowsOf(chartOf: ChartOf, from: number, step: number): Promise<Row[] | null> {
    const given = new AbortController()
    const end = this.#clock.after(COUNT_MS, () => given.abort())
    try {
      return rowsIn(await chartOf(queryOf(from, step), given.signal))
    } catch (error) {
      if (!given.signal.aborted) throw error
      return null
    } finally {
      end()
    }
  }

  /** The day up to the last hour, which is counted less often, and the minutes since. */
  async #dayOf(
    id: string,
    rowsOf: (from: number, step: number) => Promise<Row[] | null>,
    minute: number,
    hour: readonly Row[],
  ): Promise<Pick<LogCounts, 'day'>> {
    const from = (Math.floor(minute / DAY_STEP) + 1) * DAY_STEP - DAY_MINUTES
    const at = this.#clock.elapsed()
    let day = this.#days.get(id)
    // What could not be counted is tried again soon.
    if (!day || at - day.at >= (day.rows ? DAY_VALID_MS : HOUR_VALID_MS)) {
      day = { rows: await rowsOf(from, DAY_STEP), at }
      this.#days.set(id, day)
    }
    // A step that began before the hour did ended long before the day was counted.
    const since = Math.ceil((minute - COUNTED_MINUTES + 1) / DAY_STEP) * DAY_STEP
    const rows = day.rows && [
      ...day.rows.filter(([each]) => each >= from && each < since),
      ...hour.filter(([each]) => each >= since),
    ]
    if (!rows) return {}
    const each: EachMinute = (add) => {
      for (const row of rows) add(...row)
    }
    return { day: writeDay(from, 1, each) }
  }
}

function queryOf(from: number, step: number): string {
  const start = from * MINUTE_MS
  return `file=*&level=warn&since=${new Date(start).toISOString()}&step=${step * MINUTE_MS}&origin=${start}`
}

function rowsIn(chart: Awaited<ReturnType<ChartOf>>): Row[] | null {
  // Logs whose lines have no times have nothing to count.
  const isWhole =
    chart?.complete && (chart.missing ?? ';no-time').split(', ').every((name) => name.endsWith(';no-time'))
  if (!chart || !isWhole) return null
  return chart.buckets.map(({ time, counts }) => {
    const of = (level: string) => counts[COLUMNS.indexOf(level)]!
    return [Math.floor(time / MINUTE_MS), of('error') + of('fatal'), of('warn')]
  })
}

function minutesOf(rows: readonly Row[]): LogCounts['minutes'] {
  const found = rows.filter(([, errors, warnings]) => errors + warnings > 0)
  return Object.fromEntries(found.map(([minute, errors, warnings]) => [minute, [errors, warnings] as const]))
}

function checkPeers(peers: readonly PeerOptions[]): void {
  if (peers.length > MOST_PEERS)
    throw new TypeError(`Cannot use the option peers: there are ${peers.length}, and at most ${MOST_PEERS}.`)
  const ids = new Set<string>()
  for (const { id, url } of peers) {
    if (!isNodeId(id))
      throw new TypeError(`Cannot use the option peers: ${JSON.stringify(id)} is not an id such as db-1.`)
    if (ids.has(id)) throw new TypeError(`Cannot use the option peers: the id ${id} is given twice.`)
    if (!URL.canParse(url)) throw new TypeError(`Cannot use the option peers: ${id} has no valid address.`)
    ids.add(id)
  }
}
