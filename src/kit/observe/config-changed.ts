import { type Clock, inTime } from '../limits/clock.ts'
import type { Registry } from './registry.ts'

/** The metric that tells when the configuration of a node last changed. */
export const CONFIG_CHANGED = {
  name: 'nodestate_config_changed_timestamp_seconds',
  help: 'When the configuration of the node last changed, in seconds since the Unix epoch.',
}

/** How long a time counts: in a bucket, it costs a LIST. */
const FRESH_MS = 60_000
/** How long a scrape waits for it. */
const PATIENCE_MS = 1000

/**
 * Adds the metric to a registry. `read` tells the time in milliseconds; the metric is left out while it fails. Returns
 * what to wait for before the registry is read.
 */
export function configChanged(
  registry: Registry,
  read: () => Promise<number>,
  clock: Clock,
): () => Promise<void> {
  let changed: number | null = null
  let asked = Number.NEGATIVE_INFINITY
  registry.gauge(CONFIG_CHANGED.name, CONFIG_CHANGED.help, () => changed && changed / 1000)
  const refresh = async () => {
    asked = clock.elapsed()
    changed = await read().catch(() => null)
  }
  return async () => {
    if (clock.elapsed() - asked < FRESH_MS) return
    await inTime(clock, PATIENCE_MS, refresh())
  }
}
