import { ACTORS } from './actors/index.ts'
import { Random } from './kernel/random.ts'
import { drawLogs, type LogSettings } from './logs.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/**
 * One thing that an actor does, as data. `by` is the kind of the actor and its name, such as `writer broker.log`; `does`
 * and the members after it are its own. Times are virtual milliseconds.
 */
export interface Step {
  id: number
  at: number
  by: string
  does: string
  readonly [more: string]: Json
}

/** What a world is like, apart from what happens in it. */
export interface Settings {
  /** Milliseconds in which steps begin. */
  length: number
  logs: LogSettings[]
  /** How much is written: most worlds are small, because they find more. */
  size: number
  /** How coarse the disk's times are. */
  tick: number
  reusesInodes: boolean
  /** The disk's store: see `DiskStoreOptions`. */
  slice: number
  isFast: boolean
  isWatched: boolean
  slowest: number
  /** Of the app. */
  limits: { scans: number; memory?: number }
  /** How logs are shipped to the bucket. @default they are not */
  ships?: ShipSettings
  /** Whether it has all kinds of actors, and many of each. @default it has, as older worlds did */
  isCrowded?: boolean
  /** The costly checks of this world. @default those that are drawn when it is calm, as in older worlds */
  checks?: Check[]
}

/** What is looked at once all is calm, and costs as much as all the rest. */
export type Check = 'verify' | 'fleet' | 'tokens' | 'budgets'

export interface ShipSettings {
  rules: { segmentBytes: number; segmentAgeMs: number }
}

/** A world before it has happened: all of it is here, and a smaller one has fewer steps. */
export interface Plan {
  seed: number
  settings: Settings
  steps: Step[]
}

/** What an actor draws its steps with. */
export interface Draft {
  readonly random: Random
  readonly settings: Settings
  /** Adds a step. */
  add(by: string, does: string, at: number, more?: { [name: string]: Json }): void
  /** A moment of the world. */
  moment(random: Random): number
}

/** How many of a hundred worlds have these kinds of actors. */
const CROWDED = 5
const SHARES: Readonly<Record<string, number>> = {
  follower: 23,
  agreement: 52,
  shipper: 11,
  reader: 11,
  coordinator: 3,
}
/** How many of a hundred have two. */
const PAIRS = 15

/** The world of a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(`world ${seed}`)
  const kinds = drawKinds(random.split('kinds'))
  const settings = drawSettings(random.split('settings'), kinds)
  const steps: Step[] = []
  for (const [kind, actor] of Object.entries(ACTORS)) {
    if (kind in SHARES && kinds !== null && !kinds.has(kind)) continue
    const own = random.split(kind)
    actor.plan?.({
      random: own,
      settings,
      add: (by, does, at, more = {}) =>
        steps.push({ id: steps.length + 1, at, by: `${kind} ${by}`, does, ...more }),
      moment: (stream) => Math.round(stream.fraction() * settings.length),
    })
  }
  return { seed, settings, steps }
}

/**
 * What a world has besides writers, rotators and trouble; null for everything. Writing is cheap and questions are expensive,
 * and the second question about a history finds less than the first one about another. So most worlds have one kind.
 */
function drawKinds(random: Random): Set<string> | null {
  if (random.chance(CROWDED / 100)) return null
  const kinds = new Set([random.weighted(SHARES)])
  if (random.chance(PAIRS / 100)) kinds.add(random.weighted(SHARES))
  return kinds
}

function drawSettings(random: Random, kinds: Set<string> | null): Settings {
  const ships = drawShips(random.split('ships'), kinds)
  const logs = drawLogs(random.split('logs'))
  const settings: Settings = {
    length: random.small(300, 60_000),
    logs,
    size: random.chance(0.002) ? 10 : 1,
    tick: random.pick([1, 1, 4]),
    // A new file with the header and the inode of an old one cannot be told from it.
    reusesInodes: random.chance(0.3) && !logs.some(({ header }) => header !== undefined),
    slice: random.pick([1_000, 10_000, 500_000]),
    isFast: random.chance(0.6),
    isWatched: random.chance(0.6),
    slowest: random.pick([0.5, 3, 40]),
    limits: { scans: random.pick([1, 2, 4]), ...drawMemory(random.split('memory')) },
    ...(ships && { ships }),
    isCrowded: kinds === null,
    checks: drawChecks(random.split('checks'), kinds === null),
  }
  // Some MiB in small slices from a slow disk would take longer than a search may.
  return logs.some(({ longest }) => longest) ? { ...settings, slice: 500_000, slowest: 3 } : settings
}

/** Some processes have little memory. */
function drawMemory(random: Random): { memory?: number } {
  return random.chance(0.05) ? { memory: random.pick([64, 128]) * 1024 * 1024 } : {}
}

function drawChecks(random: Random, isCrowded: boolean): Check[] {
  const shares = { verify: 0.25, fleet: 0.05, tokens: 0.03, budgets: 0.03 }
  const names = Object.keys(shares) as Check[]
  return names.filter((name) => random.chance(isCrowded ? 0.5 : shares[name]))
}

function drawShips(random: Random, kinds: Set<string> | null): ShipSettings | null {
  if (kinds === null ? !random.chance(0.33) : !kinds.has('shipper')) return null
  const rules = {
    segmentBytes: random.pick([2_000, 8_000, 1_000_000]),
    segmentAgeMs: random.pick([2_000, 10_000]),
  }
  return { rules }
}

/** The plan with only some of its steps. */
export function keepSteps(plan: Plan, ids: ReadonlySet<number>): Plan {
  return { ...plan, steps: plan.steps.filter(({ id }) => ids.has(id)) }
}
