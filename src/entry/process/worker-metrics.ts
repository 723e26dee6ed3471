import type { Worker } from 'node:cluster'
import { mergeMetrics, remainsOf } from '../../observe/merge.ts'
import type { JoinProcesses, MetricFamily, Registry } from '../../observe/metrics.ts'

/** A worker that is this late is shown with the values it reported last. */
const WORKER_MS = 2000
/** The primary only passes messages on: if it takes longer than this, it will not answer at all. */
const PRIMARY_MS = 5000

/** From a worker to the primary: it needs the metrics of all, or reports its own. */
export type MetricsWord = { gather: number } | { report: number; families: MetricFamily[] }
/** From the primary to a worker: report, or the metrics of all. */
export type MetricsOrder = { report: number } | { gathered: number; families: MetricFamily[] }

/** The metrics of a service with workers. */
export interface WorkersMetrics {
  /** For the primary's own metrics: they are part of the service's. */
  join: JoinProcesses
  /** Includes a worker from when it listens until it ends. */
  watch(worker: Worker): void
}

/** The primary's side: collects the metrics of all workers for the one that needs them. */
export function workersMetrics(): WorkersMetrics {
  let own: Registry | null = null
  let rounds = 0
  const last = new Map<Worker, MetricFamily[]>()
  const listening = new Set<Worker>()
  /** For each round, the workers that have not reported, and what to do once all have. */
  const open = new Map<number, { missing: Set<Worker>; done: () => void }>()
  let ended: MetricFamily[] = []

  const settle = (round: number, worker: Worker) => {
    const waiting = open.get(round)
    if (waiting?.missing.delete(worker) && waiting.missing.size === 0) waiting.done()
  }
  /** Lets all workers report, and returns those that did not. */
  const ask = async (): Promise<Set<Worker>> => {
    const round = ++rounds
    const missing = new Set(listening)
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((done) => {
      open.set(round, { missing, done })
      timer = setTimeout(done, WORKER_MS)
      for (const worker of missing) send(worker, { report: round })
    })
    clearTimeout(timer)
    open.delete(round)
    return missing
  }
  const gather = async (): Promise<MetricFamily[]> => {
    const late = await ask()
    const workers = [...listening].flatMap((worker) => {
      const families = last.get(worker)
      return families ? [{ process: `worker-${worker.id}`, families }] : []
    })
    const state = stateOf(listening.size - late.size, late.size)
    return mergeMetrics([
      { process: 'primary', families: [...(own?.families() ?? []), state] },
      ...workers,
      { process: 'ended', families: ended },
    ])
  }
  return {
    join(registry) {
      own = registry
      return gather
    },
    watch(worker) {
      worker.on('message', async (word: MetricsWord | { listens: number } | 'ready') => {
        if (word === 'ready') return
        if ('listens' in word) listening.add(worker)
        if ('report' in word) {
          last.set(worker, word.families)
          settle(word.report, worker)
        }
        if ('gather' in word) send(worker, { gathered: word.gather, families: await gather() })
      })
      worker.once('exit', () => {
        listening.delete(worker)
        const counts = remainsOf(last.get(worker) ?? [])
        ended = mergeMetrics([ended, counts].map((families) => ({ process: 'ended', families })))
        last.delete(worker)
        for (const round of [...open.keys()]) settle(round, worker)
      })
    },
  }
}

/** The metrics of one worker. */
export interface WorkerMetrics {
  join: JoinProcesses
  /** Handles an order of the primary. */
  take(order: MetricsOrder): void
}

/** A worker's side: gets the metrics of all from the primary, and reports its own on request. */
export function workerMetrics(tell: (word: MetricsWord) => void): WorkerMetrics {
  let own: Registry | null = null
  let asked = 0
  const waiting = new Map<number, (families: MetricFamily[]) => void>()
  const gather = async (): Promise<MetricFamily[]> => {
    const number = ++asked
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise((resolve, reject) => {
        waiting.set(number, resolve)
        const silent = new Error('The primary process did not answer a request for metrics')
        timer = setTimeout(reject, PRIMARY_MS, silent)
        tell({ gather: number })
      })
    } finally {
      clearTimeout(timer)
      waiting.delete(number)
    }
  }
  return {
    join(registry) {
      own = registry
      return gather
    },
    take(order) {
      if ('report' in order) tell({ report: order.report, families: own?.families() ?? [] })
      else waiting.get(order.gathered)?.(order.families)
    },
  }
}

function stateOf(reported: number, late: number): MetricFamily {
  return {
    name: 'nodestate_workers',
    help: 'Worker processes, by whether they reported in time; late ones are shown with their last values.',
    type: 'gauge',
    across: 'sum',
    rows: [
      ['nodestate_workers{state="reported"}', reported],
      ['nodestate_workers{state="late"}', late],
    ],
  }
}

function send(worker: Worker, order: MetricsOrder): void {
  if (worker.isConnected()) worker.send(order)
}
