import { runtime as ownRuntime } from '#runtime'
import { acceptedTypes } from '../../core/http/accept.ts'
import { respond } from '../../core/http/sliced.ts'
import { onRetries } from '../../store/remote/retry.ts'
import type { Store } from '../../store/store.ts'
import { having, type OptionsOf, text } from '../checked.ts'
import { type Clock, systemClock } from '../limits/clock.ts'
import type { ProcessFacts } from '../runtime/runtime.ts'
import { VERSION } from '../version.ts'
import { configChanged } from './config-changed.ts'
import { peerMetrics, type WatchedPeer } from './peers.ts'
import { createRegistry, type Registry, type Sample } from './registry.ts'
import { observedStore } from './store.ts'

export type { Registry, Sample }

/** What is counted, and its page. */
export interface Metrics {
  /** For your own metrics. */
  registry: Registry
  /** The store with its calls counted. */
  store(store: Store): Store
  /** Reports the start of a request; the returned functions report its end. */
  request(request: Request, route: string): RequestWatch
  /** Counts the searches of an app; those of several apps are added up. */
  scans(limit: ScanLimit): void
  /** Shows when the configuration of the node last changed: `read` tells it in milliseconds since the Unix epoch. */
  configChanged(read: () => Promise<number>): void
  /** Shows how the peers of a fleet are: `peers` tells which there are. */
  peers(peers: () => readonly WatchedPeer[]): void
  /** A store tried a request again after a failure of this kind. `store` listens to the retries of a bucket by itself. */
  retried(kind: string): void
  /** `GET /metrics`. */
  show(request: Request): Promise<Response>
}

/** What the metrics say of the process. */
export const METRICS = {
  /** The runtime's name, for the build info. @default what it calls itself */
  runtime: text,
  /** Time and timers. @default the system's */
  clock: having<Clock>('a clock', 'now', 'elapsed'),
}
export type MetricsOptions = OptionsOf<typeof METRICS>

/** Where searches run and wait. */
export interface ScanLimit {
  readonly load: { running: number; waiting: number }
}

/** Reports the progress of a request. */
export interface RequestWatch {
  /** The response headers are ready. */
  answered(status: number, notes: string | null): void
  /** The last byte was sent, or the body failed. Bytes are null if unknown. */
  ended(bytes: number | null): void
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]
/** Kinds of failures after which a request is tried again. */
const TRANSIENT = ['unavailable', 'throttled', 'timeout']
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Starts counting; on Node, Bun and Deno, with what the process itself reports. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { runtime = ownRuntime.name, clock = systemClock } = options
  const registry = createRegistry()
  const facts = ownRuntime.process()
  if (facts) processMetrics(registry, facts)
  const build = [{ value: 1, labels: { version: VERSION, runtime } }]
  registry.gauge('nodestate_build_info', 'Version of nodestate and the runtime it runs on.', () => build)
  const requests = registry.counter('nodestate_http_requests', 'Requests, by route, method and status.')
  const seconds = registry.histogram(
    'nodestate_http_request_duration_seconds',
    'Seconds until the head of the answer was ready, by route.',
    SECONDS,
  )
  const sizes = registry.histogram('nodestate_http_response_size_bytes', 'Bytes of answers, by route.', BYTES)
  const retries = registry.counter(
    'nodestate_store_retries',
    'Requests to a bucket that were tried again, by kind of failure.',
  )
  const cuts = registry.counter('nodestate_scans_cut', 'Searches that their budget ended early.')
  const hits = registry.counter('nodestate_cache_hits', 'Answers that the client already had (304).')
  // Held weakly: a fleet creates an app for a requested node and drops it again.
  let limits: WeakRef<ScanLimit>[] = []
  const sum = (part: 'running' | 'waiting') => {
    limits = limits.filter((limit) => limit.deref() !== undefined)
    return limits.reduce((total, limit) => total + (limit.deref()?.load[part] ?? 0), 0)
  }
  registry.gauge('nodestate_scans_running', 'Searches that run.', () => sum('running'))
  registry.gauge('nodestate_scans_waiting', 'Searches that are queued.', () => sum('waiting'))
  const refreshes: (() => Promise<void>)[] = []
  let inFlight = 0
  let followers = 0
  registry.gauge('nodestate_http_requests_in_flight', 'Answers that are being made or sent.', () => inFlight)
  registry.gauge('nodestate_followers', 'Clients that follow a log.', () => followers)
  const cut = cuts.with()
  const hit = hits.with({ cache: 'client' })
  const seriesOf = (route: string) => ({
    seconds: seconds.with({ route }),
    sizes: sizes.with({ route }),
    counters: new Map<string, () => void>(),
  })
  /** The series of each route. To find them by their labels for each request takes a tenth of an unchanged tail. */
  const routes = new Map<string, ReturnType<typeof seriesOf>>()
  for (const kind of TRANSIENT) retries.add(0, { kind })
  const retried = (kind: string) => retries.add(1, { kind })
  return {
    registry,
    store(store) {
      onRetries(store, retried)
      return observedStore(store, registry)
    },
    scans: (limit) => void limits.push(new WeakRef(limit)),
    configChanged(read) {
      refreshes.push(configChanged(registry, read, clock))
    },
    peers: (peers) => void refreshes.push(peerMetrics(registry, peers, clock)),
    retried,
    request(request, route) {
      const start = clock.elapsed()
      const method = METHODS.has(request.method) ? request.method : 'other'
      const follows = request.url.includes('follow=') && /[?&]follow=(true|1)?(&|$)/.test(request.url)
      const series = routes.get(route) ?? seriesOf(route)
      routes.set(route, series)
      let following = false
      inFlight++
      return {
        answered(status, notes) {
          const key = `${method} ${status}`
          const count = series.counters.get(key) ?? requests.with({ route, method, status: String(status) })
          series.counters.set(key, count)
          count()
          series.seconds((clock.elapsed() - start) / 1000)
          if (notes?.includes('scan-budget')) cut()
          if (status === 304) hit()
          following = follows && status === 200
          if (following) followers++
        },
        ended(bytes) {
          inFlight--
          if (following) followers--
          if (bytes !== null) series.sizes(bytes)
        },
      }
    },
    async show(request) {
      const accept = request.headers.get('Accept') ?? ''
      const open = accept.includes('openmetrics') && acceptedTypes(accept).has('application/openmetrics-text')
      const type = open ? 'application/openmetrics-text; version=1.0.0' : 'text/plain; version=0.0.4'
      const isHead = request.method === 'HEAD'
      if (!isHead) await Promise.all(refreshes.map((refresh) => refresh()))
      // Reading the values begins a new period of those that cover the time since the last scrape.
      return respond(isHead ? null : registry.text(open ? 'openmetrics' : 'prometheus'), {
        'Content-Type': `${type}; charset=utf-8`,
        'Cache-Control': 'no-store',
        Vary: 'Accept',
        'X-Content-Type-Options': 'nosniff',
      })
    },
  }
}

/** Adds the metrics of a process under the names that Prometheus's own clients use. */
function processMetrics(registry: Registry, facts: ProcessFacts): void {
  const { gauge, counted } = registry
  const cpu = 'Seconds of CPU time that the process used.'
  gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', () => facts.started)
  counted('process_cpu_seconds', cpu, facts.cpuSeconds)
  gauge('process_resident_memory_bytes', 'Bytes of physical memory in use.', facts.residentBytes)
  gauge('process_open_fds', 'Open file descriptors.', facts.openDescriptors)
  gauge('process_max_fds', 'Most file descriptors that may be open.', facts.maxDescriptors)
  gauge('nodestate_event_loop_delay_seconds', 'How late the event loop was since the last scrape.', () => {
    const delays = facts.eventLoopDelay()
    return (
      delays?.map(({ percentile, seconds }) => ({
        value: seconds,
        labels: { percentile: String(percentile) },
      })) ?? null
    )
  })
}
