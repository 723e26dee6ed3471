import { type Context, Hono } from 'hono'
import { EVERYTHING, type Grant, type Scope } from './access/grant.ts'
import type { TokenSource } from './access/guard.ts'
import { hostGuard, outOfScope, tokenGuard } from './http/auth.ts'
import { COMMON_HEADERS } from './http/conditional.ts'
import { corsFor } from './http/cors.ts'
import { methodNotAllowed, Problem, problemResponse, toProblem } from './http/problem.ts'
import { textResponse } from './http/sliced.ts'
import { once } from './limits/once.ts'
import { LogError } from './log/error.ts'
import { logFiles } from './log/files/files.ts'
import { narrowFiles } from './log/files/narrow.ts'
import {
  followLimits,
  type LogOptions,
  type ProcessLimits,
  processLimits,
  viewContext,
} from './log/options.ts'
import type { Loki, LokiSource } from './loki/source.ts'
import type { NodeFacts, NodeInfo } from './node/identity.ts'
import type { Metrics } from './observe/metrics.ts'
import type { Observer } from './observe/observer.ts'
import type { Tracer } from './observe/tracer.ts'
import type { Page } from './routes/page.ts'
import { type Query, queryReader } from './routes/parameters/read.ts'
import type { Resource } from './routes/parameters/row.ts'
import { type LogResources, logResources } from './routes/resources.ts'
import type { Store } from './store/store.ts'
import { VERSION } from './version.ts'

/** The options of a node state service. */
export interface AppOptions extends LogOptions {
  /** Where the log files are. */
  logs: Store
  /** The node's configuration as TOML text; a function is called for every request. */
  config: string | (() => string | Promise<string>)
  /** The node's own description. Unset fields are derived from `facts` and the configuration. @default {} */
  node?: Partial<NodeInfo> | (() => Partial<NodeInfo> | Promise<Partial<NodeInfo>>)
  /** What the system says about the node. @default the version of this package, online since now */
  facts?: Partial<NodeFacts>
  /** Shell patterns; a file that matches none of them is neither listed nor read. @default every file */
  include?: readonly string[]
  /** Whether files in folders below are shown too, with slashes in their names. @default false */
  nested?: boolean
  /**
   * Whether each folder of dated objects, as log shippers write them, is one log; implies `nested`. A text is the name
   * of the log where the store itself is such a folder. @default false
   */
  join?: boolean | string
  /** When set, every request under `/api/` needs `Authorization: Bearer …`. @default none */
  token?: string
  /**
   * Several tokens with names, scopes and files; `token` also works, and allows everything. Called for every request:
   * return the same array while nothing has changed. @default none
   */
  tokens?: TokenSource
  /** Called with the name of the token of a request, before it is answered. @default nothing */
  onAccess?: (request: Request, name: string) => void
  /** Host names to answer to. @default any */
  allowHosts?: readonly string[]
  /** Origins whose pages may read the API. @default none */
  corsOrigins?: readonly string[]
  /** The web page at `/`: `import { page } from 'nodestate/page'`. @default none, and it is not bundled */
  page?: Page | (() => Page | Promise<Page>) | false
  /** Loki's read API below `/loki/`: `import { loki } from 'nodestate/loki'`. @default none, and it is not bundled */
  loki?: Loki | (() => Promise<Loki>) | false
  /** Counts requests and store calls, and shows them at `/metrics`; see `nodestate/metrics`. @default none */
  metrics?: Metrics
  /** Whether `/metrics` needs no token. @default false */
  metricsOpen?: boolean
  /** A tracer of OpenTelemetry's API, such as `trace.getTracer('nodestate')`: one span for each request. @default none */
  observe?: Tracer
  /** Called for every failure of the service itself (status 500 and above). @default console.error */
  onError?: (error: unknown, request: Request) => void
}

/** What a request needs to be answered: a scope, any valid token, or nothing. */
type Need = Scope | 'token' | 'nothing'
type Handler = (request: Request, grant: Grant) => Response | Promise<Response>

/** Decides what a request may see; throws a problem if that is nothing. */
export type Access = (headers: Headers) => Grant | Promise<Grant>

/** What the apps of one process share. */
export interface Shared {
  access: Access
  limits: ProcessLimits
}

/** What one app, or all apps of a fleet, are given: make it once per process. */
export function sharedOf(options: Pick<AppOptions, 'token' | 'tokens' | 'limits' | 'metrics'>): Shared {
  const limits = processLimits(options)
  options.metrics?.scans(limits.scans)
  return { access: accessOf(options), limits }
}

/**
 * Creates the app: Fetch API types only, so that it runs anywhere and can be mounted under any path. A fleet passes
 * what its nodes share.
 */
export function createApp(options: AppOptions, { access, limits }: Shared = sharedOf(options)): Hono {
  const app = new Hono()
  const cors = corsFor(options.corsOrigins ?? [])
  const checkHost = hostGuard(options.allowHosts ?? [])
  const onError = options.onError ?? ((error) => console.error(error))

  // One wrapper instead of middlewares: three async middlewares that do nothing cost 15 % of a small answer.
  const isObserved = options.metrics !== undefined || options.observe !== undefined
  let observer: Observer | null = null
  const loadObserver = once(async () =>
    (await import('./observe/observer.ts')).observerOf(options.metrics, options.observe),
  )
  const guarded = (route: string, need: Need, handler: Handler) => {
    return async (c: Context): Promise<Response> => {
      const request = c.req.raw
      if (isObserved) observer ??= await loadObserver()
      const observed = observer?.(request, route)
      let response: Response
      try {
        response =
          need === 'nothing' ? await handler(request, EVERYTHING) : await answer(request, need, handler)
      } catch (error) {
        response = refuse(error, request)
      }
      cors?.apply(request, response)
      return observed ? observed(response) : response
    }
  }
  /** Answers if the host and the token allow it; a preflight carries no token. */
  const answer = (request: Request, need: Scope | 'token', handler: Handler) => {
    checkHost(request.headers)
    const preflight = cors?.preflight(request)
    if (preflight) return preflight
    const grant = access(request.headers)
    return grant instanceof Promise
      ? grant.then((granted) => within(request, granted, need, handler))
      : within(request, grant, need, handler)
  }
  const within = (request: Request, grant: Grant, need: Scope | 'token', handler: Handler) => {
    if (grant.name !== null) options.onAccess?.(request, grant.name)
    if (need !== 'token' && !grant.scopes.has(need)) throw outOfScope(need)
    return handler(request, grant)
  }
  const refuse = (error: unknown, request: Request): Response => {
    const problem = toProblem(error)
    // A client disconnect is not a server error, and a LogError is for the client to fix.
    if (problem.status >= 500 && !request.signal.aborted && !(error instanceof LogError))
      onError(problem.cause ?? problem, request)
    return problemResponse(problem, request.headers.get('Accept'))
  }
  const { node = {}, limits: { maxSize } = {} } = options
  /** Reads the parameters of a resource, and notes unknown ones on the response. */
  const withQuery = (
    resource: Resource,
    handler: (request: Request, query: Query, grant: Grant) => Response | Promise<Response>,
  ): Handler => {
    const read = queryReader(resource, maxSize === undefined ? {} : { size: maxSize })
    return async (request, grant) => {
      const query = await read(request.url)
      if (!query.unknown) return handler(request, query, grant)
      let response: Response
      try {
        response = await handler(request, query, grant)
      } catch (error) {
        response = refuse(error, request)
      }
      response.headers.append('X-Nodestate-Note', 'unknown-parameter')
      return response
    }
  }

  const facts = { version: VERSION, onlineTime: Date.now(), ...options.facts }
  const config = once(async () => {
    const [{ createConfigReader }, { showConfig }] = await Promise.all([
      import('./node/config.ts'),
      import('./routes/config.ts'),
    ])
    const nodeNow = typeof node === 'function' ? node : () => node
    const route = { config: createConfigReader(options.config), node: nodeNow, facts }
    return (request: Request, query: Query) => showConfig(request, query, route)
  })
  const store = options.metrics?.store(options.logs) ?? options.logs
  const context = viewContext(logFiles(store, options.include, options), options, limits)
  const { metrics } = options
  const logs = logResources({ context, maxSize, following: followLimits(options), count: limits.count })
  const ofLogs = (name: keyof LogResources) =>
    withQuery(name, (request, query, grant) => logs(grant.files)[name](request, query))

  const ready = once(async () => (await import('./observe/ready.ts')).readiness(store))
  const resources: [path: string, need: Need, handler: Handler][] = [
    [
      '/api/v1/config',
      'config',
      withQuery('config', async (request, query) => (await config())(request, query)),
    ],
    ['/api/v1/log/list', 'logs', ofLogs('list')],
    ['/api/v1/log/view', 'logs', ofLogs('view')],
    ['/api/v1/log/histogram', 'logs', ofLogs('histogram')],
    ['/api/v1/log/fields', 'logs', ofLogs('fields')],
    ['/api/v1/log/download', 'logs', ofLogs('download')],
    [
      '/openapi.json',
      'nothing',
      async (request) => (await import('./openapi/route.ts')).showOpenApi(request),
    ],
    ['/healthz', 'nothing', healthy],
    ['/readyz', 'nothing', async () => (await ready())()],
  ]
  if (metrics)
    resources.push([
      '/metrics',
      options.metricsOpen ? 'nothing' : 'metrics',
      (request) => metrics.show(request),
    ])
  const { page } = options
  const load = async () => (typeof page === 'function' ? page() : page || unknownPath())
  const pageRoutes = once(() => import('./routes/page.ts'))
  const show: Handler = async (request) => (await pageRoutes()).showPage(request, await load())
  if (page) {
    resources.push(
      ['/', 'nothing', show],
      [
        '/assets/:name',
        'nothing',
        async (request) => (await pageRoutes()).showAsset(request, lastName(request.url), await load()),
      ],
    )
  }
  if (options.loki) {
    const answerLoki = lokiHandler(options.loki, async (grant) => {
      const set = await (typeof node === 'function' ? node() : node)
      const files = grant.files === null ? context.files : narrowFiles(context.files, grant.files)
      return [{ node: set.hostName ?? facts.hostName ?? 'localhost', context: { ...context, files } }]
    })
    resources.push(['/loki/*', 'logs', answerLoki])
  }
  for (const [path, need, handler] of resources) {
    app.get(path, guarded(path, need, handler))
    app.all(path, guarded(path, need === 'nothing' ? need : 'token', methodNotAllowed))
  }
  if (page) {
    // Under route(), `/` matches only without the trailing slash. A pattern for both would move every request to the
    // slower of Hono's routers.
    const shown = guarded('/', 'nothing', show)
    app.get('*', (c, next) => (c.req.path === `${c.req.routePath.slice(0, -2)}/` ? shown(c) : next()))
  }
  // A mounted app's notFound is ignored by Hono's route(): a catch-all makes 404 a problem under any path.
  app.all('/api/*', guarded('other', 'token', unknownPath))
  app.all('*', guarded('other', 'nothing', unknownPath))
  return app
}

/** What the token of a request allows. The code for several tokens is loaded only where there are some. */
function accessOf({ token, tokens }: Pick<AppOptions, 'token' | 'tokens'>): Access {
  if (tokens) {
    const guard = once(async () => (await import('./access/guard.ts')).accessGuard(tokens, token))
    return async (headers) => (await guard())(headers)
  }
  const check = tokenGuard(token)
  return (headers) => {
    check(headers)
    return EVERYTHING
  }
}

function lastName(url: string): string {
  return new URL(url).pathname.split('/').at(-1)!
}

/** Answers Loki's API over the sources that a token may see. */
export function lokiHandler(
  given: Loki | (() => Promise<Loki>),
  sources: (grant: Grant) => Promise<LokiSource[]>,
): Handler {
  const load = once(async () => (typeof given === 'function' ? given() : given))
  return async (request, grant) => (await load()).answer(request, await sources(grant))
}

/** For liveness probes: answers regardless of the state of the store. */
function healthy(): Response {
  return textResponse('ok\n', { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS })
}

function unknownPath(): never {
  throw new Problem(
    'unknown-path',
    'There is nothing at this path; try /api/v1/config, /api/v1/log/list or /api/v1/log/view.',
  )
}
