import { runtime } from '#runtime'
import type { NodeInfo } from '../kit/answers.ts'
import { once } from '../kit/limits/once.ts'
import type { Metrics } from '../kit/observe/metrics.ts'
import { VERSION } from '../kit/version.ts'
import { logFiles } from '../log/files/files.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { followLimits, mostListed, type ProcessLimits, processLimits, viewContext } from '../log/options.ts'
import { EVERYTHING, type Grant, SCOPES } from './access/grant.ts'
import type { TokenSource } from './access/guard.ts'
import type { ConfigSource, NodeSite, Site } from './capability.ts'
import { tokenGuard } from './http/auth.ts'
import { Problem } from './http/problem.ts'
import { listLogs } from './list.ts'
import { HomeError } from './node/home.ts'
import { unknownHost } from './node/unknown-host.ts'
import { type AppOptions, checkAppOptions, joinedOf, type SharedOptions } from './options.ts'
import type { Resource } from './parameter.ts'
import type { Query } from './query.ts'
import { logsOf, named, viewOf } from './resources.ts'
import { type Access, type ForwardToPeer, Routing, type Service, sealed } from './routing.ts'

export type { AppOptions } from './options.ts'

/** What the apps of one process share. */
export interface Shared {
  access: Access
  limits: ProcessLimits
  /** Answers about logs where they are, if that is elsewhere. @default they are read from the store */
  forwardToPeer?: ForwardToPeer | undefined
}

/** What one app, or all apps of a fleet, are given: make it once per process. */
export function sharedOf(options: Pick<AppOptions, 'auth' | 'limits' | 'with' | 'clock'>): Shared {
  const limits = processLimits(options)
  watchOf(options)?.scans(limits.scans)
  return { access: accessOf(options.auth), limits }
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
  return async (request, around) => check(await access(request, around))
}

/**
 * Creates the app: Fetch API types only, so that it runs anywhere and can be mounted under any path. Throws a TypeError
 * about an option that cannot be used.
 */
export function createApp(options: AppOptions): Service {
  return appOf(options)
}

/** The app of one node of a fleet, which passes what its nodes share. */
export function appOf(options: AppOptions, shared?: Shared): Service {
  checkAppOptions(options)
  const { access, limits } = shared ?? sharedOf(options)
  const metrics = watchOf(options)
  const routing = new Routing({ ...options, metrics }, ofOneNode(access))
  const { node = {}, limits: { maxSize } = {} } = options
  const facts = { version: VERSION, onlineTime: limits.clock.now(), ...runtime.host(), ...options.facts }
  if (typeof node !== 'function' && (node.hostName ?? facts.hostName) === undefined)
    for (const warning of unknownHost()) console.warn(`nodestate: ${warning}`)
  const nodeNow = async () => (typeof node === 'function' ? node() : node)
  const source = once(async (): Promise<ConfigSource> => {
    const { createConfigReader } = await import('./node/config.ts')
    const { versions = () => facts.onlineTime } = options
    return { reader: createConfigReader(options.config), versions, context }
  })
  const config = once(async () => {
    const [{ showConfig }, { budgetOf }, { reader }] = await Promise.all([
      import('./config.ts'),
      import('../log/view/context.ts'),
      source(),
    ])
    const budget = (signal: AbortSignal) => budgetOf(context, signal)
    const route = { config: reader, node: nodeNow, facts, budget, history: () => site.history!() }
    return (request: Request, query: Query) => showConfig(request, query, route)
  })
  const store = metrics?.store(options.logs) ?? options.logs
  const context = viewContext(
    logFiles(store, options.include, {
      ...options,
      joined: joinedOf(options),
      mostListed: mostListed(options),
    }),
    options,
    limits,
  )
  const site: NodeSite = {
    queries: null,
    newestDated: null,
    timeline: null,
    follow: null,
    following: followLimits(options),
    count: limits.count,
    maxSize,
    history: null,
    config: source,
    addLog(name, answer, { resource = name as Resource } = {}) {
      const own = name === 'list' ? answer : named(answer, site)
      const here = (request: Request, query: Query, grant: Grant) =>
        own(request, query, logs(grant.files), grant)
      const forwardToPeer = shared?.forwardToPeer
      const there =
        forwardToPeer && (async (...asked: Parameters<typeof here>) => forwardToPeer(name, ...asked))
      const both: typeof here = async (...asked) => (await there?.(...asked)) ?? here(...asked)
      routing.addQuery(`/api/v1/log/${name}`, 'logs', there ? both : here, {
        max: { size: maxSize },
        resource,
      })
    },
  }
  const logs = logsOf(context, site)
  routing.addQuery('/api/v1/config', 'config', async (request, query) => (await config())(request, query))
  site.addLog('list', (request, query, { context, queries }) => listLogs(request, query, context, queries))
  site.addLog('view', viewOf(site))
  addCapabilities(options, {
    routing,
    isFleet: false,
    timezone: options.timezone,
    clock: limits.clock,
    async sources(grant) {
      const set: Partial<NodeInfo> = await nodeNow().catch(withoutNode)
      const files = grant.files === null ? context.files : narrowFiles(context.files, grant.files)
      return [{ node: set.hostName ?? facts.hostName ?? 'localhost', context: { ...context, files } }]
    },
    node: site,
  })
  // A fleet has many configurations: their shippers tell when they changed.
  const { history } = site
  if (options.versions && !shared && history) metrics?.configChanged(async () => (await history()).changed())
  routing.addHealth(store)
  routing.addNotIncluded()
  routing.addUnknown(
    'There is nothing at this path; try /api/v1/config, /api/v1/log/list or /api/v1/log/view.',
  )
  return sealed(routing.app)
}

/** Adds the capabilities of an app or a fleet, in their order. */
export function addCapabilities(options: SharedOptions, site: Omit<Site, 'capabilities'>): void {
  const capabilities = options.with ?? []
  for (const capability of capabilities) capability.add?.({ ...site, capabilities })
}

/** What counts requests and calls of stores, if one of the capabilities does. */
export function watchOf(options: SharedOptions): Metrics | undefined {
  return options.with?.find(({ watch }) => watch)?.watch
}

/** Logs can be read without a description of their node. */
function withoutNode(error: unknown): Partial<NodeInfo> {
  if (error instanceof HomeError) return {}
  throw error
}

function unknownClient(): never {
  throw new Problem(
    'unauthorized',
    'This service needs a client certificate; connect with one that it trusts.',
  )
}

/** What a request may see. The code for several tokens is loaded only where there are some. */
function accessOf(auth: AppOptions['auth']): Access {
  if (auth === undefined) return () => EVERYTHING
  const { token, tokens, identify } = typeof auth === 'string' ? { token: auth } : auth
  const byToken = tokenAccess(token, tokens)
  if (!identify) return byToken ?? unknownClient
  return async (request, around) => {
    const known = await identify(request, around)
    if (known === null) return (byToken ?? unknownClient)(request, around)
    if (typeof known === 'string') return { ...EVERYTHING, name: known }
    const { name, scopes = SCOPES, files = null, nodes = null } = known
    return { name, scopes: new Set(scopes), files, nodes }
  }
}

function tokenAccess(token: string | undefined, tokens: TokenSource | undefined): Access | null {
  if (tokens) {
    const guard = once(async () => (await import('./access/guard.ts')).accessGuard(tokens, token))
    return async ({ headers }) => (await guard())(headers)
  }
  if (token === undefined) return null
  const check = tokenGuard(token)
  return ({ headers }) => {
    check(headers)
    return EVERYTHING
  }
}
