import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { flagsOf } from '../../settings/flags.ts'
import { SettingsError, shown } from '../../settings/row.ts'
import { loadShipSettings, SHIP_SETTINGS, type ShipSettings, shipHelp } from '../../settings/ship.ts'
import { UnusableBucket } from '../../ship/bucket.ts'
import { UnreadableLog } from '../../ship/disk.ts'
import { ShipMetrics } from '../../ship/metrics.ts'
import { s3Bucket } from '../../ship/s3.ts'
import { Shipper } from '../../ship/shipper.ts'
import { StoreError } from '../../store/store.ts'
import type { CommandLine } from '../../usage.ts'
import { type Environment, parseBucket } from '../service/location.ts'
import { bucketOptions, opened } from '../service/open-bucket.ts'
import { besideOf } from './beside.ts'
import { directoryBucket } from './directory.ts'
import { nativeOf, nodeDisk } from './disk.ts'
import { type Progress, showProgress } from './progress.ts'

/** An unfinished line waits this long for its end. */
const LINE_AGE_MS = 60_000
const EXIT = { done: 0, 'no-directory': 1, replaced: 3 } as const

/** The flags of `nodestate ship`. */
export const SHIP_FLAGS = flagsOf(SHIP_SETTINGS)
export { shipHelp }

/** `nodestate ship`: runs until it is stopped, and returns the exit code. Throws a SettingsError. */
export async function runShip(line: CommandLine, env: Environment = process.env): Promise<number> {
  try {
    return await ship(loadShipSettings(line, env), env)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'denied') {
      report('No permission to write there: check the credentials and their policy.')
      return 1
    }
    if (!(error instanceof UnusableBucket || error instanceof UnreadableLog)) throw error
    report(`${error.message.replaceAll('\n', ' ').replace(/\.$/, '')}.`)
    return 1
  }
}

async function ship(settings: ShipSettings, env: Environment): Promise<number> {
  const logs = settings.home === null ? (settings.logs ?? './logs') : join(settings.home, 'logs')
  const metrics = new ShipMetrics()
  const place = parseBucket(settings.target)
  const bucket = place
    ? opened(s3Bucket, {
        ...bucketOptions(place, env),
        onRequest: (op: string, status: number) => metrics.request(op, status),
      })
    : directoryBucket(settings.target)
  await bucket.check()
  const shipper = new Shipper({
    disk: nodeDisk(logs, report),
    bucket,
    native: nativeOf(),
    beside: besideOf(settings),
    metrics,
    host: hostname(),
    run: randomUUID(),
    include: settings.include,
    rules: {
      segmentBytes: settings.segmentBytes,
      segmentAgeMs: settings.segmentAge,
      lineAgeMs: LINE_AGE_MS,
    },
    holdMs: settings.hold,
    once: settings.once,
    report,
  })
  const unlisten =
    settings.metricsListen && (await listen(settings.metricsListen, () => metrics.render(shipper.status)))
  progress = process.stderr.isTTY ? showProgress(() => shipper.status, process.stderr) : null
  let signals = 0
  const stop = () => {
    // Asked twice: do not wait for what is still running. It is shipped at the next start.
    if (++signals > 1) process.exit(0)
    shipper.stop()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  try {
    const outcome = await shipper.run()
    if (outcome === 'no-directory') report(`There is no log directory ${shown(logs)}.`)
    if (outcome === 'replaced') report('Another shipper of this host has taken over.')
    return EXIT[outcome]
  } finally {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
    progress?.stop()
    progress = null
    unlisten?.()
  }
}

/** Serves the metrics at /metrics; returns how to stop. */
async function listen(
  { host, port }: { host: string; port: number },
  render: () => string,
): Promise<() => void> {
  const server = createServer((request, response) => {
    const known = request.url?.split('?')[0] === '/metrics'
    response.writeHead(known ? 200 : 404, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
    response.end(known ? render() : 'See /metrics\n')
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new SettingsError('file', `Cannot listen on ${host}:${port} for metrics: ${codeOf(cause)}.`, {
      cause,
    })
  }
  const { port: actual } = server.address() as { port: number }
  report(`Metrics at http://${host.includes(':') ? `[${host}]` : host}:${actual}/metrics.`)
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'it failed')
}

let progress: Progress | null = null

function report(line: string): void {
  const text = `nodestate: ${line}\n`
  if (progress) progress.above(text)
  else process.stderr.write(text)
}
