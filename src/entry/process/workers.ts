import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loaded, SettingsError } from '../../settings.ts'
import { serve } from '../node.ts'
import { origin } from '../own-log/log-line.ts'
import type { LineWriter } from '../own-log/rotating-file.ts'
import { urlOf } from '../server/serve.ts'
import { compose, describe } from '../service/compose.ts'
import type { Environment } from '../service/location.ts'
import { noteFailures, type Running } from './program.ts'
import { startWith } from './start.ts'
import { type MetricsOrder, type MetricsWord, workerMetrics, workersMetrics } from './worker-metrics.ts'

const WORKERS = origin('entry/process/workers.ts', 'Server', 'Workers')
const startNode = startWith(serve)

/** A worker that lived for less than this died at startup. */
const AT_ONCE_MS = 2000
/** After this many such deaths in a row the service exits: it is not a coincidence. */
const DEATHS = 5
/** The delay before a restart doubles from the first to the second value while workers die at startup. */
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 2000

/** From the primary to a worker. */
type Order = { start: Loaded } | { stop: number } | MetricsOrder
/** From a worker to the primary. */
type Word =
  | 'ready'
  | { listens: number }
  | { refuses: { reason: SettingsError['reason'] | null; message: string } }
  | MetricsWord

/** Serves with one process, or with several that share the port. */
export function startNodeOrWorkers(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  return (loaded.settings.workers ?? 1) > 1
    ? startWorkers(loaded, stderr, env)
    : startNode(loaded, stderr, env)
}

/**
 * Starts and supervises the workers: one that dies is restarted. The settings are read once, here, so that
 * all serve the same, whenever they were started.
 */
async function startWorkers(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  // Each worker accepts by itself. Handed out by the primary, a connection that was on its way to a worker that dies
  // would neither be answered nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const metrics = workersMetrics()
  const { settings, log, tls, warnings, welcome } = compose(loaded, stderr, env, {
    runtime: 'node',
    joinMetrics: metrics.join,
  })
  const order: Order = { start: { ...loaded, warnings: [], onlineTime: Date.now() } }
  const workers = new Set<Worker>()
  let stopping = false
  let deaths = 0

  const begin = async (): Promise<number> => {
    const worker = cluster.fork()
    workers.add(worker)
    metrics.watch(worker)
    const born = performance.now()
    // A message to a worker that is gone; its exit is what counts.
    worker.on('error', () => {})
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      if (!stopping && listening) void again(performance.now() - born, signal ?? `exit code ${code}`)
    })
    return listeningOf(worker, order)
  }
  /** A worker that dies after the start is replaced, unless it happens again and again. */
  const again = async (lived: number, how: string) => {
    deaths = lived < AT_ONCE_MS ? deaths + 1 : 1
    log.error(WORKERS, `A worker ended (${how})`, { lived: Math.round(lived) })
    if (deaths >= DEATHS) return giveUp()
    await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (deaths - 1)))
    if (!stopping) await begin().catch((error) => log.error(WORKERS, describe(error)))
  }
  const giveUp = async () => {
    stderr.write('nodestate: Workers keep dying as soon as they start; giving up.\n')
    await close(0)
    process.exit(1)
  }
  const close = async (graceMs = 3000) => {
    if (stopping) return
    stopping = true
    const ended = [...workers].map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
    for (const worker of workers) if (worker.isConnected()) worker.send({ stop: graceMs } satisfies Order)
    await Promise.race([Promise.all(ended), sleep(graceMs + 2000)])
    for (const worker of workers) worker.process.kill('SIGKILL')
    log.close()
  }

  let listening = false
  try {
    const ports = await Promise.all(Array.from({ length: settings.workers! }, begin))
    listening = true
    const url = urlOf(tls !== null, settings.host, ports[0]!)
    return { url, welcome: welcome(url), warnings, log, close }
  } catch (error) {
    await close(0)
    throw error
  }
}

/** The port that a worker listens on; throws what the worker refuses with. */
function listeningOf(worker: Worker, order: Order): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.on('message', (word: Word) => {
      // An order sent earlier would be lost.
      if (word === 'ready') return void worker.send(order)
      if ('listens' in word) return resolve(word.listens)
      if (!('refuses' in word)) return
      const { reason, message } = word.refuses
      reject(reason === null ? new Error(message) : new SettingsError(reason, message))
    })
    worker.once('exit', () => reject(new Error('A worker ended before it listened')))
  })
}

/** What a worker does: it serves as ordered until it is ordered to stop or the primary is gone. */
export function serveAsWorker(): void {
  const stderr = { write: (text: string) => void process.stderr.write(text), close() {} }
  const tell = (word: Word, then = () => {}) => process.send?.(word, then)
  const metrics = workerMetrics(tell)
  const start = startWith(serve, { joinMetrics: metrics.join })
  let running: Running | null = null
  const stop = (graceMs?: number) =>
    (running?.close(graceMs) ?? Promise.resolve()).then(() => process.exit(0))
  process.on('message', async (order: Order) => {
    if ('stop' in order) return void stop(order.stop)
    if (!('start' in order)) return void metrics.take(order)
    try {
      running = await start(order.start, stderr, process.env)
      noteFailures(running.log)
      tell({ listens: Number(new URL(running.url).port) })
    } catch (error) {
      const reason = error instanceof SettingsError ? error.reason : null
      tell({ refuses: { reason, message: describe(error) } }, () => process.exit(1))
    }
  })
  // Ctrl-C reaches every process of a terminal: the primary decides what to do.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => void stop())
  // The primary is gone, so nothing else would stop this worker.
  process.on('disconnect', () => void stop(0))
  tell('ready')
}
