import type { Capability } from '../core/capability.ts'
import { checkOptions, flag } from '../kit/checked.ts'
import { createMetrics, METRICS, type Metrics, type MetricsOptions } from '../kit/observe/metrics.ts'

export type { Metrics, Registry, Sample } from '../kit/observe/metrics.ts'
export type { Span, Tracer } from '../kit/observe/tracer.ts'

/** Whether `/metrics` needs no token. */
const OPEN = {
  /** Whether `/metrics` needs no token. @default false */
  open: flag,
}

/**
 * Counts requests and calls of stores, and shows them at `/metrics` in the format of Prometheus. One object may be added to
 * several apps: their counts are on one page. `registry` takes metrics of your own.
 */
export function metrics(options: MetricsOptions & { open?: boolean | undefined } = {}): Capability & {
  watch: Metrics
  registry: Metrics['registry']
} {
  checkOptions(options, { ...METRICS, ...OPEN }, { what: 'metrics' })
  const { open = false, ...rest } = options
  const watch = createMetrics(rest)
  return {
    name: 'metrics',
    watch,
    registry: watch.registry,
    add({ routing }) {
      routing.add('/metrics', open ? 'nothing' : 'metrics', (request) => watch.show(request))
    },
    preload: () => import('../kit/observe/observer.ts'),
  }
}
