import type { LogOptions } from '../../log/options.ts'
import type { Settings } from '../../settings.ts'

const MIB = 1024 * 1024

/** How logs are read on a node: its own zone, and budgets for a machine. */
export function nodeLogOptions(settings: Settings): LogOptions {
  return logOptions(settings, { timezone: 'local' })
}

/** How logs are read at the edge, where memory and requests are counted. */
export function edgeLogOptions(settings: Settings): LogOptions {
  const edge = { timezone: 'UTC', scanBytes: 64 * MIB, archiveBytes: 128 * MIB, windowBytes: 8 * MIB }
  return logOptions(settings, edge)
}

function logOptions(settings: Settings, defaults: LogOptions): LogOptions {
  const { timezone, scanBytes, scanSeconds, scans, archiveBytes, followers } = settings
  return {
    ...defaults,
    ...(timezone !== null && { timezone }),
    ...(scanBytes !== null && { scanBytes }),
    ...(scanSeconds !== null && { scanMillis: scanSeconds * 1000 }),
    ...(scans !== null && { scans }),
    ...(archiveBytes !== null && { archiveBytes }),
    ...(followers !== null && { followers }),
  }
}
