import type { Context } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import { Hono } from 'hono/tiny'
import { EVERYTHING, type Grant, type Scope } from './access/grant.ts'
import type { McpService } from './doors/mcp/service.ts'
import { hostGuard, outOfScope } from './http/auth.ts'
import { isHop, setCaller, unknownToHop } from './http/caller.ts'
import { COMMON_HEADERS } from './http/conditional.ts'
import { corsFor } from './http/cors.ts'
import { methodNotAllowed, Problem, problemResponse, toProblem } from './http/problem.ts'
import { respond, streamOf } from './http/sliced.ts'
import type { IncidentService } from './insight/incident/incident.ts'
import { systemClock } from './kit/limits/clock.ts'
import { once } from './kit/limits/once.ts'
import type { Observer } from './kit/observe/observer.ts'
import { assignId } from './kit/observe/request-id.ts'
import { LogError } from './log/error.ts'
import type { AppOptions } from './options.ts'
import { type Query, queryReader } from './routes/parameters/read.ts'
import type { Resource } from './routes/parameters/row.ts'
import type { Store } from './store/store.ts'

type RoutingOptions = Pick<
  AppOptions,
  | 'onAccess'
  | 'allowHosts'
  | 'corsOrigins'
  | 'page'
  | 'mcp'
  | 'metrics'
  | 'metricsOpen'
  | 'observe'
  | 'onError'
  | 'clock'
>

interface QueryOptions {
  max?: Parameters<typeof queryReader>[1]
  /** Whether it also takes what only a fleet knows. @default false */
  fleet?: boolean
  /** Whose parameters it takes. @default the last word of the path */
  resource?: Resource
}

/** Decides what a request may see; throws a problem if that is nothing. */
export type Access = (headers: Headers, bindings: unknown) => Grant | Promise<Grant>

/** What a request needs to be answered: a scope, any valid token, or nothing. */
export type Need = Scope | 'token' | 'nothing'
export type Handler = (request: Request, grant: Grant, bindings?: unknown) => Response | Promise<Response>
type QueryHandler = (
  request: Request,
  query: Query,
  grant: Grant,
  /** What the runtime passes beside the request. */
  bindings: unknown,
) => Response | Promise<Response>
/** Answers a request about logs elsewhere; null if their store must be read here. */
export type HandOn = (
  name: 'list' | 'view' | 'histogram' | 'fields' | 'groups' | 'download',
  request: Request,
  query: Query,
  grant: Grant,
) => Promise<Response | null>

/** Answers a request; `env` is what the runtime passes beside it. */
type Answer = (request: Request, env: unknown) => Response | Promise<Response>

/**
 * The routes of an app. Each is one function that checks the host, the token and its scope, turns errors into problems
 * and is observed: three async middlewares that do nothing would cost 15 % of a small answer.
 */
export class Routing {
  readonly app = newHono()
  readonly #options: RoutingOptions
  readonly #access: Access
  readonly #cors: ReturnType<typeof corsFor>
  readonly #checkHost: ReturnType<typeof hostGuard>
  readonly #loadObserver: () => Promise<Observer>
  #observer: Observer | null = null
  #isLoopKnown = false
  readonly #direct = new Map<string, Answer>()

  constructor(options: RoutingOptions, access: Access) {
    this.#options = options
    this.#access = access
    this.#cors = corsFor(options.corsOrigins ?? [])
    this.#checkHost = hostGuard(options.allowHosts ?? [])
    this.#loadObserver = once(async () =>
      (await import('./kit/observe/observer.ts')).observerOf(options.metrics, options.observe),
    )
    const { fetch } = this.app
    this.app.fetch = (request, ...rest) => {
      const direct = request.method === 'GET' ? this.#direct.get(pathOf(request.url)) : undefined
      return direct ? direct(request, rest[0]) : fetch(request, ...rest)
    }
  }

  /** Adds a resource. Other methods than GET and HEAD are refused. */
  add(path: string, need: Need, handler: Handler): void {
    const answer = this.guarded(path, need, handler)
    // Hono takes a tenth of a short tail (row `view-4k`): the catch-alls match every path, and it awaits each handler.
    this.#direct.set(path, answer)
    this.#route('get', path, answer)
    this.#route('all', path, this.guarded(path, need === 'nothing' ? need : 'token', methodNotAllowed))
  }

  /** Adds what every service has: its API as a document, its health, its metrics and its page. */
  addService(store: Store): void {
    const { metrics, metricsOpen, page, clock = systemClock } = this.#options
    this.add('/openapi.json', 'nothing', async (request) =>
      (await import('./doors/openapi/route.ts')).showOpenApi(request),
    )
    this.add('/healthz', 'nothing', healthy)
    const ready = once(async () => (await import('./kit/observe/ready.ts')).readiness(store, clock))
    this.add('/readyz', 'nothing', async () => (await ready())())
    if (metrics) this.add('/metrics', metricsOpen ? 'nothing' : 'metrics', (request) => metrics.show(request))
    if (page) this.#addPage(page)
  }

  /** Adds MCP, if the options have it; its code is loaded with the first request. */
  addMcp(about: Pick<McpService, 'isFleet' | 'timezone'>): void {
    const { mcp, corsOrigins = [], metrics, clock = systemClock } = this.#options
    if (!mcp) return
    const load = once(async () => (typeof mcp === 'function' ? mcp() : mcp))
    this.app.all('/mcp', async ({ req: { raw }, env }) =>
      (await load()).answer(raw, {
        ...about,
        guarded: (handler) => this.guarded('/mcp', 'token', handler)(raw, env),
        fetch: (request) => this.app.fetch(request, env),
        corsOrigins,
        registry: metrics?.registry,
        clock,
        onError: (error) => this.#refuse(error, raw),
      }),
    )
  }

  /** Adds what is asked from the app itself: the blame of a configuration, and an incident as one file. */
  addInside({ isFleet, timezone }: Pick<IncidentService, 'isFleet' | 'timezone'>): void {
    const { page, clock = systemClock } = this.#options
    const inside = (bindings: unknown) => (asked: Request) => this.app.fetch(asked, bindings as object)
    this.addQuery(
      '/api/v1/log/incident',
      'logs',
      async (request, query, _, bindings) =>
        (await import('./insight/incident/incident.ts')).showIncident(request, query, {
          isFleet,
          timezone,
          clock,
          hasPage: Boolean(page),
          inside: inside(bindings),
        }),
      { resource: 'difference', fleet: isFleet },
    )
    this.addQuery(
      '/api/v1/config/blame',
      'config',
      async (request, query, _, bindings) =>
        (await import('./insight/blame/blame.ts')).showBlame(request, query, {
          isFleet,
          clock,
          inside: inside(bindings),
        }),
      { fleet: isFleet },
    )
  }

  /** Answers what no route before it does. Add it last. */
  addUnknown(detail: string): void {
    const unknown = () => {
      throw new Problem('unknown-path', detail)
    }
    // A mounted app's notFound is ignored by Hono's route(): a catch-all makes 404 a problem under any path.
    this.#route('all', '/api/*', this.guarded('other', 'token', unknown))
    this.#route('all', '*', this.guarded('other', 'nothing', unknown))
  }

  /** Adds a resource with parameters, by the last word of its path; unknown ones are noted on the response. */
  addQuery(
    path: `/api/v1/${'' | 'config/' | 'log/'}${Resource | 'incident'}`,
    need: Need,
    handler: QueryHandler,
    {
      max = {},
      fleet = false,
      resource = path.slice(path.lastIndexOf('/') + 1) as Resource,
    }: QueryOptions = {},
  ): void {
    const read = queryReader(resource, max, fleet)
    const answer: QueryHandler = (request, query, grant, bindings) => {
      if (!query.unknown) return handler(request, query, grant, bindings)
      if (isHop(request)) throw unknownToHop()
      return this.#noteUnknown(request, () => handler(request, query, grant, bindings))
    }
    this.add(path, need, (request, grant, bindings) => {
      const query = read(request.url)
      return query instanceof Promise
        ? query.then((read) => answer(request, read, grant, bindings))
        : answer(request, query, grant, bindings)
    })
  }

  async #noteUnknown(request: Request, answer: () => Response | Promise<Response>): Promise<Response> {
    const answered = (async () => answer())()
    const response = await answered.catch((error) => this.#refuse(error, request))
    response.headers.append('X-Nodestate-Note', 'unknown-parameter')
    return response
  }

  /**
   * An answer that waits for nothing is returned as it is: on Node, a promise costs a quarter of a short tail (row
   * `view-4k`).
   */
  guarded(route: string, need: Need, handler: Handler): Answer {
    const isObserved = this.#options.metrics !== undefined || this.#options.observe !== undefined
    const answer: Answer = (request, env) => {
      if (isObserved && this.#observer === null) return this.#observed(() => answer(request, env))
      const addId = assignId(request, env)
      const observed = this.#observer?.(request, route)
      const finish = (response: Response) => {
        this.#cors?.apply(request, response)
        addId?.(response)
        return observed ? observed(response) : response
      }
      const refuse = (error: unknown) => finish(this.#refuse(error, request))
      try {
        const response =
          need === 'nothing' ? handler(request, EVERYTHING, env) : this.#admit(request, need, handler, env)
        return response instanceof Promise ? response.then(finish, refuse) : finish(response)
      } catch (error) {
        return refuse(error)
      }
    }
    return answer
  }

  async #observed(answer: () => Response | Promise<Response>): Promise<Response> {
    this.#observer = await this.#loadObserver()
    return answer()
  }

  #route(method: 'get' | 'all', path: string, answer: Answer): void {
    this.app[method](path, (c: Context) => answer(c.req.raw, c.env))
  }

  /** Answers if the host and the token allow it; a preflight carries no token. */
  #admit(
    request: Request,
    need: Scope | 'token',
    handler: Handler,
    env: unknown,
  ): Response | Promise<Response> {
    this.#checkHost?.(request.headers)
    const preflight = this.#cors?.preflight(request)
    if (preflight) return preflight
    const answer = (grant: Grant) => {
      setCaller(request, grant.name, env)
      if (grant.name !== null) this.#options.onAccess?.(request, grant.name)
      if (need !== 'token' && !grant.scopes.has(need)) throw outOfScope(need)
      if (grant.name === null) return handler(request, grant, env)
      const grantNow = async () => this.#access(request.headers, env)
      return this.#answerWhileGranted(handler(request, grant, env), grant, need, grantNow)
    }
    const grant = this.#access(request.headers, env)
    return grant instanceof Promise ? grant.then(answer) : answer(grant)
  }

  /** A token with a name can be revoked, or lose what it allows, while its answer is being sent. */
  async #answerWhileGranted(
    answer: Response | Promise<Response>,
    grant: Grant,
    need: Scope | 'token',
    grantNow: () => Promise<Grant>,
  ) {
    const response = await answer
    if (streamOf(response) === undefined) return response
    const { whileGranted } = await import('./access/revocation.ts')
    const { clock = systemClock } = this.#options
    return whileGranted(response, { need, grant, grantNow, clock })
  }

  #refuse(error: unknown, request: Request): Response {
    const problem = toProblem(error)
    const { onError = (error: unknown) => console.error(error) } = this.#options
    // A client disconnect is not a server error, and a LogError is for the client to fix.
    const isOurs = problem.status >= 500 && !request.signal.aborted && !(error instanceof LogError)
    // Anybody can send a coordinator's header: it is reported once.
    const isKnown = problem.code === 'loop' && this.#isLoopKnown
    this.#isLoopKnown ||= problem.code === 'loop'
    if (isOurs && !isKnown) onError(problem.cause ?? problem, request)
    return problemResponse(problem, request.headers.get('Accept'))
  }

  #addPage(page: NonNullable<Exclude<RoutingOptions['page'], false>>): void {
    const load = async () => (typeof page === 'function' ? page() : page)
    const pageRoutes = once(() => import('./routes/page.ts'))
    const show: Handler = async (request) => (await pageRoutes()).showPage(request, await load())
    this.add('/', 'nothing', show)
    this.add('/assets/:name', 'nothing', async (request) => {
      const name = new URL(request.url).pathname.split('/').at(-1)!
      return (await pageRoutes()).showAsset(request, name, await load())
    })
    // Under route(), `/` matches only without the trailing slash.
    const shown = this.guarded('/', 'nothing', show)
    this.app.get('*', (c, next) =>
      c.req.path === `${c.req.routePath.slice(0, -2)}/` ? shown(c.req.raw, c.env) : next(),
    )
  }
}

/** What registers on a Hono app. */
const REGISTERING = [
  'use',
  'all',
  'on',
  'get',
  'post',
  'put',
  'delete',
  'options',
  'patch',
  'route',
  'mount',
  'onError',
  'notFound',
  'basePath',
] as const

/**
 * The app as it is given away: a Hono app that can be asked and mounted. What is registered on it would come after its own
 * routes: a check of tokens would never run, so registering throws.
 */
export type Service = Hono & {
  /** Register on an app of your own: `outer.use(…); outer.route('/', app)`. */
  readonly [N in (typeof REGISTERING)[number]]: never
}

/** The app, to which nothing can be added from now on. */
export function sealed(app: Hono): Service {
  const refusals = REGISTERING.map((name) => [name, () => refuseToRegister(name)])
  return Object.assign(app, Object.fromEntries(refusals))
}

function refuseToRegister(name: string): never {
  throw new TypeError(
    `Cannot call ${name}() on an app of nodestate: what it adds would come after the routes and never run. ` +
      "Use an app of your own: const outer = new Hono(); outer.use(…); outer.route('/', app).",
  )
}

/** Hono with the smallest of its routers that tells `/list/` from `/list`. */
export function newHono(): Hono {
  const app = new Hono()
  app.router = new TrieRouter()
  return app
}

/** The path of an absolute URL. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf(':') + 3)
  const query = url.indexOf('?', start)
  return url.slice(start, query < 0 ? undefined : query)
}

/** For liveness probes: answers regardless of the state of the store. */
function healthy(): Response {
  return respond('ok\n', { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS })
}
