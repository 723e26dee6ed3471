import type { Grant } from '../core/access/grant.ts'
import type { LogSource } from '../core/capability.ts'
import { HOME_LOGS, type Home, openHome } from '../core/node/home.ts'
import type { VersionSource } from '../core/node/versions.ts'
import { BoundedMap } from '../kit/limits/bounded-map.ts'
import type { Metrics } from '../kit/observe/metrics.ts'
import { type FilesOptions, logFiles } from '../log/files/files.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { type LogOptions, type ProcessLimits, viewContext } from '../log/options.ts'
import { stemOf } from '../log/rotated/names.ts'
import { parseZone } from '../log/time.ts'
import type { ViewContext } from '../log/view/context.ts'
import { segmentStore, TextCache } from '../store/segments.ts'
import { type Store, StoreError } from '../store/store.ts'
import { folderStore } from './folder.ts'

export interface HomesOptions extends LogOptions, Omit<FilesOptions, 'follow'> {
  /** Where the homes are; absent where all nodes are peers. */
  store?: Store | undefined
  /** Whether the logs of a home may be in folders. @default false */
  nested?: boolean | undefined
  include?: readonly string[] | undefined
  metrics?: Metrics | undefined
}

/** What a node has: its logs, its configuration and its description. */
export interface FleetHome extends Omit<Home, 'versions'> {
  logs: Store
  versions: VersionSource
  /** What a peer is called in problems. */
  who?: string
}

/** A peer, as far as its logs are concerned. */
interface LivingPeer extends FleetHome {
  zone(): Promise<string | null>
}

/** The nodes that live: peers, and the node that the service itself runs on. */
interface LivingHomes {
  peers: { get(id: string): LivingPeer | undefined }
  self: (FleetHome & { id: string }) | null
  /** Whether a peer reads its own logs. @default they are read here */
  isReader?: (id: string) => boolean
}

/** How many files of one home are held in memory: a list of many nodes holds those of many. */
const MOST_LISTED = 10_000

/** How many homes stay open, with their caches. */
export const KEPT_HOMES = 100

/** The homes of a fleet. It does not know who may see which node: ask `FleetNodes` first. */
export class FleetHomes {
  readonly #options: HomesOptions
  readonly #limits: ProcessLimits
  /** One for all homes: with one each, a hundred homes would keep 3 GB. */
  readonly #cache: TextCache
  readonly #homes = new BoundedMap<string, FleetHome>(KEPT_HOMES)
  readonly #contexts = new BoundedMap<string, ViewContext>(KEPT_HOMES)
  /** By peer: one whose address changed is another. */
  readonly #live = new WeakMap<FleetHome, { zone: string | null; context: ViewContext }>()
  readonly #living: LivingHomes
  /** The peers that read their own logs, by their files. */
  readonly #readers = new WeakMap<ViewContext['files'], string>()

  constructor(options: HomesOptions, limits: ProcessLimits, living: LivingHomes) {
    this.#options = options
    this.#limits = limits
    this.#living = living
    this.#cache = new TextCache(options.limits?.memory)
  }

  /** The node itself if it lives; undefined if there is only its copy in the bucket. */
  live(id: string): FleetHome | undefined {
    const { self, peers } = this.#living
    return self?.id === id ? self : peers.get(id)
  }

  get hasStore(): boolean {
    return this.#options.store !== undefined
  }

  /** The home of a node in the bucket. */
  home(id: string): FleetHome {
    const { follow = {} } = this.#options
    const { store, nested = false, join = false } = this.#options
    if (store === undefined) throw new StoreError('unavailable', 'There is no bucket with a copy of the node')
    return this.#homes.use(id, () => {
      const folder = folderStore(store, `${id}/`)
      const mirror = folderStore(store, `${id}/${HOME_LOGS}/`)
      const shared = follow && follow.shared !== false
      const logs = segmentStore(folder, mirror, {
        stemOf,
        shared,
        nested: nested || join !== false,
        cache: this.#cache,
        clock: this.#limits.clock,
      })
      return { logs, ...openHome(folder) }
    })
  }

  /**
   * What views of a node's logs need, with the files that a token may see. All nodes share their limits. Throws a
   * StoreError if a peer does not say in which zone its times are.
   */
  async context(id: string, grant: Pick<Grant, 'files'>): Promise<ViewContext> {
    const home = this.live(id)
    if (home === undefined) return this.copy(id, grant)
    const zone = await this.zone(id)
    const known = this.#live.get(home)
    if (known?.zone === zone) return narrowed(known.context, grant)
    // A peer decides which files it shows, and whether it joins them.
    const own = home === this.#living.self ? {} : { join: false }
    const options = { ...this.#options, ...own, ...(zone !== null && { timezone: zone }) }
    const context = this.#contextOf(home, options)
    if (this.#living.isReader?.(id)) this.#readers.set(context.files, id)
    this.#live.set(home, { zone, context })
    return narrowed(context, grant)
  }

  /** The peer that reads a log; undefined if it is read here, as for a token that may see only some files. */
  readerOf({ files }: ViewContext): string | undefined {
    return this.#readers.get(files)
  }

  /** The same of the copy in the bucket. */
  copy(id: string, grant: Pick<Grant, 'files'>): ViewContext {
    return narrowed(
      this.#contexts.use(id, () => this.#contextOf(this.home(id), this.#options)),
      grant,
    )
  }

  /** The zone of a peer's times; null for the one of this service. */
  async zone(id: string): Promise<string | null> {
    const { self, peers } = this.#living
    const zone = self?.id === id ? null : ((await peers.get(id)?.zone()) ?? null)
    return zone !== null && parseZone(zone) === null ? null : zone
  }

  /** Logs of which every call fails. */
  failing(error: StoreError): ViewContext {
    const fail = () => Promise.reject(error)
    const list: Store['list'] = () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) })
    return viewContext(logFiles({ list, stat: fail, read: fail }), this.#options, this.#limits)
  }

  #contextOf({ logs }: FleetHome, options: HomesOptions): ViewContext {
    const { metrics, include } = options
    const files = logFiles(metrics?.store(logs) ?? logs, include, { ...options, mostListed: MOST_LISTED })
    return viewContext(files, options, this.#limits)
  }
}

/** The nodes with their logs. One in a bucket is opened only when a query wants it. */
export async function sourcesOf(
  homes: FleetHomes,
  ids: readonly string[],
  grant: Pick<Grant, 'files'>,
): Promise<LogSource[]> {
  return Promise.all(
    ids.map(async (node) => {
      const stored = {
        node,
        get context() {
          return homes.copy(node, grant)
        },
      }
      if (homes.live(node) === undefined) return stored
      const context = await homes.context(node, grant).catch((error) => {
        if (error instanceof StoreError) return homes.failing(error)
        throw error
      })
      return { node, context }
    }),
  )
}

function narrowed(context: ViewContext, { files: patterns }: Pick<Grant, 'files'>): ViewContext {
  if (patterns === null) return context
  return { ...context, files: narrowFiles(context.files, patterns) }
}
