import { HEARTBEAT } from '../segment/names.ts'
import { type Heartbeat, parseHeartbeat } from '../segment/ship-json.ts'
import { StoreError } from '../store/store.ts'
import { VERSION } from '../version.ts'
import { type Bucket, persistent, Stopped } from './bucket.ts'
import { bufferPool } from './buffers.ts'
import type { CutRules } from './cut.ts'
import { type Disk, type Listed, type Native, UnreadableLog } from './disk.ts'
import { LogShipper, type LogStatus } from './log.ts'
import { LogFiles } from './look.ts'
import type { ShipMetrics } from './metrics.ts'
import { FileOrder, groupByLog } from './order.ts'

/** What is shipped besides the logs. */
export interface Beside {
  /** The node object. */
  node(): Promise<Record<string, unknown> | null>
  /** The configuration, masked; null when there is none. It throws when it cannot be shown. */
  config(): Promise<string | null>
}

/** What a shipper is made of. */
export interface ShipperOptions {
  disk: Disk
  bucket: Bucket
  native: Native
  beside: Beside
  metrics: ShipMetrics
  host: string
  /** Changes with each start. */
  run: string
  include?: readonly string[] | undefined
  rules: CutRules
  holdMs: number
  /** Ships everything there is, then ends. */
  once: boolean
  /** Prints one line for the operator. */
  report(line: string): void
  /** The pause between two checks. @default a quarter of the segment age, at most a second */
  lookMs?: number | undefined
  /** How long stopping may take while the storage fails. @default 20 s */
  stopMs?: number | undefined
  now?: (() => number) | undefined
}

/** How a run ended: everything shipped, or another shipper on this host has taken over. */
export type Outcome = 'done' | 'replaced' | 'no-directory'

/** ship.json is written at most this often after shipping, and this often when idle. */
const BEAT_BUSY_MS = 30_000
const BEAT_QUIET_MS = 60_000
/** If another host's heartbeat is younger than this, that host counts as alive. */
const OTHER_ALIVE_MS = 150_000
const REPORT_EVERY_MS = 60_000
/** How many logs are shipped in parallel. Each holds two segments in memory. */
const AT_ONCE = 3

/** Ships the logs of one node. */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #bucket: Bucket
  readonly #now: () => number
  readonly #logs = new Map<
    string,
    { shipper: LogShipper; files: LogFiles; busy: Promise<void> | null; done: boolean }
  >()
  readonly #buffers = bufferPool()
  readonly #beside = new Map<string, string>()
  #stopping: number | null = null
  readonly #sleepers = new Set<() => void>()
  #error: string | null = null
  #reportedAt = Number.NEGATIVE_INFINITY
  #beatAt = Number.NEGATIVE_INFINITY
  #shippedAtBeat = 0
  #busy = 0
  #queue: (() => void)[] = []
  /** What runs beside the rounds. */
  readonly #running = new Map<'beat' | 'beside', Promise<void>>()
  #failure: { error: unknown } | null = null
  #isReplaced = false
  /** Whether another host has begun to ship to the same destination. */
  #isWaiting = false
  #warnedAbsent = false
  /** Whether the first heartbeat was written: from then on, every failure is retried. */
  #started = false

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#bucket = persistent(options.bucket, {
      now: this.#now,
      random: Math.random,
      sleep: (ms) => this.#sleep(ms),
      givesUp: () => this.#stopping !== null && this.#now() - this.#stopping > (options.stopMs ?? 20_000),
      isFatal: (error) => !this.#started && error instanceof StoreError && error.code === 'denied',
      onFailure: (error) => this.#onFailure(error),
    })
  }

  /** The state of the logs. */
  get status(): Map<string, LogStatus> {
    const all = new Map<string, LogStatus>()
    for (const [log, { shipper }] of this.#logs) {
      const status = shipper.status
      if (status) all.set(log, status)
    }
    return all
  }

  /** Ships everything there is, then ends. */
  stop(): void {
    this.#stopping ??= this.#now()
    for (const wake of this.#sleepers) wake()
  }

  /** Runs until it is stopped. */
  async run(): Promise<Outcome> {
    try {
      if (!(await this.#takeOver())) return 'done'
      return await this.#rounds()
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      this.#options.report('Stopped while the storage failed; what is left is shipped at the next start.')
      return 'done'
    } finally {
      for (const { files } of this.#logs.values()) await files.close()
    }
  }

  async #rounds(): Promise<Outcome> {
    for (;;) {
      const stopping = this.#stopping !== null
      const there = await this.#look().catch((error: unknown) => {
        // What cannot be read now may be readable later; shipping once does not wait for it.
        if (!(error instanceof UnreadableLog) || this.#options.once) throw error
        this.#onFailure(error)
        return true
      })
      if (!there && this.#options.once) return 'no-directory'
      const beside = this.#start('beside', () => this.#shipBeside())
      const turns = this.#isWaiting ? [] : this.#turns()
      const ending = stopping || this.#options.once
      if (ending) await Promise.all([beside, ...turns])
      this.#throwFailure()
      if (ending && [...this.#logs.values()].every(({ done }) => done)) {
        await this.#running.get('beat')
        // Everything is shipped, so it does not matter whether a later shipper has taken over.
        if (this.#options.metrics.shippedBytes > this.#shippedAtBeat) await this.#beat()
        return 'done'
      }
      if (this.#isBeatDue())
        void this.#start('beat', async () => {
          this.#isReplaced = !(await this.#beat())
        })
      await this.#sleep(this.#pause())
      this.#throwFailure()
      if (this.#isReplaced) return 'replaced'
    }
  }

  /**
   * Starts work unless it is running. The rounds do not wait for it: the storage may fail for hours, and a file that is
   * removed meanwhile can only be held open if it was seen.
   */
  #start(name: 'beat' | 'beside', work: () => Promise<void>): Promise<void> {
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
    const isEnding = once || this.#stopping !== null
    return lookMs ?? Math.max(50, Math.min(isEnding ? 250 : 1000, rules.segmentAgeMs / 4))
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
    const group = (listed: readonly Listed[] | null) => groupByLog(listed ?? [], this.#options.include)
    const byLog = group(listed)
    for (const log of byLog.keys()) if (!this.#logs.has(log)) this.#logs.set(log, this.#open(log))
    let failure: unknown = null
    for (const [log, { files, shipper }] of this.#logs) {
      const again = async () => group(await disk.list()).get(log) ?? []
      await files.look(byLog.get(log) ?? [], again, this.#now()).catch((error: unknown) => {
        failure ??= error
      })
      await shipper.drop()
    }
    if (failure) throw failure
    return listed !== null
  }

  #open(log: string) {
    const { disk, native, rules, holdMs, metrics, report } = this.#options
    const order = new FileOrder(log, disk)
    const files = new LogFiles(disk, (listed) => order.sort(listed))
    const shipper = new LogShipper({
      log,
      files,
      bucket: this.#bucket,
      native,
      rules,
      holdMs,
      report,
      now: this.#now,
      buffers: this.#buffers,
      onShipped: (bytes) => {
        metrics.shippedBytes += bytes
      },
      onLost: () => {
        metrics.lost++
      },
    })
    return { shipper, files, busy: null as Promise<void> | null, done: false }
  }

  /** Starts a turn of each idle log. A slow log does not hold up the others. */
  #turns(): Promise<void>[] {
    const everything = () => this.#options.once || this.#stopping !== null
    return [...this.#logs.values()].map((log) => {
      log.busy ??= this.#limited(() => log.shipper.turn(everything))
        .then(
          (done) => {
            log.done = done
          },
          (error: unknown) => {
            log.done = error instanceof Stopped
            if (!log.done) this.#onFailure(error)
          },
        )
        .finally(() => {
          log.busy = null
        })
      return log.busy
    })
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    while (this.#busy >= AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#busy++
    try {
      return await work()
    } finally {
      this.#busy--
      this.#queue.shift()?.()
    }
  }

  /** node.json and config.toml, when they changed. */
  async #shipBeside(): Promise<void> {
    const { beside, report } = this.#options
    const write = async (key: string, text: string | null) => {
      if (text === null || this.#beside.get(key) === text) return
      await this.#bucket.put(key, new TextEncoder().encode(text))
      this.#beside.set(key, text)
    }
    const node = await beside.node()
    await write('node.json', node && `${JSON.stringify(node, null, 2)}\n`)
    try {
      await write('config.toml', await beside.config())
      this.#beside.delete('!')
    } catch (error) {
      if (error instanceof Stopped) throw error
      const message = error instanceof Error ? error.message : String(error)
      if (this.#beside.get('!') !== message) report(`The configuration is not shipped: ${message}`)
      this.#beside.set('!', message)
    }
  }

  #isBeatDue(): boolean {
    const age = this.#now() - this.#beatAt
    const shipped = this.#options.metrics.shippedBytes > this.#shippedAtBeat
    return age >= BEAT_QUIET_MS || (shipped && age >= BEAT_BUSY_MS)
  }

  /**
   * Makes this the shipper of the home. A shipper on this host is replaced; a live one on another host is waited for.
   * False when the shipper was stopped meanwhile.
   */
  async #takeOver(): Promise<boolean> {
    for (let waited = false; ; waited = true) {
      const other = await this.#other()
      if (!other || other.host === this.#options.host || other.age >= OTHER_ALIVE_MS) break
      if (!waited)
        this.#options.report(
          `Another host, ${JSON.stringify(other.host)}, ships to the same destination; waiting for it to stop.`,
        )
      if (this.#stopping !== null) return false
      await this.#sleep(Math.min(OTHER_ALIVE_MS - other.age + 1000, 10_000))
      if (this.#stopping !== null) return false
    }
    // The condition is tested with the heartbeat object, because it is about to be replaced anyway.
    const bytes = await this.#heartbeat()
    const fresh = await this.#bucket.put(HEARTBEAT, bytes, { once: true })
    if (fresh && (await this.#bucket.put(HEARTBEAT, bytes, { once: true })))
      this.#options.report(
        'The storage ignores If-None-Match: two concurrent shippers may begin the same life twice. Run only one.',
      )
    if (!fresh) await this.#bucket.put(HEARTBEAT, bytes)
    this.#beatAt = this.#now()
    this.#started = true
    return true
  }

  /** Writes ship.json; false if another shipper on this host has taken over. */
  async #beat(): Promise<boolean> {
    const begun = this.#now()
    const other = await this.#other()
    if (other && other.host === this.#options.host) return false
    if (other && other.age < OTHER_ALIVE_MS) {
      this.#beatAt = Number.NEGATIVE_INFINITY
      this.#isWaiting = true
      const isMine = await this.#takeOver()
      this.#isWaiting = false
      return isMine || this.#stopping !== null
    }
    this.#shippedAtBeat = this.#options.metrics.shippedBytes
    await this.#bucket.put(HEARTBEAT, await this.#heartbeat())
    this.#beatAt = begun
    return true
  }

  /** The other shipper, if one wrote ship.json last. */
  async #other(): Promise<{ host: string; age: number } | null> {
    const found = await this.#bucket.get(HEARTBEAT)
    const beat = found && parseHeartbeat(found.text)
    return beat && beat.run !== this.#options.run ? { host: beat.host, age: found.age } : null
  }

  async #heartbeat(): Promise<Uint8Array<ArrayBuffer>> {
    const { host, run, beside } = this.#options
    const logs = Object.fromEntries(this.status)
    const beat: Heartbeat = {
      host,
      run,
      version: VERSION,
      node: await beside.node(),
      logs,
      error: this.#error,
    }
    return new TextEncoder().encode(`${JSON.stringify(beat)}\n`)
  }

  /** Prints at most one line a minute, however much fails. */
  #onFailure(error: unknown | null): void {
    if (error === null) {
      this.#error = null
      return
    }
    const message = error instanceof Error ? error.message : String(error)
    this.#error = message
    if (this.#now() - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = this.#now()
    this.#options.report(`${message}; trying again.`)
  }

  /** Waits; a stop ends it early. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#sleepers.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#sleepers.add(done)
    })
  }
}
