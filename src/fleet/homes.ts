import type { Grant } from '../access/grant.ts'
import { BoundedMap } from '../limits/bounded-map.ts'
import { type FilesOptions, logFiles } from '../log/files/files.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { type LogOptions, type ProcessLimits, viewContext } from '../log/options.ts'
import { stemOf } from '../log/rotated/names.ts'
import type { ViewContext } from '../log/view/context.ts'
import { HOME_LOGS, type Home, openHome } from '../node/home.ts'
import type { Metrics } from '../observe/metrics.ts'
import { segmentStore, TextCache } from '../store/segments.ts'
import type { Store } from '../store/store.ts'
import { folderStore } from './folder.ts'

export interface HomesOptions extends LogOptions, Omit<FilesOptions, 'follow'> {
  store: Store
  include?: readonly string[] | undefined
  metrics?: Metrics | undefined
}

/** What a node has: its logs, its configuration and its description. */
export interface FleetHome extends Home {
  logs: Store
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

  constructor(options: HomesOptions, limits: ProcessLimits) {
    this.#options = options
    this.#limits = limits
    this.#cache = new TextCache(options.limits?.memory)
  }

  home(id: string): FleetHome {
    const { store, follow = {} } = this.#options
    return this.#homes.use(id, () => {
      const folder = folderStore(store, `${id}/`)
      const mirror = folderStore(store, `${id}/${HOME_LOGS}/`)
      const shared = follow && follow.shared !== false
      const logs = segmentStore(folder, mirror, {
        stemOf,
        shared,
        cache: this.#cache,
        clock: this.#limits.clock,
      })
      return { logs, ...openHome(folder) }
    })
  }

  /** What views of a node's logs need, with the files that a token may see. All nodes share their limits. */
  context(id: string, { files: patterns }: Pick<Grant, 'files'>): ViewContext {
    const context = this.#contexts.use(id, () => {
      const { metrics, include } = this.#options
      const { logs } = this.home(id)
      const files = logFiles(metrics?.store(logs) ?? logs, include, {
        ...this.#options,
        mostListed: MOST_LISTED,
      })
      return viewContext(files, this.#options, this.#limits)
    })
    return patterns === null ? context : { ...context, files: narrowFiles(context.files, patterns) }
  }
}
