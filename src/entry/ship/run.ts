import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { sleep, systemClock } from '../../kit/limits/clock.ts'
import type { CommandLine } from '../../kit/usage.ts'
import { logFiles } from '../../log/files/files.ts'
import { viewContext } from '../../log/options.ts'
import { type Bucket, persistent, Stopped, UnusableBucket } from '../../ship/bucket.ts'
import { UnreadableLog } from '../../ship/files/disk.ts'
import { levelCounter } from '../../ship/home/levels.ts'
import { ShipMetrics } from '../../ship/metrics.ts'
import { s3Bucket } from '../../ship/s3.ts'
import { Shipper } from '../../ship/shipper.ts'
import { verify } from '../../ship/verify.ts'
import { fsStore } from '../../store/fs.ts'
import { StoreError } from '../../store/store.ts'
import { type Environment, parseBucket } from '../service/location.ts'
import { bucketOptions, opened } from '../service/open-bucket.ts'
import { flagsOf } from '../settings/flags.ts'
import { SettingsError, shown } from '../settings/row.ts'
import { loadShipSettings, SHIP_SETTINGS, type ShipSettings, shipHelp } from '../settings/ship.ts'
import { directoryBucket } from './directory.ts'
import { codeOf, nativeOf, nodeDisk } from './disk.ts'
import { nodeFilesOf } from './node-files.ts'
import { printable, showProgress } from './progress.ts'

/** An unfinished line waits this long for its end. */
const LINE_AGE_MS = 60_000
/** A log that is written slowly gets a segment an hour. */
const SEGMENT_AGE_MS = 3_600_000
const EXIT = { done: 0, 'no-directory': 1, left: 1, replaced: 3 } as const
/** Counting errors and warnings must not get in the way of shipping. */
const COUNT_LIMITS = { memory: 128 * 1024 * 1024, scanBytes: 256 * 1024 * 1024, scanMillis: 2000 }
/** How long `--verify` waits for a storage that fails. */
const VERIFY_PATIENCE_MS = 60_000

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
    if (error instanceof Stopped) {
      report('The storage does not answer.')
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
  // In a directory, the check makes it.
  if (place || !settings.verify) await bucket.check()
  if (settings.verify) return verifyAll(settings, logs, bucket)
  const shipper = new Shipper({
    disk: nodeDisk(logs, report),
    bucket,
    native: nativeOf(),
    nodeFiles: nodeFilesOf(settings),
    levels: levelCounter(
      viewContext(logFiles(fsStore(logs), settings.include), { timezone: 'local', limits: COUNT_LIMITS }),
    ),
    metrics,
    host: hostname(),
    run: randomUUID(),
    process: { pid: process.pid, isRunning },
    include: settings.include,
    rules: {
      segmentBytes: settings.segmentBytes,
      segmentAgeMs: SEGMENT_AGE_MS,
      flushMs: settings.flush,
      lineAgeMs: LINE_AGE_MS,
    },
    holdMs: settings.hold,
    once: settings.once,
    report,
  })
  const unlisten =
    settings.metricsListen &&
    (await listen(settings.metricsListen, () => metrics.render(shipper.status, shipper.waiting)))
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
    if (settings.once && (outcome === 'done' || outcome === 'left')) sayWhatWasShipped(metrics, shipper)
    return EXIT[outcome]
  } finally {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
    progress?.stop()
    progress = null
    unlisten?.()
    // A request that nobody waits for any more would keep the process for a minute.
    setTimeout(() => process.exit(), 500).unref()
  }
}

/** The one line that `--once` prints. */
function sayWhatWasShipped(metrics: ShipMetrics, shipper: Shipper): void {
  const { logs, files, bytes: shipped } = metrics.shipped
  const { left } = shipper.waiting
  const what = [
    files > 0 ? `${count(logs, 'log')}, ${count(files, 'file')}, ${decimal(shipped)}` : null,
    metrics.configVersions > 0 ? 'a new version of the configuration' : null,
  ].filter((part) => part !== null)
  const said = what.length > 0 ? `shipped ${what.join(', ')}` : 'nothing new'
  process.stdout.write(`${said}; ${left.length > 0 ? count(left.length, 'file') : 'nothing'} left\n`)
}

/** `--verify`: prints each file that is not in the destination; it writes nothing. */
async function verifyAll({ include }: ShipSettings, logDirectory: string, bucket: Bucket): Promise<number> {
  const disk = nodeDisk(logDirectory, () => {})
  const begun = systemClock.elapsed()
  const patient = persistent(bucket, {
    random: Math.random,
    sleep: (ms) => sleep(systemClock, ms),
    givesUp: () => systemClock.elapsed() - begun > VERIFY_PATIENCE_MS,
    isFatal: (error) => error instanceof StoreError && error.code === 'denied',
    onFailure: () => {},
  })
  const verified = await verify(disk, patient, nativeOf(), include)
  if (!verified) {
    report(`There is no log directory ${shown(logDirectory)}.`)
    return 1
  }
  const { logs, files, findings } = verified
  for (const { name, kind, detail } of findings)
    process.stdout.write(`${kind} ${printable(name)}${detail && ` (${detail})`}\n`)
  if (findings.length > 0) report(`${findings.length} of ${count(files, 'file')} must not be deleted yet.`)
  else process.stdout.write(`${count(files, 'file')} of ${count(logs, 'log')} verified; nothing missing\n`)
  return findings.length > 0 ? 1 : 0
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** Bytes as people say them: 48 MB. */
function decimal(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  let value = bytes
  for (; value >= 999.5 && at < units.length - 1; at++) value /= 1000
  return `${at === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

/** Serves the metrics at /metrics; returns how to stop. */
async function listen({ host, port }: { host: string; port: number }, render: () => string) {
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

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

let progress: ReturnType<typeof showProgress> | null = null

function report(line: string): void {
  const text = `nodestate: ${line}\n`
  if (progress) progress.above(text)
  else process.stderr.write(text)
}
