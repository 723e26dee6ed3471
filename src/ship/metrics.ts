import { CONFIG_CHANGED } from '../observe/config-changed.ts'
import type { LeftFile } from '../segment/ship-json.ts'
import type { LogStatus } from './log.ts'

/** What is not in the bucket. */
export interface NotShipped {
  /** Files that are not or not completely shipped yet, and their bytes. */
  files: number
  bytes: number
  /** Files that cannot be shipped. */
  left: readonly LeftFile[]
}

/** Counts what a shipper does. */
export class ShipMetrics {
  readonly #requests = new Map<string, number>()
  readonly #lives = new Map<string, Set<number>>()
  shippedBytes = 0
  lost = 0
  /** When the configuration last changed, in milliseconds since the Unix epoch; null if that is not known. */
  configChanged: number | null = null

  /** The logs and files of which bytes were shipped. */
  get shipped(): { logs: number; files: number; bytes: number } {
    const files = [...this.#lives.values()].reduce((sum, lives) => sum + lives.size, 0)
    return { logs: this.#lives.size, files, bytes: this.shippedBytes }
  }

  onShipped(log: string, life: number, bytes: number): void {
    this.shippedBytes += bytes
    this.#lives.set(log, (this.#lives.get(log) ?? new Set()).add(life))
  }

  request(op: string, status: number): void {
    const labels = `op="${op}",status="${status}"`
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1)
  }

  /** The Prometheus text format. */
  render(logs: ReadonlyMap<string, LogStatus>, { files, bytes, left }: NotShipped): string {
    const each = (value: (status: LogStatus) => number) =>
      [...logs].map(([log, status]) => [`log=${JSON.stringify(log)}`, value(status)] as const)
    return [
      metric(
        'lag_bytes',
        'gauge',
        'Bytes that are only on disk.',
        each((status) => status.lagBytes),
      ),
      metric(
        'lag_seconds',
        'gauge',
        'How long the oldest unshipped bytes have waited.',
        each((status) => status.lagSeconds),
      ),
      metric('waiting_files', 'gauge', 'Files that are not completely shipped yet.', [['', files]]),
      metric('waiting_bytes', 'gauge', 'Bytes of these files that are only on disk.', [['', bytes]]),
      metric('left_files', 'gauge', 'Files that cannot be shipped.', [['', left.length]]),
      metric('shipped_bytes_total', 'counter', 'Bytes of text that were shipped.', [['', this.shippedBytes]]),
      metric('requests_total', 'counter', 'Requests to the storage.', [...this.#requests]),
      metric('lost_total', 'counter', 'Files that were gone before they were read.', [['', this.lost]]),
      this.configChanged === null ? '' : configChangedText(this.configChanged),
    ].join('')
  }
}

/** The same metric as that of a service next to a node. */
function configChangedText(changed: number): string {
  const { name, help } = CONFIG_CHANGED
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${changed / 1000}\n`
}

function metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string {
  const full = `nodestate_ship_${name}`
  const lines = values.map(([labels, value]) => `${full}${labels ? `{${labels}}` : ''} ${value}\n`)
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`
}
