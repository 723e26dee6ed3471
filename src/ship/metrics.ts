import type { LogStatus } from './log.ts'

/** Counts what a shipper does. */
export class ShipMetrics {
  readonly #requests = new Map<string, number>()
  shippedBytes = 0
  lost = 0

  request(op: string, status: number): void {
    const labels = `op="${op}",status="${status}"`
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1)
  }

  /** The Prometheus text format. */
  render(logs: ReadonlyMap<string, LogStatus>): string {
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
      metric('shipped_bytes_total', 'counter', 'Bytes of text that were shipped.', [['', this.shippedBytes]]),
      metric('requests_total', 'counter', 'Requests to the storage.', [...this.#requests]),
      metric('lost_total', 'counter', 'Files that were gone before they were read.', [['', this.lost]]),
    ].join('')
  }
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
