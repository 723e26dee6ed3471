import { type Context, Hono } from 'hono'
import { hostGuard, tokenGuard } from './http/auth.ts'
import { COMMON_HEADERS } from './http/conditional.ts'
import { corsFor } from './http/cors.ts'
import { Problem, problemResponse, toProblem } from './http/problem.ts'
import { LogError } from './log/error.ts'
import { logFiles } from './log/files/files.ts'
import { followLimits, type LogOptions, viewContext } from './log/options.ts'
import type { Detailer } from './log/view/detail.ts'
import type { NodeFacts, NodeInfo } from './node/identity.ts'
import { listLogs } from './routes/logs.ts'
import { type Page, showAsset, showPage } from './routes/page.ts'
import { type Query, queryReader } from './routes/parameters/read.ts'
import type { Resource } from './routes/parameters/row.ts'
import { type ViewRoute, viewLog } from './routes/view.ts'
import type { Store } from './store/store.ts'
import { VERSION } from './version.ts'

/** What a node state service is made of. */
export interface AppOptions extends LogOptions {
  /** Where the log files are. */
  logs: Store
  /** The node's configuration as TOML text; a function is called for every request. */
  config: string | (() => string | Promise<string>)
  /** The node's own description. What is not set here is derived from `facts` and the configuration. @default {} */
  node?: Partial<NodeInfo> | (() => Partial<NodeInfo> | Promise<Partial<NodeInfo>>)
  /** What the system says about the node. @default the version of this package, online since now */
  facts?: Partial<NodeFacts>
  /** Shell patterns; a file that matches none of them is neither listed nor read. @default every file */
  include?: readonly string[]
  /** When set, every request under `/api/` needs `Authorization: Bearer …`. @default none */
  token?: string
  /** Host names to answer to. @default any */
  allowHosts?: readonly string[]
  /** Origins whose pages may read the API. @default none */
  corsOrigins?: readonly string[]
  /** The web page at `/`: `import { page } from 'nodestate/page'`. @default none, and it is not bundled */
  page?: Page | (() => Page | Promise<Page>) | false
  /** Called for every failure of the service itself (status 500 and above). @default console.error */
  onError?: (error: unknown, request: Request) => void
}

type Handler = (request: Request) => Response | Promise<Response>
type ResourceHandler = (request: Request, query: Query) => Response | Promise<Response>

/** Makes the app: Fetch API types only, so that it runs anywhere and can be mounted under any path. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono()
  const cors = corsFor(options.corsOrigins ?? [])
  const checkHost = hostGuard(options.allowHosts ?? [])
  const checkToken = tokenGuard(options.token)
  const onError = options.onError ?? ((error) => console.error(error))

  // One wrapper instead of middlewares: three async middlewares that do nothing cost 15 % of a small answer.
  const guarded = (handler: Handler, { open = false } = {}) => {
    return async (c: Context): Promise<Response> => {
      const request = c.req.raw
      let response: Response
      try {
        response = (open ? null : admit(request)) ?? (await handler(request))
      } catch (error) {
        response = refuse(error, request)
      }
      cors?.apply(request, response)
      return response
    }
  }
  /** Throws when a request must not be answered; returns the answer to a preflight. */
  const admit = (request: Request): Response | null => {
    checkHost(request.headers)
    const preflight = cors?.preflight(request)
    if (preflight) return preflight
    checkToken(request.headers)
    return null
  }
  const refuse = (error: unknown, request: Request): Response => {
    const problem = toProblem(error)
    // A client disconnect is not a server error, and what a log cannot answer is the client's to fix.
    if (problem.status >= 500 && !request.signal.aborted && !(error instanceof LogError))
      onError(problem.cause ?? problem, request)
    return problemResponse(problem, request.headers.get('Accept'))
  }
  /** Reads the parameters of a resource, and says on the answer that some were unknown. */
  const withQuery = (resource: Resource, handler: ResourceHandler): Handler => {
    const read = queryReader(resource, maxSize === undefined ? {} : { size: maxSize })
    return async (request) => {
      const query = await read(request.url)
      if (!query.unknown) return handler(request, query)
      let response: Response
      try {
        response = await handler(request, query)
      } catch (error) {
        response = refuse(error, request)
      }
      response.headers.append('X-Nodestate-Note', 'unknown-parameter')
      return response
    }
  }

  const { node = {}, limits: { maxSize } = {} } = options
  const files = logFiles(options.logs, options.include)
  const context = viewContext(files, options)
  const facts = { version: VERSION, onlineTime: Date.now(), ...options.facts }
  // What a list and a plain tail do not need is loaded when it is first asked for: a worker starts with a third of
  // the code.
  const config = once(async () => {
    const [{ createConfigReader }, { showConfig }] = await Promise.all([
      import('./node/config.ts'),
      import('./routes/config.ts'),
    ])
    const nodeNow = typeof node === 'function' ? node : () => node
    const route = { config: createConfigReader(options.config), node: nodeNow, facts }
    return (request: Request, query: Query) => showConfig(request, query, route)
  })
  const queryRoutes = once(async () => {
    const { loadQueryRoutes } = await import('./routes/query.ts')
    return loadQueryRoutes(context, maxSize, followLimits(options))
  })
  const viewRoute: ViewRoute = {
    files,
    maxSize,
    queryView: async (...args) => (await queryRoutes()).view(...args),
  }
  const details: Detailer = async (...args) => (await queryRoutes()).details(...args)
  const resources: Record<string, Handler> = {
    '/api/v1/config': withQuery('config', async (request, query) => (await config())(request, query)),
    '/api/v1/log/list': withQuery('list', (request, query) => listLogs(request, query, { files, details })),
    '/api/v1/log/view': withQuery('view', (request, query) => viewLog(request, query, viewRoute)),
    '/api/v1/log/histogram': withQuery('histogram', async (...args) =>
      (await queryRoutes()).histogram(...args),
    ),
    '/api/v1/log/download': withQuery('download', async (request, query) =>
      (await import('./routes/download.ts')).downloadLog(request, query, { files }),
    ),
  }
  for (const [path, handler] of Object.entries(resources)) {
    app.get(path, guarded(handler))
    app.all(path, guarded(methodNotAllowed))
  }
  app.get('/healthz', guarded(healthy, { open: true }))
  app.all('/healthz', guarded(methodNotAllowed, { open: true }))
  const { page } = options
  if (page) {
    const load = () => (typeof page === 'function' ? page() : page)
    const show = guarded(async (request) => showPage(request, await load()), { open: true })
    const asset = guarded(
      async (request) => showAsset(request, new URL(request.url).pathname.split('/').at(-1)!, await load()),
      { open: true },
    )
    for (const [path, handler] of [
      ['/', show],
      ['/assets/:name', asset],
    ] as const) {
      app.get(path, handler)
      app.all(path, guarded(methodNotAllowed, { open: true }))
    }
    // Under route(), `/` matches only without the trailing slash. A pattern for both would move every request to the
    // slower of Hono's routers.
    app.get('*', (c, next) => (c.req.path === `${c.req.routePath.slice(0, -2)}/` ? show(c) : next()))
  }
  // A mounted app's notFound is ignored by Hono's route(): a catch-all makes 404 a problem under any path.
  app.all('/api/*', guarded(unknownPath))
  app.all('*', guarded(unknownPath, { open: true }))
  return app
}

/** Calls `make` when it is first needed, and again after a failure. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error) => {
      made = null
      throw error
    })
    return made
  }
}

/** For liveness probes: answers whatever the state of the store. */
function healthy(): Response {
  return new Response('ok\n', { headers: { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS } })
}

function methodNotAllowed(): never {
  throw new Problem('method-not-allowed', 'This service is read-only; use GET or HEAD.', {
    headers: { Allow: 'GET, HEAD' },
  })
}

function unknownPath(): never {
  throw new Problem(
    'unknown-path',
    'There is nothing at this path; try /api/v1/config, /api/v1/log/list or /api/v1/log/view.',
  )
}
