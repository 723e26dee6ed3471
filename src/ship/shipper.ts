import { BufferPool } from '../kit/bytes.ts'
import { type Clock, inTime, systemClock } from '../kit/limits/clock.ts'
import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { VERSION } from '../kit/version.ts'
import { includeFilter } from '../log/files/include.ts'
import { LAYOUT } from '../store/segment/names.ts'
import { type Heartbeat, type LogCounts, MOST_LEFT, MOST_OPEN } from '../store/segment/ship-json.ts'
import { StoreError } from '../store/store.ts'
import { type Bucket, persistent, Stopped } from './bucket.ts'
import type { CutRules } from './cut.ts'
import { shippedAs } from './examiner.ts'
import { type Disk, type Native, UnreadableLog } from './files/disk.ts'
import { logGroups } from './files/groups.ts'
import { fileOrder } from './files/order.ts'
import { WatchedFiles } from './files/watched-files.ts'
import { type NodeFiles, NodeFilesShipper } from './home/node-files.ts'
import { LogShipper, type LogStatus } from './log.ts'
import type { NotShipped, ShipMetrics } from './metrics.ts'
import { OtherShipper, Ownership, Replaced } from './ownership.ts'

export interface ShipperOptions {
  disk: Disk
  bucket: Bucket
  native: Native
  nodeFiles: NodeFiles
  metrics: ShipMetrics
  host: string
  /** Changes with each start. */
  run: string
  /** This process, and whether another one of this host is running. @default not known */
  process?: { pid: number; isRunning(pid: number): boolean } | undefined
  include?: readonly string[] | undefined
  rules: CutRules
  holdMs: number
  /** Counts errors and warnings for the heartbeat. @default they are not counted */
  levels?: (() => Promise<Record<string, LogCounts>>) | undefined
  /** Ships everything there is, then ends. */
  once: boolean
  report(line: string): void
  /** The pause between two checks. @default a quarter of the time between flushes, at most a second */
  lookMs?: number | undefined
  /** How long stopping may take, if the storage fails or is too slow. @default 7 s */
  stopMs?: number | undefined
  /** Time and timers. @default the system's */
  clock?: Clock | undefined
  /** Spreads the pauses between tries. @default Math.random */
  random?: (() => number) | undefined
}

/** How a run ended: everything shipped, some files left, or another shipper on this host has taken over. */
export type Outcome = 'done' | 'left' | 'replaced' | 'no-directory'

const REPORT_EVERY_MS = 60_000
const STOP_MS = 7000
/** How long the last heartbeat may take after that. */
const LAST_BEAT_MS = 1500
/** How many logs are shipped in parallel, and how many of them have the text of a segment in memory. */
const LOGS_AT_ONCE = 12
const PACKING_AT_ONCE = 3

const CUT_SHORT = 'Stopped before the storage had everything; what is left is shipped at the next start.'

interface OpenLog {
  shipper: LogShipper
  files: WatchedFiles
  busy: Promise<void> | null
  done: boolean
}

export class Shipper {
  readonly #options: ShipperOptions
  readonly #bucket: Bucket
  /** Where everything but ship.json is written. */
  readonly #logBucket: Bucket
  readonly #ownership: Ownership
  readonly #clock: Clock
  readonly #group: ReturnType<typeof logGroups>
  readonly #logs = new Map<string, OpenLog>()
  readonly #buffers = new BufferPool(64 * 1024, 4, Number.POSITIVE_INFINITY)
  readonly #packing = concurrencyLimit({ most: PACKING_AT_ONCE })
  readonly #nodeFiles: NodeFilesShipper
  #isStopping = false
  /** Whether stopping has taken too long, and whether something was left because of that. */
  #isOverdue = false
  #isCutShort = false
  #cancelOverdue = () => {}
  readonly #sleepers = new Set<() => void>()
  readonly #requests = new Set<() => void>()
  #error: string | null = null
  #reportedAt = Number.NEGATIVE_INFINITY
  readonly #reportedLeft = new Set<string>()
  readonly #turnLimit = concurrencyLimit({ most: LOGS_AT_ONCE })
  #counts: Record<string, LogCounts> = {}
  readonly #running = new Map<'beat' | 'node', Promise<void>>()
  #failure: { error: unknown } | null = null
  #isReplaced = false
  #warnedAbsent = false
  /** Whether the first heartbeat was written: from then on, every failure is retried. */
  #started = false

  constructor(options: ShipperOptions) {
    this.#options = options
    const { clock = systemClock, random = Math.random } = options
    this.#clock = clock
    const retry = {
      random,
      inTime: <T>(work: Promise<T>) => this.#inTime(work),
      sleep: (ms: number) => this.#sleep(ms),
      givesUp: () => this.#isOverdue,
      isFatal: (error: unknown) =>
        error instanceof Replaced ||
        error instanceof OtherShipper ||
        (!this.#started && error instanceof StoreError && error.code === 'denied'),
      onFailure: (error: unknown) => this.#onFailure(error),
    }
    this.#bucket = persistent(options.bucket, retry)
    const { disk, native, include = [] } = options
    this.#group = logGroups(disk, include, (log) => shippedAs({ log, bucket: this.#bucket, native }, disk))
    const { bucket } = options
    // A shipper that was replaced writes nothing more.
    const put: Bucket['put'] = async (...write) => {
      if (this.#isOverdue) throw new Stopped()
      await this.#ownership.check(bucket)
      return bucket.put(...write)
    }
    const names: Bucket['names'] = (...asked) => bucket.names(...asked)
    this.#logBucket = persistent({ names, get: (key) => bucket.get(key), put }, retry)
    const { nodeFiles: files, report } = options
    this.#nodeFiles = new NodeFilesShipper({ files, bucket: this.#logBucket, clock, report })
    this.#ownership = new Ownership({
      ...options,
      bucket: this.#bucket,
      clock,
      sleep: (ms) => this.#sleep(ms),
      isStopping: () => this.#isStopping,
      isRunning: (pid) => options.process?.isRunning(pid) ?? false,
      describe: (stopped) => this.#heartbeat(stopped),
      shippedBytes: () => options.metrics.shippedBytes,
    })
  }

  get status(): Map<string, LogStatus> {
    const all = new Map<string, LogStatus>()
    for (const [log, { shipper }] of this.#logs) {
      const status = shipper.status
      if (status) all.set(log, status)
    }
    return all
  }

  /** What is not in the bucket: files that wait, and files that are left, with the reason. */
  get waiting(): NotShipped {
    const { disk, include = [], once } = this.#options
    const included = includeFilter(include)
    const odd = disk.left().filter(({ name }) => included(name))
    const logs = [...this.#logs.values()].map(({ shipper }) => shipper)
    const isEnding = once || this.#isStopping
    const left = [...odd, ...logs.flatMap((log) => log.left(isEnding))]
    const waiting = logs.map((log) => log.waiting)
    const sum = (of: 'files' | 'bytes') => waiting.reduce((sum, each) => sum + each[of], 0)
    return { files: sum('files'), bytes: sum('bytes'), left }
  }

  /** Ships everything there is now, then ends. What cannot be shipped in time is shipped at the next start. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#wake()
    this.#cancelOverdue = this.#clock.after(this.#options.stopMs ?? STOP_MS, () => {
      this.#isOverdue = true
      for (const giveUp of this.#requests) giveUp()
      this.#wake()
    })
  }

  #wake(): void {
    for (const wake of this.#sleepers) wake()
  }

  /** A request that may outlast the end: one may hang for a minute. */
  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Stopped())
      this.#requests.add(giveUp)
      const cancel = this.#isOverdue ? this.#clock.after(LAST_BEAT_MS, giveUp) : () => {}
      const settled = () => {
        cancel()
        this.#requests.delete(giveUp)
      }
      work.then(resolve, reject).finally(settled)
    })
  }

  async run(): Promise<Outcome> {
    try {
      if (!(await this.#ownership.takeOver())) return 'done'
      this.#started = true
      this.#beaten()
      const outcome = await this.#rounds()
      if (this.#isCutShort) this.#options.report(CUT_SHORT)
      await this.#ownership.beat(true)
      return outcome
    } catch (error) {
      if (error instanceof Replaced) return this.#isStopping ? 'done' : 'replaced'
      if (!(error instanceof Stopped)) throw error
      if (!this.#isCutShort) this.#options.report(CUT_SHORT)
      return 'done'
    } finally {
      this.#cancelOverdue()
      for (const { files } of this.#logs.values()) await files.close()
    }
  }

  async #rounds(): Promise<Outcome> {
    for (;;) {
      if (this.#ownership.isStale && !this.#ownership.isWaiting) await this.#startOver()
      const stopping = this.#isStopping
      const there = await this.#look().catch((error: unknown) => {
        // What cannot be read now may be readable later; shipping once does not wait for it.
        if (!(error instanceof UnreadableLog) || this.#options.once) throw error
        this.#onFailure(error)
        return true
      })
      if (!there && this.#options.once) return 'no-directory'
      const { isWaiting } = this.#ownership
      const nodeFiles = isWaiting ? null : this.#start('node', () => this.#shipNodeFiles())
      const turns = isWaiting ? [] : this.#turns()
      const ending = stopping || this.#options.once
      if (ending) await Promise.all([nodeFiles, ...turns])
      this.#throwFailure()
      if (ending && [...this.#logs.values()].every(({ done }) => done)) {
        await this.#running.get('beat')
        this.#reportLeft()
        return this.#options.once && this.waiting.left.length > 0 ? 'left' : 'done'
      }
      if (!this.#options.once) this.#reportLeft()
      if (this.#ownership.isBeatDue)
        void this.#start('beat', async () => {
          this.#isReplaced = !(await this.#ownership.beat())
          this.#beaten()
        })
      await this.#sleep(this.#pause())
      this.#throwFailure()
      if (this.#isReplaced) throw new Replaced()
    }
  }

  #beaten(): void {
    this.#options.metrics.heartbeat = this.#clock.now()
  }

  /** Forgets what was read from the bucket. */
  async #startOver(): Promise<void> {
    const logs = [...this.#logs.values()]
    await Promise.all(logs.map(({ busy }) => busy))
    this.#logs.clear()
    this.#ownership.isStale = false
    this.#nodeFiles.forget()
    for (const { files } of logs) await files.close()
  }

  /**
   * Starts work unless it is running. The rounds do not wait for it: the storage may fail for hours, and a file that is
   * removed meanwhile can only be held open if it was seen.
   */
  #start(name: 'beat' | 'node', work: () => Promise<void>): Promise<void> {
    const running =
      this.#running.get(name) ??
      work()
        .catch((error: unknown) => {
          this.#failure ??= { error }
        })
        .finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    return running
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error
  }

  #pause(): number {
    const { lookMs, rules, once } = this.#options
    const isEnding = once || this.#isStopping
    return lookMs ?? Math.max(50, Math.min(isEnding ? 250 : 1000, rules.flushMs / 4))
  }

  /** Checks the directory; false if it does not exist. */
  async #look(): Promise<boolean> {
    const { disk, report } = this.#options
    const listed = await disk.list()
    if (listed === null) {
      if (!this.#warnedAbsent && !this.#options.once)
        report('The log directory is not there yet; waiting for it.')
      this.#warnedAbsent = true
    }
    const byLog = await this.#group(listed ?? [])
    for (const log of byLog.keys()) if (!this.#logs.has(log)) this.#logs.set(log, this.#open(log))
    let failure: unknown = null
    for (const [log, { files, shipper }] of this.#logs) {
      const again = async () => (await this.#group((await disk.list()) ?? [])).get(log) ?? []
      await files.look(byLog.get(log) ?? [], again, this.#clock.elapsed()).catch((error: unknown) => {
        failure ??= error
      })
      await shipper.drop()
    }
    if (failure) throw failure
    return listed !== null
  }

  #open(log: string): OpenLog {
    const { disk, metrics } = this.#options
    const files = new WatchedFiles(disk, fileOrder(disk, log))
    const shipper = new LogShipper({
      ...this.#options,
      log,
      files,
      bucket: this.#logBucket,
      announce: async () => void (await this.#ownership.beat()),
      clock: this.#clock,
      buffers: this.#buffers,
      packing: this.#packing,
      onShipped: (life, bytes) => metrics.onShipped(log, life, bytes),
      onLost: () => {
        metrics.lost++
      },
    })
    return { shipper, files, busy: null, done: false }
  }

  /** Starts a turn of each idle log. A slow log does not hold up the others. */
  #turns(): Promise<void>[] {
    const everything = () => this.#options.once || this.#isStopping
    return [...this.#logs.values()].map((log) => {
      log.busy ??= this.#turnLimit
        .run(() => log.shipper.turn(everything))
        .then(
          (done) => {
            log.done = done
          },
          (error: unknown) => {
            log.done = error instanceof Stopped
            if (log.done) this.#isCutShort = true
            if (error instanceof Replaced) this.#failure ??= { error }
            else if (!log.done && !this.#isReplaced) this.#onFailure(error)
          },
        )
        .finally(() => {
          log.busy = null
        })
      return log.busy
    })
  }

  async #shipNodeFiles(): Promise<void> {
    await this.#nodeFiles.ship()
    this.#options.metrics.configChanged = this.#nodeFiles.configChanged
    this.#options.metrics.configVersions = this.#nodeFiles.versions
  }

  /** Names each file that is left once. Odd names were reported when they were listed. */
  #reportLeft(): void {
    const odd = this.#options.disk.left()
    for (const { name, reason } of this.waiting.left) {
      if (this.#reportedLeft.has(name) || odd.some((file) => file.name === name)) continue
      this.#reportedLeft.add(name)
      this.#options.report(`${JSON.stringify(name)} is left: ${reason}.`)
    }
  }

  async #heartbeat(stopped: boolean): Promise<Heartbeat> {
    const { host, run, nodeFiles, process, levels } = this.#options
    const { files, bytes, left } = this.waiting
    const status = [...this.status]
    return {
      host,
      run,
      pid: process?.pid ?? null,
      version: VERSION,
      layout: LAYOUT,
      stopped,
      node: await nodeFiles.node(),
      logs: Object.fromEntries(status.map(([log, { open: _, ...rest }]) => [log, rest])),
      open: Object.fromEntries(status.map(([log, { open }]) => [log, open.slice(-MOST_OPEN)])),
      waitingFiles: files,
      waitingBytes: bytes,
      leftFiles: left.length,
      left: left.slice(0, MOST_LEFT),
      ...(levels && { counts: await this.#counted(levels) }),
      error: this.#error,
    }
  }

  /** Counting takes seconds where much was written; at the end there is no time for that. */
  async #counted(levels: NonNullable<ShipperOptions['levels']>): Promise<Record<string, LogCounts>> {
    const counting = levels().then((counts) => {
      this.#options.metrics.onCounted(counts)
      this.#counts = counts
    })
    await (this.#isStopping ? inTime(this.#clock, LAST_BEAT_MS, counting) : counting)
    return this.#counts
  }

  /** Prints at most one line a minute, however much fails. */
  #onFailure(error: unknown | null): void {
    if (error === null) {
      this.#error = null
      return
    }
    const message = error instanceof Error ? error.message : String(error)
    this.#error = message
    if (this.#clock.elapsed() - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = this.#clock.elapsed()
    this.#options.report(`${message}; trying again.`)
  }

  /** Waits; a stop ends it early. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        this.#sleepers.delete(done)
        resolve()
      }
      const cancel = this.#clock.after(ms, done)
      this.#sleepers.add(done)
    })
  }
}
