import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loaded, SettingsError } from '../../settings.ts'
import { startNode } from '../node.ts'
import { callSite } from '../own-log/log-line.ts'
import type { LineWriter } from '../own-log/rotating-file.ts'
import { compose, describe } from '../service/compose.ts'
import type { Environment } from '../service/location.ts'
import type { Running } from './program.ts'

const WORKERS = callSite('Server', 'Workers')

/** A worker that lived shorter than this died at once. */
const AT_ONCE_MS = 2000
/** So many such deaths in a row, and it is no accident: the service ends. */
const DEATHS = 5
/** The wait before a worker is started again doubles from one to the other while they die at once. */
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 2000

/** From the primary to a worker. */
type Order = { start: Loaded } | { stop: number }
/** From a worker to the primary. */
type Word =
  | 'ready'
  | { listens: number }
  | { refuses: { reason: SettingsError['reason'] | null; message: string } }

/** Serves with one process, or with several that share the port. */
export function startNodeOrWorkers(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  return (loaded.settings.workers ?? 1) > 1
    ? startWorkers(loaded, stderr, env)
    : startNode(loaded, stderr, env)
}

/**
 * Starts the workers and looks after them: one that dies is started again. The settings are read once, here, so that
 * all serve the same, whenever they were started.
 */
async function startWorkers(loaded: Loaded, stderr: LineWriter, env: Environment): Promise<Running> {
  // Each worker accepts by itself. Handed out by the primary, a connection that was on its way to a worker that dies
  // would neither be answered nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const { settings, log, warnings, welcome } = compose(loaded, stderr, env)
  const order: Order = { start: { ...loaded, warnings: [], onlineTime: Date.now() } }
  const workers = new Set<Worker>()
  let stopping = false
  let deaths = 0

  const begin = async (): Promise<number> => {
    const worker = cluster.fork()
    workers.add(worker)
    const born = performance.now()
    // A message to a worker that is gone; that it is gone is told by its exit.
    worker.on('error', () => {})
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      if (!stopping && listening) void again(performance.now() - born, signal ?? `exit code ${code}`)
    })
    return listeningOf(worker, order)
  }
  /** A death after the start: never a reason to stop, unless it happens again and again. */
  const again = async (lived: number, how: string) => {
    deaths = lived < AT_ONCE_MS ? deaths + 1 : 1
    log.error(WORKERS, `A worker ended (${how})`, { lived: Math.round(lived) })
    if (deaths >= DEATHS) return giveUp()
    await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (deaths - 1)))
    if (!stopping) await begin().catch((error) => log.error(WORKERS, describe(error)))
  }
  const giveUp = async () => {
    stderr.write('nodestate: Workers end as soon as they start, again and again: the service ends.\n')
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
    const text = welcome(ports[0]!)
    return { url: /https?:\/\/\S+/.exec(text)![0], welcome: text, warnings, log, close }
  } catch (error) {
    await close(0)
    throw error
  }
}

/** The port that a worker listens on; its refusal is ours. */
function listeningOf(worker: Worker, order: Order): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.on('message', (word: Word) => {
      // Sent before it listens for messages, it would be lost.
      if (word === 'ready') return void worker.send(order)
      if ('listens' in word) return resolve(word.listens)
      const { reason, message } = word.refuses
      reject(reason === null ? new Error(message) : new SettingsError(reason, message))
    })
    worker.once('exit', () => reject(new Error('A worker ended before it listened')))
  })
}

/** What a worker does: serve as it is told, until it is told to stop or nobody is there to tell. */
export function serveAsWorker(): void {
  const stderr = { write: (text: string) => void process.stderr.write(text), close() {} }
  const tell = (word: Word, then = () => {}) => process.send?.(word, then)
  let running: Running | null = null
  const stop = (graceMs?: number) =>
    (running?.close(graceMs) ?? Promise.resolve()).then(() => process.exit(0))
  process.on('message', async (order: Order) => {
    if ('stop' in order) return void stop(order.stop)
    try {
      running = await startNode(order.start, stderr, process.env)
      const { log } = running
      const note = (error: unknown) => {
        log.error(WORKERS, describe(error), { stack: error instanceof Error ? error.stack : null })
      }
      process.on('uncaughtException', note)
      process.on('unhandledRejection', note)
      console.error = (error: unknown) => log.warn(WORKERS, `An answer was cut: ${describe(error)}`)
      console.info = () => {}
      tell({ listens: Number(new URL(running.url).port) })
    } catch (error) {
      const reason = error instanceof SettingsError ? error.reason : null
      tell({ refuses: { reason, message: describe(error) } }, () => process.exit(1))
    }
  })
  // Ctrl-C comes to all processes of a terminal: the primary says what to do about it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => void stop())
  // The primary is gone, however it went: nobody is left to stop this one.
  process.on('disconnect', () => void stop(0))
  tell('ready')
}
