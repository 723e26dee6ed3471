import type { LogOptions } from '../../log/options.ts'
import type { Settings } from '../settings.ts'

const MIB = 1024 * 1024
/** What a timer can wait for: 24 days. */
const LONGEST = 2 ** 31 - 1
/** Memory of a worker. */
export const EDGE_MEMORY = 128 * MIB

/** How logs are read on a node: in its own zone, with budgets for its memory in bytes. */
export function nodeLogOptions(settings: Settings, memory: number): LogOptions {
  return logOptions(settings, { timezone: 'local', limits: { memory } })
}

/** How logs are read at the edge, where memory and requests are scarce. */
export function edgeLogOptions(settings: Settings): LogOptions {
  const limits = {
    scanBytes: 64 * MIB,
    archiveBytes: 128 * MIB,
    windowBytes: 8 * MIB,
    memory: EDGE_MEMORY,
    // Workers may have six connections at once.
    parallelReads: 6,
    // And fifty requests in all, on the free plan: about four for each log.
    sources: 12,
    scans: 4,
  }
  return logOptions(settings, { timezone: 'UTC', limits })
}

function logOptions(settings: Settings, defaults: LogOptions): LogOptions {
  const { timezone, maxSize, scanBytes, scanSeconds, scans, archiveBytes, followers } = settings
  return {
    ...defaults,
    ...(timezone !== null && { timezone }),
    limits: {
      ...defaults.limits,
      ...(maxSize !== null && { maxSize }),
      ...(scanBytes !== null && { scanBytes }),
      ...(scanSeconds !== null && { scanMillis: Math.min(scanSeconds * 1000, LONGEST) }),
      ...(scans !== null && { scans }),
      ...(archiveBytes !== null && { archiveBytes }),
    },
    follow: followers === null ? {} : { followers },
  }
}
