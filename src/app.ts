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
import { type ViewRoute, viewLog } from './routes/view.ts'
import type { Store } from './store/store.ts'
import { VERSION } from './version.ts'

/** What a node state service is made of. */
export interface AppOptions extends LogOptions {
  /** Where the log files lie. */
  logs: Store
  /** The node's configuration as TOML text; a function is asked at every request. */
  config: string | (() => string | Promise<string>)
  /** Who the node is. What is not set here is derived from `facts` and the configuration. @default {} */
  node?: Partial<NodeInfo> | (() => Partial<NodeInfo> | Promise<Partial<NodeInfo>>)
  /** What the system says of the node. @default version of this package, online since now */
  facts?: Partial<NodeFacts>
  /** Shell patterns; a file that none of them matches is neither listed nor read. @default every file */
  include?: readonly string[]
  /** When set, every request under `/api/` needs `Authorization: Bearer …`. @default none */
  token?: string
  /** Host names that are answered. @default any */
  allowHosts?: readonly string[]
  /** Origins whose pages may read the API. @default none */
  corsOrigins?: readonly string[]
  /** The web page at `/`: `import { page } from 'nodestate/page'`. @default none, and it is not bundled */
  page?: Page | (() => Page | Promise<Page>) | false
  /** Told of every failure that is the service's own (status 500 and above). @default console.error */
  onError?: (error: unknown, request: Request) => void
}

type Handler = (request: Request) => Response | Promise<Response>

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
  /** Throws when a request is not to be answered; gives the answer to a preflight. */
  const admit = (request: Request): Response | null => {
    checkHost(request.headers)
    const preflight = cors?.preflight(request)
    if (preflight) return preflight
    checkToken(request.headers)
    return null
  }
  const refuse = (error: unknown, request: Request): Response => {
    const problem = toProblem(error)
    // Who has left is no failure of ours, and what a log cannot give was told to who asked.
    if (problem.status >= 500 && !request.signal.aborted && !(error instanceof LogError))
      onError(problem.cause ?? problem, request)
    return problemResponse(problem, request.headers.get('Accept'))
  }

  const files = logFiles(options.logs, options.include)
  const context = viewContext(files, options)
  const { node = {}, limits: { maxSize } = {} } = options
  const facts = { version: VERSION, onlineTime: Date.now(), ...options.facts }
  // What a list and a tail do not need is loaded when it is first asked for: a worker starts with a third of the code.
  const config = once(async () => {
    const [{ createConfigReader }, { showConfig }] = await Promise.all([
      import('./node/config.ts'),
      import('./routes/config.ts'),
    ])
    const nodeNow = typeof node === 'function' ? node : () => node
    const route = { config: createConfigReader(options.config), node: nodeNow, facts }
    return (request: Request) => showConfig(request, route)
  })
  const beyond = once(async () => {
    const { openBeyond } = await import('./routes/query.ts')
    return openBeyond(context, maxSize, followLimits(options))
  })
  const viewRoute: ViewRoute = {
    files,
    maxSize,
    beyond: async (...asked) => (await beyond()).view(...asked),
  }
  const listRoute = { files, details: (async (...asked) => (await beyond()).details(...asked)) as Detailer }
  const resources: Record<string, Handler> = {
    '/api/v1/config': async (request) => (await config())(request),
    '/api/v1/log/list': (request) => listLogs(request, listRoute),
    '/api/v1/log/view': (request) => viewLog(request, viewRoute),
    '/api/v1/log/histogram': async (request) => (await beyond()).histogram(request),
    '/api/v1/log/download': async (request) =>
      (await import('./routes/download.ts')).downloadLog(request, { files }),
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
    const asset = guarded(async (request) => showAsset(request, await load()), { open: true })
    for (const [path, handler] of [
      ['/', show],
      ['/assets/:name', asset],
    ] as const) {
      app.get(path, handler)
      app.all(path, guarded(methodNotAllowed, { open: true }))
    }
    // Mounted with route(), `/` matches only without the slash at the end. No pattern can say the rest without making
    // every request take the slower of Hono's routers.
    app.get('*', (c, next) => (c.req.path === `${c.req.routePath.slice(0, -2)}/` ? show(c) : next()))
  }
  // A mounted app's notFound is ignored by Hono's route(): a catch-all makes 404 a problem under any path.
  app.all('/api/*', guarded(unknownPath))
  app.all('*', guarded(unknownPath, { open: true }))
  return app
}

/** Calls `make` when it is first needed; after a failure, again. */
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

/** For probes: alive, whatever the store does. */
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
    'There is nothing at this path; see /api/v1/config, /api/v1/log/list and /api/v1/log/view.',
  )
}
