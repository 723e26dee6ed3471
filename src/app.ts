import { runtime } from '#runtime'
import { EVERYTHING, type Grant } from './access/grant.ts'
import type { NodeInfo } from './answers.ts'
import type { Loki, LokiSource } from './doors/loki/files.ts'
import { tokenGuard } from './http/auth.ts'
import { Problem } from './http/problem.ts'
import type { Clock } from './kit/limits/clock.ts'
import { once } from './kit/limits/once.ts'
import { VERSION } from './kit/version.ts'
import { logFiles } from './log/files/files.ts'
import { narrowFiles } from './log/files/narrow.ts'
import { followLimits, mostListed, type ProcessLimits, processLimits, viewContext } from './log/options.ts'
import { HomeError } from './node/home.ts'
import { unknownHost } from './node/unknown-host.ts'
import { type AppOptions, checkAppOptions } from './options.ts'
import type { CompareRoute } from './routes/compare/compare.ts'
import type { Query } from './routes/parameters/read.ts'
import { logResources } from './routes/resources.ts'
import { type Access, type Handler, type HandOn, Routing, type Service, sealed } from './routing.ts'

export type { AppOptions } from './options.ts'

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
  const routing = new Routing(options, ofOneNode(access))
  const { node = {}, metrics, limits: { maxSize } = {} } = options
  const facts = { version: VERSION, onlineTime: limits.clock.now(), ...runtime.host(), ...options.facts }
  if (typeof node !== 'function' && (node.hostName ?? facts.hostName) === undefined)
    for (const warning of unknownHost()) console.warn(`nodestate: ${warning}`)
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
  return sealed(routing.app)
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
function accessOf({ identify, ...byTokens }: Pick<AppOptions, 'token' | 'tokens' | 'identify'>): Access {
  const { token, tokens } = byTokens
  if (identify) {
    const byToken = token === undefined && !tokens ? needsCertificate : accessOf(byTokens)
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
