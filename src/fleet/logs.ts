import { BoundedMap } from '../limits/bounded-map.ts'
import { type FilesOptions, type LogFiles, logFiles } from '../log/files/files.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { type LogOptions, viewContext } from '../log/options.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { LokiSource } from '../loki/source.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/store.ts'
import type { FleetNodes } from './nodes.ts'

/** What the logs of a fleet are read with. */
export interface FleetLogsOptions extends LogOptions, Omit<FilesOptions, 'follow'> {
  include?: readonly string[]
  metrics?: Metrics
  nodes: FleetNodes
  /** Opens the logs of a node. */
  open(id: string): Store
  /** How many nodes' logs stay open. */
  keep: number
}

/**
 * The logs of every node as sources for Loki's API, narrowed to the files that a token may see. A node is opened when
 * a query wants it.
 */
export function fleetLogs({ nodes, open, keep, ...options }: FleetLogsOptions) {
  const opened = new BoundedMap<string, LogFiles>(keep)
  let limits: ViewContext | null = null

  const filesOf = (id: string): LogFiles => opened.use(id, () => openFiles(id))
  const openFiles = (id: string): LogFiles => {
    const logs = open(id)
    const files = logFiles(options.metrics?.store(logs) ?? logs, options.include, options)
    // A folder that is no node has no logs, and on a disk not even a folder for them.
    return {
      ...files,
      list: async (signal) => ((await nodes.has(id)) ? files.list(signal) : { entries: [] }),
    }
  }
  const contextOf = (id: string, patterns: readonly string[] | null): ViewContext => {
    const files = filesOf(id)
    if (!limits) {
      // One for all nodes: a fleet runs no more searches at once than a node.
      limits = viewContext(files, options)
      options.metrics?.scans(limits.scans)
    }
    return { ...limits, files: patterns === null ? files : narrowFiles(files, patterns) }
  }

  return async (patterns: readonly string[] | null): Promise<LokiSource[]> =>
    (await nodes.ids()).map((id) => {
      let context: ViewContext | null = null
      return {
        node: id,
        get context() {
          context ??= contextOf(id, patterns)
          return context
        },
      }
    })
}
