import type { Context } from 'hono'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { Hono } from 'hono/tiny'
import { type Clock, systemClock } from '../kit/limits/clock.ts'
import { once } from '../kit/limits/once.ts'
import type { Metrics } from '../kit/observe/metrics.ts'
import type { Observer } from '../kit/observe/observer.ts'
import { assignId } from '../kit/observe/request-id.ts'
import type { Tracer } from '../kit/observe/tracer.ts'
import { LogError } from '../log/error.ts'
import type { Store } from '../store/store.ts'
import { EVERYTHING, type Grant, type Scope } from './access/grant.ts'
import { hostGuard, outOfScope } from './http/auth.ts'
import { isPeerRequest, setCaller, unknownToPeer } from './http/caller.ts'
import { COMMON_HEADERS } from './http/conditional.ts'
import { corsFor } from './http/cors.ts'
import { methodNotAllowed, Problem, problemResponse, toProblem } from './http/problem.ts'
import { respond, streamOf } from './http/sliced.ts'
import { notIncluded, PATHS } from './not-included.ts'
import type { Parameter, Resource } from './parameter.ts'
import { type Query, queryReader } from './query.ts'

/** What is known here of a capability. */
interface Added {
  readonly name: string
  parameters?: (() => Promise<readonly Parameter[]>) | undefined
}

/** The options that admit, answer and observe. */
interface RoutingOptions {
  onAccess?: ((request: Request, name: string) => void) | undefined
  allowHosts?: readonly string[] | undefined
  corsOrigins?: readonly string[] | undefined
  metrics?: Metrics | undefined
  observe?: Tracer | undefined
  onError?: ((error: unknown, request: Request) => void) | undefined
  unknown?: 'problem' | 'next' | undefined
  clock?: Clock | undefined
  with?: readonly Added[] | undefined
}

interface QueryOptions {
  max?: Parameters<typeof queryReader>[1]
  /** Rows of parameters that it takes besides those of the capabilities. @default none */
  rows?: () => Promise<readonly Parameter[]>
  /** Whose parameters it takes. @default the last word of the path */
  resource?: Resource
}

/** Decides what a request may see; throws a problem if that is nothing. */
export type Access = (request: Request, around: Around) => Grant | Promise<Grant>

/** What comes with a request: what the runtime passes beside it, and the variables of the apps around this one. */
export interface Around {
  env: unknown
  // biome-ignore lint/suspicious/noExplicitAny: only the middleware that set one knows its type
  var: Readonly<Record<string, any>>
}

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
export type ForwardToPeer = (
  name: string,
  request: Request,
  query: Query,
  grant: Grant,
) => Promise<Response | null>

/** Answers a request; `env` is what the runtime passes beside it. */
type Answer = (
  request: Request,
  env: unknown,
  variables?: Readonly<Record<string, unknown>>,
) => Promise<Response>

/** The routes of an app, each of which is guarded. */
export class Routing {
  readonly app = newHono()
  readonly #options: RoutingOptions
  readonly #access: Access
  readonly #cors: ReturnType<typeof corsFor>
  readonly #checkHost: ReturnType<typeof hostGuard>
  readonly #loadObserver: () => Promise<Observer>
  readonly #capabilities: readonly Added[]
  #isLoopKnown = false

  constructor(options: RoutingOptions, access: Access) {
    this.#options = options
    this.#access = access
    this.#capabilities = options.with ?? []
    this.#cors = corsFor(options.corsOrigins ?? [])
    this.#checkHost = hostGuard(options.allowHosts ?? [])
    this.#loadObserver = once(async () =>
      (await import('../kit/observe/observer.ts')).observerOf(options.metrics, options.observe),
    )
  }

  /** Origins whose pages may read the API. */
  get corsOrigins(): readonly string[] {
    return this.#options.corsOrigins ?? []
  }

  /** Adds a resource. Other methods than GET and HEAD are refused. */
  add(path: string, need: Need, handler: Handler): void {
    const answer = this.guarded(path, need, handler)
    const refuse = this.guarded(path, need === 'nothing' ? need : 'token', methodNotAllowed)
    this.#route(path, (request, ...around) =>
      (request.method === 'GET' || request.method === 'HEAD' ? answer : refuse)(request, ...around),
    )
  }

  /** Adds the health of the service. */
  addHealth(store: Store): void {
    const { clock = systemClock } = this.#options
    this.add('/healthz', 'nothing', healthy)
    const ready = once(async () => (await import('../kit/observe/ready.ts')).readiness(store, clock))
    this.add('/readyz', 'nothing', async () => (await ready())())
  }

  /** Names the capability that a path belongs to and that the app was made without. */
  addNotIncluded(): void {
    const { unknown } = this.#options
    for (const [path, name] of Object.entries(PATHS)) {
      const isApi = path.startsWith('/api/')
      if (this.#capabilities.some((one) => one.name === name) || (unknown === 'next' && !isApi)) continue
      const answer = this.guarded('other', isApi ? 'token' : 'nothing', () => {
        throw notIncluded(path.replace('/*', '/'), name)
      })
      this.#route(path, answer)
    }
  }

  /** Answers what no route before it does. Add it last. */
  addUnknown(detail: string): void {
    if (this.#options.unknown === 'next') return
    const unknown = () => {
      throw new Problem('unknown-path', detail)
    }
    // A mounted app's notFound is ignored by Hono's route(): a catch-all makes 404 a problem under any path.
    this.#route('/api/*', this.guarded('other', 'token', unknown))
    this.#route('*', this.guarded('other', 'nothing', unknown))
  }

  /** Adds a resource with parameters, by the last word of its path; unknown ones are noted on the response. */
  addQuery(
    path: `/api/v1/${'' | 'config/' | 'log/'}${string}`,
    need: Need,
    handler: QueryHandler,
    {
      max = {},
      rows = async () => [],
      resource = path.slice(path.lastIndexOf('/') + 1) as Resource,
    }: QueryOptions = {},
  ): void {
    const more = async () => {
      const ours = this.#capabilities.map((one) => one.parameters?.() ?? [])
      return (await Promise.all([...ours, rows()])).flat()
    }
    const read = queryReader(resource, max, more)
    this.add(path, need, async (request, grant, bindings) => {
      const query = await read(request.url)
      const answer = async () => handler(request, query, grant, bindings)
      if (!query.unknown) return answer()
      if (isPeerRequest(request)) throw unknownToPeer()
      const response = await answer().catch((error) => this.refused(error, request))
      response.headers.append('X-Nodestate-Note', 'unknown-parameter')
      return response
    })
  }

  /** A route that checks the host, the token and its scope, turns errors into problems and is observed. */
  guarded(route: string, need: Need, handler: Handler): Answer {
    const isObserved = this.#options.metrics !== undefined || this.#options.observe !== undefined
    return async (request, env, variables) => {
      const observer = isObserved ? await this.#loadObserver() : null
      const addId = assignId(request, env)
      const observed = observer?.(request, route)
      let response: Response
      try {
        response =
          need === 'nothing'
            ? await handler(request, EVERYTHING, env)
            : await this.#admit(request, need, handler, { env, var: variables ?? {} })
      } catch (error) {
        response = this.refused(error, request)
      }
      this.#cors?.apply(request, response)
      addId?.(response)
      return observed ? observed(response) : response
    }
  }

  #route(path: string, answer: Answer): void {
    this.app.all(path, (c: Context) => answer(c.req.raw, c.env, c.var))
  }

  /** Answers if the host and the token allow it; a preflight carries no token. */
  async #admit(request: Request, need: Scope | 'token', handler: Handler, around: Around): Promise<Response> {
    this.#checkHost?.(request.headers)
    const preflight = this.#cors?.preflight(request)
    if (preflight) return preflight
    const grantNow = () => this.#access(request, around)
    const grant = await grantNow()
    setCaller(request, grant.name, around.env)
    if (grant.name !== null) this.#options.onAccess?.(request, grant.name)
    if (need !== 'token' && !grant.scopes.has(need)) throw outOfScope(need)
    const response = await handler(request, grant, around.env)
    // A token with a name can be revoked, or lose what it allows, while its answer is being sent.
    if (grant.name === null || streamOf(response) === undefined) return response
    const { whileGranted } = await import('./access/revocation.ts')
    const { clock = systemClock } = this.#options
    return whileGranted(response, { need, grant, grantNow, clock })
  }

  /** What is answered to a request that failed. */
  refused(error: unknown, request: Request): Response {
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
  app.router = new RegExpRouter()
  return app
}

/** For liveness probes: answers regardless of the state of the store. */
function healthy(): Response {
  return respond('ok\n', { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS })
}
