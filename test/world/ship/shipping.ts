import type { CutRules } from '../../../src/ship/cut.ts'
import { ShipMetrics } from '../../../src/ship/metrics.ts'
import { type Outcome, Shipper } from '../../../src/ship/shipper.ts'
import { verify } from '../../../src/ship/verify.ts'
import { native } from '../disk/ship.ts'
import type { ShipSettings } from '../plan.ts'
import type { World } from '../world.ts'
import { Process } from './process.ts'

/** Where the world's node ships to. */
export const HOME = 'db-1'

/** A shipper while it runs, and after. */
export interface Run {
  process: Process
  host: string
  from: number
  shipper: Shipper
  /** Null while it runs, and when it was killed. */
  outcome: Outcome | 'failed' | null
  ended: Promise<void>
}

/** The shippers of a world, and what they ship besides logs. */
export class Shipping {
  readonly #world: World
  readonly runs: Run[] = []
  config = 'port = 9000\n'

  constructor(world: World) {
    this.#world = world
    world.closers.push(() => {
      for (const { process } of this.running) process.kill()
    })
  }

  get running(): Run[] {
    return this.runs.filter(({ process, outcome }) => process.isAlive && outcome === null)
  }

  /** The host of the last run. */
  get host(): string {
    return this.runs.at(-1)?.host ?? 'a'
  }

  start(host: string, once: boolean): Run {
    const world = this.#world
    const pid = this.runs.length + 1
    const process = new Process(world, pid, HOME)
    const { plan, random } = world
    const retries = random.split(`retries of shipper ${pid}`)
    const isRunning = (other: number) => this.running.some((run) => run.process.pid === other)
    const node = { hostIp: '10.0.0.1', hostName: host, grpcPort: 9001, httpPort: 9000, version: '1' }
    const shipper = new Shipper({
      disk: process.disk,
      bucket: process.bucket,
      native,
      nodeFiles: {
        node: () => process.call(world, 'node.json', () => ({ ...node, onlineTime: 1 })),
        config: () => process.call(world, 'config.toml', () => this.config),
      },
      metrics: new ShipMetrics(),
      host,
      run: String(pid),
      process: { pid, isRunning },
      rules: rulesOf(plan.settings.ships!.rules),
      holdMs: 3_600_000,
      once,
      report: (line) => world.note(`shipper ${pid}: ${line}`),
      clock: process.clock,
      random: () => retries.fraction(),
    })
    const run: Run = {
      process,
      host,
      from: world.kernel.elapsed(),
      shipper,
      outcome: null,
      ended: Promise.resolve(),
    }
    world.note(`shipper ${pid} starts on host ${host}${once ? ', once' : ''}`)
    run.ended = shipper.run().then(
      (outcome) => this.#ended(run, outcome),
      (error: unknown) => {
        world.note(`shipper ${pid}: ${String(error)}`)
        this.#ended(run, 'failed')
      },
    )
    this.runs.push(run)
    return run
  }

  kill(run: Run): void {
    this.#world.note(`shipper ${run.process.pid} is killed`)
    run.process.kill()
  }

  #ended(run: Run, outcome: Outcome | 'failed'): void {
    run.outcome = outcome
    this.#world.note(`shipper ${run.process.pid} has ended: ${outcome}`)
    run.process.kill()
  }

  /** What `--verify` says: the files that are not in the bucket. */
  async verify(): Promise<{ name: string; kind: string }[]> {
    const process = new Process(this.#world, 1_000, HOME)
    const verified = await verify(process.disk, process.bucket, native, [])
    process.kill()
    return verified?.findings ?? []
  }
}

/** Worlds are too short for segments of an hour: text is young for a few flushes. */
function rulesOf({ segmentBytes, segmentAgeMs }: ShipSettings['rules']): CutRules {
  return { segmentBytes, segmentAgeMs: 4 * segmentAgeMs, flushMs: segmentAgeMs, lineAgeMs: 60_000 }
}

/** The shippers of a world; null if nothing was ever shipped. */
export function shippingOf(world: World): Shipping | null {
  return (world.states.get('shipping') as Shipping | undefined) ?? null
}
