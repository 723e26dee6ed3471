import type { Clock } from '../kit/limits/clock.ts'
import { HEARTBEAT, LAYOUT } from '../store/segment/names.ts'
import { type Heartbeat, parseHeartbeat } from '../store/segment/ship-json.ts'
import { type Bucket, UnusableBucket } from './bucket.ts'

/** Another shipper on this host has taken over. */
export class Replaced extends Error {
  constructor() {
    super('Another shipper of this host has taken over')
    this.name = 'Replaced'
  }
}

/** Another shipper has written to this home: once it has stopped, this one reads again what is in the bucket. */
export class OtherShipper extends Error {
  override readonly name = 'OtherShipper'
}

export interface OwnershipContext {
  bucket: Bucket
  host: string
  /** Changes with each start. */
  run: string
  clock: Clock
  sleep(ms: number): Promise<void>
  isStopping(): boolean
  isRunning(pid: number): boolean
  report(line: string): void
  describe(stopped: boolean): Promise<Heartbeat>
  shippedBytes(): number
}

/** ship.json is written at most this often after shipping, and this often when idle. */
const BEAT_BUSY_MS = 30_000
const BEAT_QUIET_MS = 60_000
/** If another shipper's heartbeat is younger than this, it counts as alive. */
const ALIVE_MS = 150_000
/** How long to wait for what a replaced shipper has under way, if its process is still running. */
const UNDER_WAY_MS = 2000

/** How long a check counts while the storage fails. */
const CHECK_MS = 5000

/** Makes sure that one shipper at a time writes to a home, with ship.json. */
export class Ownership {
  readonly #context: OwnershipContext
  #beatAt = Number.NEGATIVE_INFINITY
  #shippedAtBeat = 0
  /** Whether this shipper waits for another host. */
  isWaiting = false
  /** Whether another shipper has written to this home, so that what this one knows about the bucket is out of date. */
  isStale = false
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(context: OwnershipContext) {
    this.#context = context
  }

  get isBeatDue(): boolean {
    const age = this.#context.clock.elapsed() - this.#beatAt
    const shipped = this.#context.shippedBytes() > this.#shippedAtBeat
    return age >= BEAT_QUIET_MS || (shipped && age >= BEAT_BUSY_MS)
  }

  /**
   * Makes this the shipper of the home. A shipper on this host is replaced; a live one on another host is waited for.
   * False when the shipper was stopped meanwhile.
   */
  async takeOver(): Promise<boolean> {
    const { host, report, sleep, isStopping, clock } = this.#context
    let other = await this.#other()
    if (other && other.layout !== 0 && other.layout !== LAYOUT)
      throw new UnusableBucket(
        `Another version of nodestate shipped to this destination (layout ${other.layout}, not ${LAYOUT}): name a new one`,
      )
    for (let waited = false; other?.isAlive && other.host !== host; waited = true) {
      if (!waited) report(`${fromHost(other.host)}; waiting for it to stop.`)
      if (isStopping()) return false
      await sleep(Math.min(ALIVE_MS - other.age + 1000, 10_000))
      if (isStopping()) return false
      other = await this.#other()
    }
    await this.#putFirst()
    this.#beatAt = clock.elapsed()
    if (other && !other.stopped && other.pid !== null && this.#context.isRunning(other.pid))
      await sleep(UNDER_WAY_MS)
    return true
  }

  /** Writes ship.json; false if another shipper has taken over, and this one should end. */
  async beat(stopped = false): Promise<boolean> {
    const { bucket, host, clock, shippedBytes } = this.#context
    const begun = clock.elapsed()
    const other = await this.#other()
    const isHere = other?.host === host
    // Whoever took over says how it stands from now on.
    const isOver = stopped ? isHere || other?.isAlive : isHere && !this.#isLeft(other)
    if (isOver) return false
    if (other) this.isStale = true
    if (isHere || other?.isAlive) {
      this.isWaiting = true
      try {
        return await this.takeOver()
      } finally {
        this.isWaiting = false
      }
    }
    this.#shippedAtBeat = shippedBytes()
    await bucket.put(HEARTBEAT, await this.#bytes(stopped))
    this.#beatAt = begun
    return true
  }

  /** Asked before each write to a log: throws Replaced, or OtherShipper. `bucket` does not retry. */
  async check(bucket: Bucket): Promise<void> {
    const { clock } = this.#context
    const begun = clock.elapsed()
    const other = await this.#other(bucket).catch((error: unknown) => {
      // The storage failed only recently: try the write, which then fails as well. A timeout takes longer than that.
      if (clock.elapsed() - this.#checkedAt < CHECK_MS) return 'unknown' as const
      throw error
    })
    if (other === 'unknown') return
    this.#checkedAt = begun
    const isHere = other?.host === this.#context.host
    if (isHere && !this.#isLeft(other)) throw new Replaced()
    if (other) {
      this.isStale = true
      this.#beatAt = Number.NEGATIVE_INFINITY
    }
    const message = isHere || !other ? 'Another shipper was here' : fromHost(other.host)
    if (this.isStale) throw new OtherShipper(message)
  }

  /** When this one is told to stop after the other has stopped, nobody else ships what is left. */
  #isLeft({ stopped }: { stopped: boolean }): boolean {
    return stopped && this.#context.isStopping()
  }

  async #putFirst(): Promise<void> {
    const { bucket, report } = this.#context
    // The condition is tested with the heartbeat object, because it is about to be replaced anyway.
    const bytes = await this.#bytes(false)
    const fresh = await bucket.put(HEARTBEAT, bytes, { once: true })
    if (fresh && (await bucket.put(HEARTBEAT, bytes, { once: true })))
      report(
        'The storage ignores If-None-Match: two concurrent shippers may begin the same life twice. Run only one.',
      )
    if (!fresh) await bucket.put(HEARTBEAT, bytes)
  }

  /** The other shipper, if one wrote ship.json last. */
  async #other(bucket = this.#context.bucket) {
    const found = await bucket.get(HEARTBEAT)
    const beat = found && parseHeartbeat(new TextDecoder().decode(found.bytes))
    if (!beat || beat.run === this.#context.run) return null
    const { host, pid, stopped, layout } = beat
    return { host, pid, stopped, layout, age: found.age, isAlive: found.age < ALIVE_MS }
  }

  async #bytes(stopped: boolean): Promise<Uint8Array<ArrayBuffer>> {
    return new TextEncoder().encode(`${JSON.stringify(await this.#context.describe(stopped))}\n`)
  }
}

function fromHost(host: string): string {
  return `Another host, ${JSON.stringify(host)}, ships to the same destination`
}
