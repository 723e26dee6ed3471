import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { systemClock } from '../kit/limits/clock.ts'
import { CONFIG_CHANGED } from '../kit/observe/config-changed.ts'
import { createRegistry, type Sample } from '../kit/observe/registry.ts'
import { type LeftFile, type LogCounts, MINUTE_MS, MOST_COUNTED } from '../store/segment/ship-json.ts'
import type { LogStatus } from './log.ts'

export interface NotShipped {
  /** Files that are not or not completely shipped yet, and their bytes. */
  files: number
  bytes: number
  left: readonly LeftFile[]
}

/** The errors and warnings of a log since the shipper started, and what was last counted of each minute. */
interface Records {
  error: number
  warn: number
  minutes: LogCounts['minutes']
}

const NONE: readonly [number, number] = [0, 0]

export class ShipMetrics {
  /** The logs that were written last, as many as are counted: each is two series. */
  readonly #records = new BoundedMap<string, Records>(MOST_COUNTED)
  readonly #start: number
  readonly #requests = new Map<string, Sample>()
  readonly #lives = new Map<string, Set<number>>()
  shippedBytes = 0
  lost = 0
  /** When the heartbeat was last written, in milliseconds since the Unix epoch. */
  heartbeat: number | null = null
  /** When the configuration last changed, in milliseconds since the Unix epoch; null if that is not known. */
  configChanged: number | null = null
  /** How many versions of the configuration were written. */
  configVersions = 0

  /** `start` is when the shipper started, in milliseconds since the Unix epoch: earlier minutes are not counted. */
  constructor(start: number = systemClock.now()) {
    this.#start = Math.floor(start / MINUTE_MS)
  }

  /** Adds what the minutes have more than when they were last counted: late records make a minute grow. */
  onCounted(counts: Readonly<Record<string, LogCounts>>): void {
    for (const [log, { minutes }] of Object.entries(counts)) {
      const known = this.#records.use(log, () => ({ error: 0, warn: 0, minutes: {} }))
      const most: Records['minutes'] = {}
      for (const [minute, [errors, warnings]] of Object.entries(minutes)) {
        if (Number(minute) < this.#start) continue
        const [error, warn] = known.minutes[minute] ?? NONE
        // A count that was cut short may be lower than the one before.
        const [now, nowWarn] = [Math.max(error, errors), Math.max(warn, warnings)]
        known.error += now - error
        known.warn += nowWarn - warn
        most[minute] = [now, nowWarn]
      }
      known.minutes = most
    }
  }

  get shipped(): { logs: number; files: number; bytes: number } {
    const files = [...this.#lives.values()].reduce((sum, lives) => sum + lives.size, 0)
    return { logs: this.#lives.size, files, bytes: this.shippedBytes }
  }

  onShipped(log: string, life: number, bytes: number): void {
    this.shippedBytes += bytes
    this.#lives.set(log, (this.#lives.get(log) ?? new Set()).add(life))
  }

  request(op: string, status: number): void {
    const key = `${op} ${status}`
    const value = (this.#requests.get(key)?.value ?? 0) + 1
    this.#requests.set(key, { value, labels: { op, status: String(status) } })
  }

  render(logs: ReadonlyMap<string, LogStatus>, { files, bytes, left }: NotShipped): string {
    const { gauge, counted, text } = createRegistry()
    const each = (lag: 'lagBytes' | 'lagSeconds') => () =>
      [...logs].map(([log, status]) => ({ value: status[lag], labels: { log } }))
    const waited = 'How long the oldest unshipped bytes have waited.'
    gauge('nodestate_ship_lag_bytes', 'Bytes that are only on disk.', each('lagBytes'))
    gauge('nodestate_ship_lag_seconds', waited, each('lagSeconds'))
    gauge('nodestate_ship_waiting_files', 'Files that are not completely shipped yet.', () => files)
    gauge('nodestate_ship_waiting_bytes', 'Bytes of these files that are only on disk.', () => bytes)
    gauge('nodestate_ship_left_files', 'Files that cannot be shipped.', () => left.length)
    const beaten = 'When the heartbeat was last written to the storage.'
    gauge('nodestate_ship_heartbeat_timestamp_seconds', beaten, () => this.heartbeat && this.heartbeat / 1000)
    counted('nodestate_ship_shipped_bytes', 'Bytes of text that were shipped.', () => this.shippedBytes)
    counted('nodestate_ship_requests', 'Requests to the storage.', () => [...this.#requests.values()])
    counted('nodestate_ship_lost', 'Files that were gone before they were read.', () => this.lost)
    counted('nodestate_log_records', 'Records of logs, by level; error includes fatal.', () => this.#levels())
    // The same metric as that of a service next to a node.
    gauge(CONFIG_CHANGED.name, CONFIG_CHANGED.help, () => this.configChanged && this.configChanged / 1000)
    return text('prometheus')
  }

  #levels(): Sample[] {
    return [...this.#records].flatMap(([log, records]) =>
      (['error', 'warn'] as const).map((level) => ({ value: records[level], labels: { log, level } })),
    )
  }
}
