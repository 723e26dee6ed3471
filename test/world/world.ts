import type { Hono } from 'hono'
import type { Shared } from '../../src/core/app.ts'
import { loki } from '../../src/doors/loki.ts'
import { heldBySlices } from '../../src/kit/limits/slice-memory.ts'
import { type AppOptions, appOf, createFleet, sharedOf } from '../support/app.ts'
import { Bucket } from './bucket/bucket.ts'
import { bucketStore } from './bucket/faces.ts'
import { Disk } from './disk/disk.ts'
import { diskStore } from './disk/store.ts'
import { Kernel } from './kernel/kernel.ts'
import { Random } from './kernel/random.ts'
import { CURRENT, Log } from './logs.ts'
import type { Check, Plan, Step } from './plan.ts'
import { type Files, onDisk } from './reference.ts'

/** Something that must not be. */
export class Broken extends Error {
  override readonly name = 'Broken'
  readonly rule: string

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`)
    this.rule = rule
  }
}

/** Something that answers questions about logs: a node, or a node of a fleet. */
export interface Service {
  app: Hono
  /** What its paths begin with. */
  root: string
  /** The files of a log as it should see them. */
  filesOf(log: Log): Files
  /** The node that a fleet is asked for at its own address. @default it has none */
  node?: string
  /** Notes that it may always have. */
  mayNote?: readonly string[]
  /** Of every request, such as a token. */
  headers?: Record<string, string>
}

/** A world while it happens: what actors act on and rules look at. */
export class World {
  readonly plan: Plan
  readonly kernel: Kernel
  readonly random: Random
  readonly disk: Disk
  readonly bucket: Bucket
  readonly logs: Log[]
  /** The app over the disk. */
  readonly app: Hono
  readonly node: Service
  /** What broke, first to last. */
  readonly broken: Broken[] = []
  /** What the app reported through `onError`. */
  readonly reported: string[] = []
  /** Troubles that hold now, by their names: an answer may be a problem while there are any. */
  readonly troubles = new Set<string>()
  /** Spans in which there was trouble. */
  readonly troubled: { from: number; to: number }[] = []
  /** Called at the end, last first: actors end here what outlives their steps. */
  readonly closers: (() => Promise<void> | void)[] = []
  /** What actors keep between their steps, by `step.by`. */
  readonly states = new Map<string, unknown>()
  readonly #options: AppOptions
  /** What each app holds of its process. */
  readonly #shared: Shared[] = []
  /** What a world before this one has left, if it failed. */
  readonly #slices = heldBySlices()
  #changing = 0
  #still = 0
  #wakers: (() => void)[] = []

  constructor(plan: Plan, isTraced = false) {
    const { settings, seed } = plan
    this.plan = plan
    this.random = new Random(`run ${seed}`)
    this.kernel = new Kernel(this.random.split('kernel'), isTraced)
    const now = () => this.kernel.now()
    this.disk = new Disk(now, { tick: settings.tick, reusesInodes: settings.reusesInodes })
    this.bucket = new Bucket(this.kernel, this.random.split('bucket'))
    this.logs = settings.logs.map((log, index) => new Log(log, index))
    this.#options = {
      logs: diskStore(this.kernel, this.disk, this.random.split('disk'), settings),
      config: '',
      loki,
      limits: settings.limits,
      onError: (error) => this.reported.push(String(error)),
      clock: this.kernel,
    }
    this.app = this.#appOf(this.#options)
    this.node = { app: this.app, root: '', filesOf: (log) => onDisk(this.disk, log) }
  }

  #appOf(options: AppOptions): Hono {
    const shared = sharedOf(options)
    this.#shared.push(shared)
    return appOf(options, shared)
  }

  /** The app over the disk after a restart: with nothing in its memory. */
  restarted(): Hono {
    return this.#appOf(this.#options)
  }

  /** The node as a token sees it that may read one log and its rotated files only. */
  guarded({ name }: Log): Service {
    const tokens = [
      { name: 'reader', token: 'secret', files: [`${name}*`, ...(name === CURRENT ? ['@*'] : [])] },
    ]
    const app = this.#appOf({ ...this.#options, tokens: () => tokens })
    return { ...this.node, app, headers: { Authorization: 'Bearer secret' } }
  }

  /** The node with a search that may read so many bytes only. */
  frugal(scanBytes: number): Service {
    const limits = { ...this.plan.settings.limits, scanBytes }
    const app = this.#appOf({ ...this.#options, limits })
    return { ...this.node, app, mayNote: ['scan-budget'] }
  }

  /** The fleet of all homes in the bucket, with nothing in its memory. */
  fleet(): Hono {
    const { settings } = this.plan
    return createFleet({
      store: bucketStore(this.kernel, this.bucket, 'fleet'),
      loki,
      limits: settings.limits,
      onError: (error) => this.reported.push(String(error)),
      clock: this.kernel,
    })
  }

  /** A coordinator whose peers are this node, under two names. `reach` is what a request goes through on its way. */
  coordinator(reach: (id: string, answer: () => Promise<Response>) => Promise<Response>): Hono {
    const retries = this.random.split('retries of a coordinator')
    const peers = ['db-1', 'db-2'].map((id) => ({
      id,
      url: `http://${id}`,
      random: () => retries.fraction(),
      fetch: (url: string, { connectMillis: _, ...init }: RequestInit & { connectMillis?: number }) =>
        reach(id, async () => this.app.fetch(new Request(url, init))),
    }))
    const { limits } = this.plan.settings
    return createFleet({ peers, limits, onError() {}, clock: this.kernel })
  }

  /** What the apps hold of their process. */
  held(): { memory: number; slices: number; scans: number; archives: number; following: number } {
    const slices = heldBySlices() - this.#slices
    const held = { memory: 0, slices, scans: 0, archives: 0, following: 0 }
    const sum = ({ running, waiting }: { running: number; waiting: number }) => running + waiting
    for (const { limits } of this.#shared) {
      held.memory += limits.memory.used
      held.scans += sum(limits.scans.load)
      held.archives += sum(limits.archives.load)
      held.following += limits.count.following
    }
    return held
  }

  log(name: string): Log {
    const log = this.logs.find((one) => one.name === name)
    if (!log) throw new Error(`There is no log ${name}`)
    return log
  }

  /** The log of a step, which its actor is named after. */
  logOf(step: Step): Log {
    return this.log(step.by.split(' ')[1]!)
  }

  /** Numbers for one step, the same whatever other steps there are. */
  randomOf(step: Step): Random {
    return this.random.split(`${step.by} ${step.id}`)
  }

  /** What an actor keeps between its steps. */
  stateOf<T>(step: Step, make: () => T): T {
    if (!this.states.has(step.by)) this.states.set(step.by, make())
    return this.states.get(step.by) as T
  }

  /** Whether this world has a costly check; `older` says so for plans that do not name their checks. */
  isDrawn(check: Check, older: () => boolean): boolean {
    return this.plan.settings.checks?.includes(check) ?? older()
  }

  note(line: string): void {
    this.kernel.note(line)
  }

  /** Says that a rule is broken. The world goes on, so that the history shows what follows. */
  break(rule: string, what: string): void {
    const broken = new Broken(rule, what)
    this.broken.push(broken)
    this.note(`BROKEN ${broken.message}`)
  }

  /** Does something that changes logs; nobody does so in a still moment. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    while (this.#still > 0) await this.#woken()
    this.#changing++
    try {
      return await work()
    } finally {
      this.#changing--
      this.#wake()
    }
  }

  /** Does something while nothing changes: all that had begun has ended. */
  async stillWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#still++
    try {
      while (this.#changing > 0) await this.#woken()
      return await work()
    } finally {
      this.#still--
      this.#wake()
    }
  }

  /** Trouble for a while: `start` begins it and returns what ends it. */
  async trouble(name: string, ms: number, start: () => () => void): Promise<void> {
    const span = { from: this.kernel.elapsed(), to: Number.POSITIVE_INFINITY }
    this.troubles.add(name)
    this.troubled.push(span)
    this.note(`trouble: ${name}`)
    const end = start()
    await this.kernel.sleep(ms)
    end()
    this.troubles.delete(name)
    span.to = this.kernel.elapsed()
    this.note(`no more trouble: ${name}`)
  }

  /** Whether there was trouble in this span of time. */
  troubledIn(from: number, to: number): boolean {
    return this.troubled.some((span) => span.from <= to && span.to >= from)
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => this.#wakers.push(resolve))
  }

  #wake(): void {
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }
}
