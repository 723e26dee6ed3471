import type { Hono } from 'hono'
import { runtime } from '#runtime'
import { EVERYTHING, type Grant } from './access/grant.ts'
import type { TokenSource } from './access/guard.ts'
import type { NodeInfo } from './answers.ts'
import type { Loki, LokiSource } from './doors/loki/files.ts'
import { tokenGuard } from './http/auth.ts'
import { Problem } from './http/problem.ts'
import type { Clock } from './kit/limits/clock.ts'
import { once } from './kit/limits/once.ts'
import { VERSION } from './kit/version.ts'
import { logFiles } from './log/files/files.ts'
import { narrowFiles } from './log/files/narrow.ts'
import {
  followLimits,
  type LogOptions,
  mostListed,
  type ProcessLimits,
  processLimits,
  viewContext,
} from './log/options.ts'
import { HomeError } from './node/home.ts'
import type { NodeFacts } from './node/identity.ts'
import type { VersionSource } from './node/versions.ts'
import { checkOptions, type Names } from './options.ts'
import type { CompareRoute } from './routes/compare/compare.ts'
import type { Query } from './routes/parameters/read.ts'
import { logResources } from './routes/resources.ts'
import { type Access, type Handler, type HandOn, Routing, type RoutingOptions } from './routing.ts'
import type { Store } from './store/store.ts'

/** The options of a node state service. */
export interface AppOptions extends LogOptions, RoutingOptions {
  /** Where the log files are. */
  logs: Store
  /** The node's configuration as TOML text; a function is called for every request. */
  config: string | (() => string | Promise<string>)
  /**
   * The home whose `configs/` holds earlier versions of the configuration, or a function that tells when the
   * configuration was last written, in milliseconds since the Unix epoch. @default written when the app was made
   */
  versions?: VersionSource | undefined
  /** The node's own description. Unset fields are derived from `facts` and the configuration. @default {} */
  node?: Partial<NodeInfo> | (() => Partial<NodeInfo> | Promise<Partial<NodeInfo>>) | undefined
  /** What the system says about the node. @default the version of this package, online since now */
  facts?: Partial<NodeFacts> | undefined
  /** Shell patterns; a file that matches none of them is neither listed nor read. @default every file */
  include?: readonly string[] | undefined
  /** Whether files in folders below are shown too, with slashes in their names. @default false */
  nested?: boolean | undefined
  /**
   * Whether each folder of dated objects, as log shippers write them, is one log; implies `nested`. A text is the name
   * of the log where the store itself is such a folder. @default false
   */
  join?: boolean | string | undefined
  /** When set, every request under `/api/` needs `Authorization: Bearer …`; undefined is refused. @default none */
  token?: string | undefined
  /**
   * Several tokens with names, scopes, files and nodes; `token` also works, and allows everything. Called for every request:
   * return the same array while nothing has changed. @default none
   */
  tokens?: TokenSource | undefined
  /**
   * Names a client that needs no token, such as by its certificate, from what the server passes beside the request; null
   * for the others, who need a token, and get no answer where there is none. @default nobody is known otherwise
   */
  identify?: ((bindings: unknown) => string | null) | undefined
  /** Loki's read API below `/loki/`: `import { loki } from 'nodestate/loki'`. @default none, and it is not bundled */
  loki?: Loki | (() => Promise<Loki>) | false | undefined
}

/** Every option, so that a misspelt one is refused. */
const NAMES: Names<AppOptions> = {
  logs: true,
  config: true,
  versions: true,
  node: true,
  facts: true,
  include: true,
  nested: true,
  join: true,
  token: true,
  tokens: true,
  identify: true,
  onAccess: true,
  allowHosts: true,
  corsOrigins: true,
  page: true,
  loki: true,
  mcp: true,
  metrics: true,
  metricsOpen: true,
  observe: true,
  onError: true,
  timezone: true,
  limits: true,
  follow: true,
  sharedMemory: true,
  clock: true,
}
const { logs: _logs, config: _config, versions: _versions, node: _node, ...SHARED_NAMES } = NAMES

/** The options that an app and a fleet have in common. */
export { SHARED_NAMES }

/** What the apps of one process share. */
export interface Shared {
  access: Access
  limits: ProcessLimits
  /** Answers about logs where they are, if that is elsewhere. @default they are read from the store */
  handOn?: HandOn | undefined
}

/** What one app, or all apps of a fleet, are given: make it once per process. */
export function sharedOf(
  options: Pick<AppOptions, 'token' | 'tokens' | 'identify' | 'limits' | 'metrics' | 'clock'>,
): Shared {
  const limits = processLimits(options)
  options.metrics?.scans(limits.scans)
  return { access: accessOf(options), limits }
}

/** A token for some nodes of a fleet says nothing about this one: a service cannot tell whether it is among them. */
function ofOneNode(access: Access): Access {
  const check = (grant: Grant) => {
    if (grant.nodes === null) return grant
    throw new Problem(
      'forbidden',
      'This token is for nodes of a fleet; use one without a list of nodes here.',
    )
  }
  return (headers, bindings) => {
    const grant = access(headers, bindings)
    return grant instanceof Promise ? grant.then(check) : check(grant)
  }
}

/**
 * Creates the app: Fetch API types only, so that it runs anywhere and can be mounted under any path. A fleet passes
 * what its nodes share. Throws a TypeError about an option that cannot be used.
 */
export function createApp(options: AppOptions, shared?: Shared): Hono {
  checkOptions(options, NAMES, 'logs')
  const { access, limits } = shared ?? sharedOf(options)
  const routing = new Routing(options, ofOneNode(access))
  const { node = {}, metrics, limits: { maxSize } = {} } = options
  const facts = { version: VERSION, onlineTime: limits.clock.now(), ...runtime.host(), ...options.facts }
  const nodeNow = async () => (typeof node === 'function' ? node() : node)
  const config = once(async () => {
    const [{ createConfigReader }, { showConfig }, { budgetOf }] = await Promise.all([
      import('./node/config.ts'),
      import('./routes/config.ts'),
      import('./log/view/context.ts'),
    ])
    const { versions = () => facts.onlineTime } = options
    const reader = createConfigReader(options.config)
    const history = once(async () =>
      (await import('./routes/config-history.ts')).configHistory(versions, reader, context),
    )
    const budget = (signal: AbortSignal) => budgetOf(context, signal)
    const route = { config: reader, node: nodeNow, facts, budget, history }
    return {
      show: (request: Request, query: Query) => showConfig(request, query, route),
      history,
    }
  })
  const history = async () => (await config()).history()
  // A fleet has many configurations: their shippers tell when they changed.
  if (options.versions && !shared) metrics?.configChanged(async () => (await history()).changed())
  const store = metrics?.store(options.logs) ?? options.logs
  const context = viewContext(
    logFiles(store, options.include, { ...options, mostListed: mostListed(options) }),
    options,
    limits,
  )
  const logs = logResources({ context, maxSize, following: followLimits(options), count: limits.count })

  routing.addQuery('/api/v1/config', 'config', async (request, query) =>
    (await config()).show(request, query),
  )
  routing.addQuery('/api/v1/config/history', 'config', async (request, query) =>
    (await history()).show(request, query),
  )
  for (const name of ['list', 'view', 'histogram', 'fields', 'groups', 'download'] as const) {
    const here = (request: Request, query: Query, grant: Grant) => logs(grant.files)[name](request, query)
    const handOn = shared?.handOn
    const answer: typeof here = handOn
      ? async (...asked) => (await handOn(name, ...asked)) ?? here(...asked)
      : here
    routing.addQuery(`/api/v1/log/${name}`, 'logs', answer, { max: { size: maxSize } })
  }
  const changed = async (
    periods: Parameters<NonNullable<CompareRoute['config']>>[0],
    signal: AbortSignal,
  ) => {
    const { changedKeys } = await import('./routes/compare/config.ts')
    return changedKeys((await history()).between, periods, null, signal)
  }
  routing.addQuery(
    '/api/v1/log/compare',
    'logs',
    (request, query, grant) =>
      logs(grant.files).compare(request, query, grant.scopes.has('config') ? changed : null),
    { resource: 'difference' },
  )
  if (options.loki) {
    const answerLoki = lokiHandler(options.loki, limits.clock, async (grant) => {
      const set: Partial<NodeInfo> = await nodeNow().catch(withoutNode)
      const files = grant.files === null ? context.files : narrowFiles(context.files, grant.files)
      return [{ node: set.hostName ?? facts.hostName ?? 'localhost', context: { ...context, files } }]
    })
    routing.add('/loki/*', 'logs', answerLoki)
  }
  routing.addInside({ isFleet: false, timezone: options.timezone })
  routing.addMcp({ isFleet: false, timezone: options.timezone })
  routing.addService(store)
  routing.addUnknown(
    'There is nothing at this path; try /api/v1/config, /api/v1/log/list or /api/v1/log/view.',
  )
  return routing.app
}

/** Logs can be read without a description of their node. */
function withoutNode(error: unknown): Partial<NodeInfo> {
  if (error instanceof HomeError) return {}
  throw error
}

function needsCertificate(): never {
  throw new Problem(
    'unauthorized',
    'This service needs a client certificate; connect with one that it trusts.',
  )
}

/** What the token of a request allows. The code for several tokens is loaded only where there are some. */
function accessOf({ token, tokens, identify }: Pick<AppOptions, 'token' | 'tokens' | 'identify'>): Access {
  if (identify) {
    const byToken = token === undefined && !tokens ? needsCertificate : accessOf({ token, tokens })
    return (headers, bindings) => {
      const name = identify(bindings)
      return name === null ? byToken(headers, bindings) : { ...EVERYTHING, name }
    }
  }
  if (tokens) {
    const guard = once(async () => (await import('./access/guard.ts')).accessGuard(tokens, token))
    return async (headers) => (await guard())(headers)
  }
  if (token === undefined) return () => EVERYTHING
  const check = tokenGuard(token)
  return (headers) => {
    check(headers)
    return EVERYTHING
  }
}

/** Answers Loki's API over the sources that a token may see. */
export function lokiHandler(
  given: Loki | (() => Promise<Loki>),
  clock: Clock,
  sources: (grant: Grant) => Promise<LokiSource[]>,
): Handler {
  const load = once(async () => (typeof given === 'function' ? given() : given))
  return async (request, grant) => (await load()).answer(request, await sources(grant), clock)
}
