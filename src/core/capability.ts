import type { Clock } from '../kit/limits/clock.ts'
import type { Metrics } from '../kit/observe/metrics.ts'
import type { LoadJoined } from '../log/files/files.ts'
import type { FollowLimits } from '../log/follow/hub.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { Entry } from '../store/store.ts'
import type { Grant } from './access/grant.ts'
import type { Parameter } from './parameter.ts'
import type { Query } from './query.ts'
import type { Routing } from './routing.ts'

/**
 * What is added to an app: `createApp({ …, with: [search(), page()] })`. A capability knows the core; the core knows only
 * what is here.
 */
export interface Capability {
  /** What it is called, here and in the problem that names it where it is missing. */
  readonly name: string
  /** Rows of parameters that it adds to routes of the core, loaded with the first request that has one. @default none */
  parameters?: (() => Promise<readonly Parameter[]>) | undefined
  /** Adds its routes, or what it does to a route of the core. Called once for each app. */
  add?: ((site: Site) => void) | undefined
  /** Counts requests and calls of stores. One capability at most has it. */
  watch?: Metrics | undefined
  /** Reads logs that are made of many objects, for the option `join`. One capability at most has it. */
  joined?: LoadJoined | undefined
  /** Loads what the first requests would load, for a process that must not read files later. */
  preload?: (() => Promise<unknown>) | undefined
}

/** The app while it is made. */
export interface Site {
  routing: Routing
  isFleet: boolean
  /** Every capability of the app. */
  capabilities: readonly Capability[]
  /** The zone of log times that do not name one. @default UTC */
  timezone: string | undefined
  clock: Clock
  /** The nodes with the logs that a token may see. */
  sources(grant: Grant): Promise<LogSource[]>
  /** The node that the app shows; null for a fleet, which adds its own routes about logs. */
  node: NodeSite | null
}

/** A node and its logs. */
export interface LogSource {
  node: string
  context: ViewContext
}

/** What a capability can do to the app of a node. */
export interface NodeSite {
  /** Adds `/api/v1/log/NAME`. */
  addLog(name: string, answer: AnswerLogs, options?: { resource?: Parameter['on'][number] }): void
  /** Answers what the core's list and tail do not: set by one capability. */
  queries: ((context: ViewContext) => Promise<Queries>) | null
  /** The newest file of a log whose files all have dates in their names: set by one capability. */
  newestDated: ((entries: readonly Entry[], log: string) => Promise<string | null>) | null
  /** How several logs are answered as one; they are not without it. */
  timeline: (() => Promise<unknown>) | null
  /** How logs are followed; they are not without it. */
  follow: (() => Promise<unknown>) | null
  following: FollowLimits | null
  /** The current number of followers, counted together for all that share the limit. */
  count: { following: number }
  maxSize: number | undefined
  /** Earlier versions of the configuration: set by one capability. */
  history: (() => Promise<History>) | null
  /** What the history is read from. */
  config: () => Promise<ConfigSource>
}

/** The configuration as it is read, and where its earlier versions are. */
export interface ConfigSource {
  // biome-ignore lint/suspicious/noExplicitAny: the reader and the source are those of node/, which is loaded later
  reader: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  versions: any
  context: ViewContext
}

/** Earlier versions of a configuration. */
export interface History {
  changed(): Promise<number>
  // biome-ignore lint/suspicious/noExplicitAny: a version is shown as the route that asks has it
  at(text: string, signal: AbortSignal): Promise<any>
}

export type AnswerLogs = (
  request: Request,
  query: Query,
  logs: Logs,
  grant: Grant,
) => Response | Promise<Response>

/** The logs that a token may see. */
export interface Logs {
  context: ViewContext
  queries(): Promise<Queries>
}

/** What is known about logs beyond the list and the plain tail. */
export interface Queries {
  view(request: Request, query: Query): Promise<Response>
  listDetails(request: Request, query: Query): Promise<Response>
}
