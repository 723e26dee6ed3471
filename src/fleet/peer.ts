import { toProblem } from '../core/http/problem.ts'
import { configTooLarge, type Home, LARGEST_CONFIG } from '../core/node/home.ts'
import { nodeFrom } from '../core/node/identity.ts'
import type { NodeInfo } from '../kit/answers.ts'
import type { Clock } from '../kit/limits/clock.ts'
import { type PeerAddress, type PeerRequest, PeerWire, peerError } from '../store/peer/wire.ts'
import { storeOver } from '../store/peer.ts'
import { AttemptTimer } from '../store/remote/retry.ts'
import { CONFIGS, parseVersion, versionKey } from '../store/segment/configs.ts'
import { byCodePoint, type Entry, type Store, StoreError } from '../store/store.ts'
import type { HomeState } from './state.ts'

/** A node that runs nodestate itself. */
export interface PeerOptions extends Omit<PeerAddress, 'clock'> {
  /** What the node is called here, whatever it calls itself. */
  id: string
  /** Spreads the pauses between tries. @default Math.random */
  random?: (() => number) | undefined
}

/** How long a small answer may take in all. */
const ANSWER_MS = 4000
/** How long the zone of a peer is valid. */
const ZONE_MS = 60_000
/** A text of 1 MiB, every third character of it escaped. */
const LONGEST_ANSWER = 4 * 1024 * 1024
/** How many versions of a configuration are asked for. */
const MOST_VERSIONS = 1000

const UNKNOWN: HomeState = { node: null, shipped: null, lag: null, counts: null, error: null }

/** A living node: its logs as a store, its configuration and its description over its API. */
export class Peer implements Home {
  readonly id: string
  readonly wire: PeerWire
  readonly logs: Store
  readonly versions: Store
  readonly #clock: Clock
  #zoneAt = Number.NEGATIVE_INFINITY
  /** When it last answered, for people. */
  #answered: number | null = null
  #asking: Promise<void> | null = null

  constructor({ id, random, ...address }: PeerOptions, clock: Clock) {
    this.id = id
    this.#clock = clock
    this.wire = new PeerWire({ ...address, clock })
    this.logs = storeOver(this.wire, { clock, random, who: this.who })
    this.versions = this.#versionStore()
  }

  /** What it is called in problems. */
  get who(): string {
    return `The node ${this.id} at ${this.wire.address}`
  }

  async config(): Promise<string> {
    return (await this.#config('')).config
  }

  async node(): Promise<NodeInfo> {
    return (await this.#config('')).node
  }

  /** Asks for its description, which also shows whether it answers and how its clock goes. */
  async state(): Promise<HomeState> {
    try {
      const { node, known } = await this.#config('?detail=true')
      this.#answered = this.#clock.now()
      return { ...UNKNOWN, node, known, live: true }
    } catch (error) {
      // Its token may not have the scope: the logs can be read all the same.
      if (error instanceof StoreError && error.code === 'denied' && this.wire.health.up)
        return { ...UNKNOWN, live: true }
      return { ...UNKNOWN, live: false, answered: this.#answered, error: toProblem(error).code }
    }
  }

  /** Asks whether it lives. */
  async probe(): Promise<void> {
    await this.#answer({ path: 'healthz' }, async (answer) => void (await answer.body?.cancel()))
  }

  /** The zone of times in its logs that do not name one; null if the peer does not say. Throws if it does not answer. */
  async zone(): Promise<string | null> {
    if (this.#clock.elapsed() - this.#zoneAt >= ZONE_MS) {
      this.#asking ??= this.#askZone().finally(() => {
        this.#asking = null
      })
      await this.#asking
    }
    return this.wire.zone
  }

  /** Nothing is wanted but its zone, so of its list the answer for a name that no file has. */
  async #askZone(): Promise<void> {
    await this.#json({ path: `api/v1/log/list?etag=true&prefix=${encodeURIComponent('\u0001')}` })
    this.#zoneAt = this.#clock.elapsed()
  }

  async #config(query: string): Promise<{ config: string; node: NodeInfo; known: (keyof NodeInfo)[] }> {
    const { config, node, known } = (await this.#json({ path: `api/v1/config${query}` })) as {
      config?: unknown
      node?: unknown
      known?: unknown
    }
    if (typeof config !== 'string') throw new StoreError('unavailable', 'The peer sent no configuration')
    if (config.length > LARGEST_CONFIG) throw configTooLarge()
    try {
      const info = nodeFrom(node)
      const isKnown = (field: keyof NodeInfo) => !Array.isArray(known) || known.includes(field)
      return { config, node: info, known: (Object.keys(info) as (keyof NodeInfo)[]).filter(isKnown) }
    } catch (cause) {
      throw new StoreError('unavailable', 'The peer sent no description of itself', { cause })
    }
  }

  #json(request: PeerRequest, signal?: AbortSignal): Promise<unknown> {
    return this.#answer(request, (answer, timer) => this.wire.json(answer, timer, LONGEST_ANSWER), signal)
  }

  async #answer<T>(
    request: PeerRequest,
    take: (answer: Response, timer: AttemptTimer) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const timer = new AttemptTimer(this.#clock, signal)
    timer.start(ANSWER_MS)
    try {
      const answer = await this.wire.send(request, timer)
      if (answer.status !== 200) throw await peerError(this.wire, answer, timer)
      return await take(answer, timer)
    } catch (error) {
      signal?.throwIfAborted()
      const failure = timer.isLate
        ? new StoreError('timeout', 'The peer did not answer in time', { cause: error })
        : error instanceof StoreError
          ? error
          : new StoreError('unavailable', 'The connection to the peer failed', { cause: error })
      failure.who ??= this.who
      throw failure
    } finally {
      timer.end()
    }
  }

  /** The versions of its configuration as the objects that a shipper would write. */
  #versionStore(): Store {
    const list = async (signal?: AbortSignal): Promise<Entry[]> => {
      const path = `api/v1/config/history?limit=${MOST_VERSIONS}`
      const found = await this.#json({ path }, signal)
      if (!Array.isArray(found)) throw new StoreError('unavailable', 'The peer sent no history')
      const entries = found.map((version): Entry => {
        const { time, size } = (version ?? {}) as Readonly<Record<string, unknown>>
        if (!Number.isSafeInteger(time) || !Number.isSafeInteger(size))
          throw new StoreError('unavailable', 'The peer sent a history that makes no sense')
        const key = versionKey({ time: time as number, crc: 0 })
        return { key, size: size as number, modified: time as number, etag: `"${time}"` }
      })
      return entries.sort((a, b) => byCodePoint(a.key, b.key))
    }
    return {
      async *list(prefix = '', { after, limit = MOST_VERSIONS, signal } = {}) {
        if (!CONFIGS.startsWith(prefix) && !prefix.startsWith(CONFIGS)) return
        const wanted = ({ key }: Entry) =>
          key.startsWith(prefix) && (after === undefined || byCodePoint(key, after) > 0)
        yield* (await list(signal)).filter(wanted).slice(0, limit)
      },
      stat: async (key, { signal } = {}) => {
        const versions = await list(signal)
        return (key === 'config.toml' ? versions[0] : versions.find((entry) => entry.key === key)) ?? null
      },
      read: async (key, range, { signal } = {}) => {
        const version = parseVersion(key)
        if (version === null) return null
        signal?.throwIfAborted()
        const at = new Date(version.time).toISOString()
        const { config } = await this.#config(`?at=${encodeURIComponent(at)}`)
        const body = new TextEncoder().encode(config)
        const entry = { key, size: body.length, modified: version.time, etag: `"${version.time}"` }
        const most = range && 'length' in range ? (range.length ?? body.length) : body.length
        return { entry, offset: 0, length: Math.min(most, body.length), body: body.slice(0, most) }
      },
    }
  }
}
